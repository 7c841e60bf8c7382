import { expect, test } from 'vitest';
import type { RunSummary } from '#shared/contract/runs.ts';
import { byLikeness, parseThreshold } from './choice.ts';

const run = (id: string, datasetFile: string): RunSummary => ({ id, spec: { datasetFile } }) as RunSummary;

// Bug: the run one wants to compare with is at the end of a long list, or a run is offered to be compared with itself.
test('runs over the same dataset come first', () => {
  const mine = run('mine', '/data/gsm8k.jsonl');
  const others = [run('x', '/data/other.jsonl'), run('copy', '/home/ada/gsm8k.jsonl'), mine, run('same', '/data/gsm8k.jsonl')];
  expect(byLikeness(mine, others).map((r) => r.id)).toEqual(['same', 'copy', 'x']);
});

// Bug: a half-typed number compares by NaN, or "0" is taken for nothing.
test('a threshold is a number or none', () => {
  expect(['', ' ', '-', '0', '0.5', '0,5', '1e3', 'abc', 'Infinity'].map(parseThreshold)).toEqual([null, null, null, 0, 0.5, 0.5, 1000, null, null]);
});
