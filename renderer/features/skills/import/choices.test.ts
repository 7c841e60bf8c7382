import { expect, test } from 'vitest';
import type { FoundSkill } from '#shared/contract/skill-imports.ts';
import { actionsFor, chosen, problemOf, suggestedChoice } from './choices.ts';

const found = (more: Partial<FoundSkill>): FoundSkill => ({
  key: 'a', name: 'a', category: null, description: '', version: null, files: 1, bytes: 1, verdict: 'safe', findings: [], lint: [], state: 'new', existing: null, refused: null, suggested: 'add', freeName: 'a-2', ...more,
});
const existing = { id: 'own/a', author: 'person' as const, edited: true };

// Bug: a dangerous skill can be chosen; one that is here already can be added over.
test('only what the engine would take can be chosen', () => {
  expect(actionsFor(found({ refused: 'No.', suggested: 'skip' }))).toEqual(['skip']);
  expect(actionsFor(found({}))).toEqual(['add', 'skip']);
  expect(actionsFor(found({ state: 'differs', existing }))).toEqual(['replace', 'keep_both', 'skip']);
  expect(actionsFor(found({ state: 'same', existing }))).toEqual(['skip', 'keep_both']);
});

// Bug: a caution is imported by pressing on; a second name that no skill can have is sent.
test('a caution and a new name need the person', () => {
  const caution = found({ verdict: 'caution', suggested: 'skip' });
  const choice = suggestedChoice(caution);
  expect(choice.action).toBe('skip');
  expect(problemOf(caution, { ...choice, action: 'add' })).toBe('caution');
  expect(problemOf(caution, { ...choice, action: 'add', acceptCaution: true })).toBeNull();
  expect(problemOf(found({ existing, state: 'differs' }), { action: 'keep_both', name: 'Not A Name', acceptCaution: false })).toBe('name');
});

// Bug: what was skipped is sent, or a name goes with an action that has none.
test('what is sent is what was chosen', () => {
  const items = [found({}), found({ key: 'b', suggested: 'skip' }), found({ key: 'c', existing, state: 'differs', suggested: 'replace' })];
  expect(chosen(items, new Map([['c', { action: 'keep_both', name: 'c-2', acceptCaution: false }]]))).toEqual([
    { key: 'a', action: 'add', acceptCaution: false },
    { key: 'c', action: 'keep_both', acceptCaution: false, name: 'c-2' },
  ]);
});
