import { expect, test } from 'vitest';
import { countReasons } from './reasons.ts';

// Bug: one bar per prompt, because each message names another file at its end.
test('reasons that differ only in their end count as one, most frequent first', () => {
  const long = 'The provider refused the request because the context is longer than ';
  const reasons = countReasons([
    { reason: 'max_turns', state: 'partial' },
    { reason: `${long}8,192 tokens`, state: 'failed' },
    { reason: `${long}16,384 tokens`, state: 'failed' },
    { reason: null, state: 'failed' },
  ]);
  expect(reasons.map((r) => [r.count, r.state])).toEqual([
    [2, 'failed'],
    [1, 'partial'],
  ]);
});
