import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureHome } from '../../store/home.ts';
import { openStore, type Store } from '../../store/store.ts';
import { seedRun } from '../../../../e2e/fixtures/seed-runs.ts';
import { testPaths } from '../../../../e2e/fixtures/batch-ground.ts';
import { compareRuns } from './compare.ts';
import { runDashboard } from './dashboard.ts';

let dir: string;
let store: Store;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dashboard-test-'));
  store = openStore(ensureHome(join(dir, 'home')).root, testPaths);
});

afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const count = (sql: string, ...values: unknown[]): number => store.db.connection.prepare(sql).pluck().get(...values) as number;

// Bug: numbers of the dashboard that are not those of the table of prompts; an example of another cause.
test('causes add up to the states, each with an example of its own', async () => {
  const runId = await seedRun(store, { name: 'r', rows: 300, rollouts: 2 });
  const { causes, exitReasons } = runDashboard(store.db, { runId })!;
  for (const state of ['failed', 'discarded', 'partial']) {
    const stored = count('SELECT count(*) FROM prompts WHERE run_id = ? AND state = ?', runId, state);
    expect(stored).toBeGreaterThan(0);
    expect(causes.filter((c) => c.state === state).reduce((sum, c) => sum + c.count, 0)).toBe(stored);
  }
  expect(exitReasons.reduce((sum, r) => sum + r.count, 0)).toBe(600);
  const limited = causes.find((c) => c.cause === 'rate_limit')!;
  expect(limited.retryable).toBe(limited.count);
  expect(causes.find((c) => c.cause === 'bad_request')?.retryable).toBe(0);
  expect(causes.find((c) => c.cause === 'max_turns')?.state).toBe('partial');
  for (const { example, state } of causes) {
    expect(example.index).toBe(example.promptIndex * 2 + example.rollout);
    expect(count('SELECT state = ? AND trajectory_id = ? FROM prompts WHERE run_id = ? AND idx = ?', state, example.trajectoryId, runId, example.index)).toBe(1);
  }
});

// Bug: a run of an earlier version, whose causes have no codes, shows no failures at all.
test('causes without a code are grouped by how their sentence begins', async () => {
  const runId = await seedRun(store, { name: 'r', rows: 200 });
  store.db.connection.prepare(`UPDATE prompts SET cause = NULL`).run();
  const { causes } = runDashboard(store.db, { runId })!;
  const failed = causes.filter((c) => c.state === 'failed');
  expect(failed.map((c) => c.cause)).toEqual([null, null]);
  expect(failed.reduce((sum, c) => sum + c.count, 0)).toBe(count(`SELECT count(*) FROM prompts WHERE state = 'failed'`));
});

// Bug: a group counts as right because one of its rollouts is, or unscored rollouts count as wrong answers.
test('groups, rewards and rules', async () => {
  const runId = await seedRun(store, { name: 'r', rows: 90, rollouts: 4, skill: (row) => (row % 3) / 2 });
  const { groups, rewards, latency, reasoning } = runDashboard(store.db, { runId })!;
  expect(groups!.allRight).toBeGreaterThanOrEqual(30);
  expect(groups!.allWrong).toBeGreaterThanOrEqual(30);
  expect(groups!.allRight + groups!.mixed + groups!.allWrong).toBe(90);
  expect(groups!.zeroSpread).toBe(groups!.allRight + groups!.allWrong);
  expect(groups!.meanSpread).toBeCloseTo(groups!.mixed / 90);
  const failed = count(`SELECT count(*) FROM prompts WHERE state = 'failed'`);
  expect(rewards!.count).toBe(360 - failed);
  expect(rewards!.histogram.reduce((sum, n) => sum + n, 0)).toBe(rewards!.count);
  const [exact, turns] = rewards!.rules;
  expect(exact!.mean).toBeCloseTo(rewards!.mean);
  expect(exact!.unknown).toBe(0);
  expect(turns!.unknown).toBeGreaterThan(0);
  expect(turns!.mean).toBe(4);
  expect(latency.calls!.count).toBe(360 * 4);
  expect(latency.rollouts!.count).toBe(360);
  expect(reasoning.withReasoning).toBe(360 - count(`SELECT count(*) FROM prompts WHERE cause = 'no_reasoning'`));
  expect(runDashboard(store.db, { runId: 'nobody' })).toBeNull();
});

