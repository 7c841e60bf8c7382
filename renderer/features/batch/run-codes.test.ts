import { expect, test } from 'vitest';
import type { RunEvent, RunSummary } from '#shared/contract/runs.ts';
import { actionsOf, applyRunEvent, decodeStates, fileName, indexesIn, lacksReasoning, perMinute, resumable, rolloutName } from './run-codes.ts';

const states = (some: Partial<RunSummary['states']>): RunSummary['states'] => ({
  pending: 0,
  running: 0,
  completed: 0,
  partial: 0,
  failed: 0,
  discarded: 0,
  cancelled: 0,
  ...some,
});
const run = (state: RunSummary['state'], some: Partial<RunSummary['states']> = {}): RunSummary =>
  ({ state, states: states(some) }) as RunSummary;

// Bug: a run that discards nearly everything looks like one that goes well; or two discarded of many cause alarm.
test('many prompts without reasoning are worth a word', () => {
  const lacks = (some: Partial<RunSummary['states']>, no_reasoning = some.discarded ?? 0): boolean =>
    lacksReasoning({ ...run('running', some), causes: { no_reasoning } });
  expect(lacks({ discarded: 3, completed: 3 })).toBe(true);
  expect(lacks({ discarded: 3, completed: 2, failed: 2 })).toBe(false);
  expect(lacks({ discarded: 2 })).toBe(false);
  expect(lacks({ discarded: 6 }, 1)).toBe(false);
});

// Bug: the unit of the rate jumps while one reads it, or a slow run shows 0.
test('a rate is always per minute', () => {
  expect([20, 1.5, 1, 0.01, 0.0005].map(perMinute)).toEqual([1200, 90, 60, 0.6, 0.03]);
});

test('a snapshot is one letter per prompt', () => {
  expect(decodeStates('.rcpfdx')).toEqual(['pending', 'running', 'completed', 'partial', 'failed', 'discarded', 'cancelled']);
});

// Bug: progress that arrives before the snapshot paints a run of one prompt.
test('progress changes a snapshot and is ignored without one', () => {
  const progress: RunEvent = { type: 'progress', run: run('running'), changed: [{ index: 1, state: 'failed' }], active: [] };
  expect(applyRunEvent(null, progress)).toBeNull();
  const first = applyRunEvent(null, { type: 'snapshot', run: run('running'), codes: 'r.', active: [] });
  const next = applyRunEvent(first, progress);
  expect(next?.codes).toEqual(['running', 'failed']);
  expect(next?.version).toBeGreaterThan(first?.version ?? 0);
});

// Bug: a reconnect shows the states from before the crash.
test('a second snapshot replaces everything', () => {
  const first = applyRunEvent(null, { type: 'snapshot', run: run('running'), codes: 'rrr', active: [] });
  expect(applyRunEvent(first, { type: 'snapshot', run: run('running'), codes: 'cc', active: [] })?.codes).toEqual([
    'completed',
    'completed',
  ]);
});

test('indexes are filtered by state, in order', () => {
  const codes = decodeStates('c.f.c');
  expect(indexesIn(codes, [])).toEqual([0, 1, 2, 3, 4]);
  expect(indexesIn(codes, ['pending', 'failed'])).toEqual([1, 2, 3]);
});

// Bug: a Resume button on a finished run, or none on an interrupted one.
test('each state of a run offers what it can do', () => {
  expect(actionsOf(run('running', { pending: 3 }))).toEqual({ pause: true, cancel: true, resume: false, retry: false, remove: false });
  expect(actionsOf(run('pausing', { pending: 3 }))).toMatchObject({ pause: false, cancel: true, resume: false });
  expect(actionsOf(run('interrupted', { pending: 3 }))).toMatchObject({ pause: false, cancel: false, resume: true, remove: true });
  expect(actionsOf(run('completed', { completed: 3, partial: 1 }))).toMatchObject({ resume: false, remove: true });
  expect(actionsOf(run('completed', { failed: 1, discarded: 2 }))).toMatchObject({ resume: false, retry: true });
  expect(actionsOf(run('failed', { failed: 1 }))).toMatchObject({ resume: true, retry: true });
  expect(actionsOf(run('running', { failed: 1 }))).toMatchObject({ retry: false });
  expect(resumable(run('failed', { pending: 2, failed: 1, cancelled: 4, partial: 9 }))).toBe(7);
});

// Bug: the second attempt at the third prompt is shown as the seventh prompt.
test('a rollout is named by its prompt, with its number where there are several', () => {
  expect(rolloutName(7, 1)).toBe('#7');
  expect(rolloutName(7, 3)).toBe('#2.1');
});

test('file names come from paths of either system', () => {
  expect(fileName('/home/ada/prompts.jsonl')).toBe('prompts.jsonl');
  expect(fileName('C:\\data\\prompts.jsonl')).toBe('prompts.jsonl');
});
