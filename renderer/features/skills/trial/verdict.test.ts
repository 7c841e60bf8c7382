import { expect, test } from 'vitest';
import type { Trial, TrialTotals } from '#shared/contract/trials.ts';
import { linesOf, verdictOf } from './verdict.ts';

const sums: TrialTotals = { completed: 1, usedSkill: 1, turns: 2, toolCalls: 3, toolErrors: 0, tokens: 10, costUsd: null, durationMs: 5, score: null };
const totals = (more: Partial<Trial['totals']>): Trial['totals'] => ({ pairs: 8, with: sums, without: sums, better: 0, worse: 0, equal: 8, chance: null, ...more });

// Bug: three prompts that went well are called proof; a difference that chance explains is called one.
test('few pairs are a hint, and only an unlikely split says something', () => {
  expect(verdictOf(totals({ pairs: 0 }))).toBe('none');
  expect(verdictOf(totals({ pairs: 5, better: 5, chance: 0.0625 }))).toBe('hint');
  expect(verdictOf(totals({}))).toBe('equal');
  expect(verdictOf(totals({ better: 5, worse: 2, chance: 0.45 }))).toBe('unclear');
  expect(verdictOf(totals({ better: 8, chance: 0.0078 }))).toBe('better');
  expect(verdictOf(totals({ worse: 8, chance: 0.0078 }))).toBe('worse');
});

// Bug: the difference has the wrong sign; a cost that nobody knows is shown as nothing.
test('differences are with less without; the unknown is left out', () => {
  const lines = linesOf(totals({ with: { ...sums, turns: 6, score: 0.5 }, without: { ...sums, turns: 9, score: 0.25 } }));
  expect(lines.find(({ key }) => key === 'turns')).toEqual({ key: 'turns', with: 6, without: 9, difference: -3, more: false });
  expect(lines.find(({ key }) => key === 'score')?.difference).toBe(0.25);
  expect(lines.map(({ key }) => key)).not.toContain('costUsd');
});
