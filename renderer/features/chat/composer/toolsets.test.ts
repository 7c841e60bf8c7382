import { expect, test } from 'vitest';
import { switched } from './toolsets.ts';

const ALL = [{ name: 'file', parts: [] }, { name: 'terminal', parts: [] }, { name: 'dev', parts: ['file', 'terminal'] }, { name: 'web', parts: [] }];

// Bug: switching one tool off in a chat that has a composite changes nothing, because the composite still brings it.
test('a composite is taken apart when one of its parts is switched off', () => {
  expect(switched(['dev', 'web'], 'terminal', false, ALL)).toEqual(['file', 'web']);
});

// Bug: a toolset of another version disappears from a chat by a click on something else.
test('names that are not known stay', () => {
  expect(switched(['kanban'], 'web', true, ALL)).toEqual(['kanban', 'web']);
});