// Bug: rows are matched by their number, so two runs over shifted or edited files are compared row for wrong row.
test('two runs are compared over the rows they share by content', async () => {
  const a = await seedRun(store, { name: 'a', rows: 60, rollouts: 2, skill: (row) => (row < 30 ? 1 : 0) });
  const b = await seedRun(store, { name: 'bb', rows: 60, firstRow: 20, skill: (row) => (row % 2 === 0 ? 1 : 0) });
  const c = compareRuns(store.db, { a, b, after: -1, limit: 200 })!;
  expect(c.solvedBy).toBe('reward');
  expect([c.a.rows, c.a.alone, c.b.rows, c.b.alone]).toEqual([60, 20, 60, 20]);
  const { both, onlyA, onlyB, neither } = c.quadrants;
  expect(both + onlyA + onlyB + neither).toBe(40);
  expect(both + onlyA).toBe(c.a.solved);
  expect(c.a.solvedOfAll).toBe(count('SELECT count(DISTINCT prompt_index) FROM trajectories WHERE run_id = ? AND reward > 0', a));
  expect(c.a.solvedOfAll).toBeGreaterThan(c.a.solved);
  expect(both + onlyB).toBe(c.b.solved);
  for (const row of c.items) {
    expect(row.a.promptIndex).toBe(row.b.promptIndex + 20);
    expect([row.a.solved > 0, row.b.solved > 0]).toEqual({ both: [true, true], onlyA: [true, false], onlyB: [false, true], neither: [false, false] }[row.quadrant]);
    expect(row.a.trajectoryId).toBe(count('SELECT id FROM trajectories WHERE run_id = ? AND prompt_index = ? ORDER BY coalesce(reward, -1) DESC, outcome <> ?, rollout', a, row.a.promptIndex, 'completed'));
  }
  const paged = [];
  for (let after = -1, more = true; more; ) {
    const page = compareRuns(store.db, { a, b, quadrant: 'neither', after, limit: 3 })!;
    paged.push(...page.items);
    after = page.items.at(-1)?.place ?? after;
    more = page.more;
  }
  expect(paged.map((r) => r.place)).toEqual(c.items.filter((r) => r.quadrant === 'neither').map((r) => r.place));
});

// Bug: a threshold above every reward still counts some as solved; a run without rewards makes every row of the other unsolved.
test('what counts as solved', async () => {
  const a = await seedRun(store, { name: 'a', rows: 40 });
  const b = await seedRun(store, { name: 'bb', rows: 40, rewards: false });
  const byState = compareRuns(store.db, { a, b, after: -1, limit: 1 })!;
  expect(byState.solvedBy).toBe('completed');
  expect(byState.a.solved).toBe(count(`SELECT count(*) FROM prompts WHERE run_id = ? AND state = 'completed'`, a));
  const high = compareRuns(store.db, { a, b: a, threshold: 2, after: -1, limit: 1 })!;
  expect(high.quadrants).toEqual({ both: 0, onlyA: 0, onlyB: 0, neither: 40 });
});

// Bug: rows that were not run yet count as not solved; removed ones as rows of the dataset; a kept answer outlives a change of the store.
test('open and removed rows are in no quadrant', async () => {
  const a = await seedRun(store, { name: 'a', rows: 40 });
  const b = await seedRun(store, { name: 'bb', rows: 40, pending: 0.25, state: 'paused' });
  const before = await store.readers.run('compare', { a, b, after: -1, limit: 1 });
  expect(before!.open).toBe(10);
  store.db.connection.prepare('UPDATE prompts SET removed = 1 WHERE run_id = ? AND idx < 5').run(a);
  const c = await store.readers.run('compare', { a, b, after: -1, limit: 1 });
  expect([c!.a.rows, c!.a.alone, c!.b.alone]).toEqual([35, 0, 5]);
  expect(Object.values(c!.quadrants).reduce((sum, n) => sum + n, 0)).toBe(25);
});
