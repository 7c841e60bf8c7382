import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runSpecSchema, type RunSpecInput } from '#shared/contract/runs.ts';
import type { RescoreRequest, RescoreSummary } from '#shared/contract/scores.ts';
import { parseScoreRules } from '#shared/scoring.ts';
import { type RunRecord, RunStore } from '../batch/run-store.ts';
import { sqlFor } from '../store/database.ts';
import { countTrajectories, listTrajectories } from '../trajectories/query.ts';
import { assistant, record, testStore, toolResult, user } from '../trajectories/testing.ts';
import { scoreRollout } from './score.ts';
import { ScoresService } from './service.ts';
import { addScores } from './store.ts';

let t: ReturnType<typeof testStore>;
let scores: ScoresService;
let runs: RunStore;
let changes = 0;
beforeEach(() => {
  t = testStore();
  changes = 0;
  const busy = new Set<string>();
  const atRest = async <T>(id: string, work: (run: RunRecord) => Promise<T>): Promise<T> => {
    if (busy.has(id)) throw Object.assign(new Error('It is being worked on.'), { code: 'conflict' });
    busy.add(id);
    return work(runs.get(id)!).finally(() => busy.delete(id));
  };
  scores = new ScoresService({ db: t.store.db, home: t.home, now: Date.now, atRest, changed: () => void (changes += 1) });
  runs = new RunStore(t.store.db, Date.now);
});
afterEach(() => t.close());

interface Attempt {
  answer: string;
  row?: Record<string, unknown>;
  exitReason?: 'completed' | 'provider_error';
}

/** A finished run with one rollout per row. */
function run(attempts: readonly Attempt[], spec: Partial<RunSpecInput> = {}, name = 'r'): { id: string; trajectories: string[] } {
  const { db } = t.store;
  const { id } = runs.create({ spec: runSpecSchema.parse({ datasetFile: '/x', runName: name, ...spec }), scripted: false, outputDir: join(t.home, 'out', name), datasetSha256: '', total: attempts.length });
  const trajectories = attempts.map(({ answer, row = {}, exitReason = 'completed' }, index) => {
    const recorder = record(t, [user(`question ${index}`), assistant('', { toolCalls: [{ id: 'c', name: 'terminal', arguments: '{}' }] }), toolResult('c', 'terminal', 'no', { isError: true }), assistant(answer)], { kind: 'batch', runId: id, promptIndex: index }, false);
    recorder.end({ exitReason, error: null });
    db.run(sqlFor.insertInto('prompts').values({ run_id: id, idx: index, prompt: `question ${index}`, row: JSON.stringify(row), row_key: String(index), state: exitReason === 'completed' ? 'completed' : 'failed', trajectory_id: recorder.id, updated_at: 1 }));
    return recorder.id;
  });
  runs.recount(id);
  runs.setState(id, 'completed', null);
  return { id, trajectories };
}

async function rescored(request: RescoreRequest): Promise<RescoreSummary> {
  for await (const event of scores.rescore(request)) if (event.type === 'done') return event.summary;
  throw new Error('It had no end');
}
const rewards = (runId: string): (number | null)[] => listTrajectories(t.store.db, { runId }, { limit: 500 }).items.map((i) => i.reward).reverse();

describe('rescoring', () => {
  // Bug: new rules are not kept with the run, its sums still are those of the old ones, or a row's own rules are passed over.
  it('gives a run new rules, from what is stored', async () => {
    const { id, trajectories } = run([
      { answer: '42', row: { answer: '42' } },
      { answer: '41', row: { answer: '42' } },
      { answer: 'blue', row: { answer: 'blue', scoring: 'exact*5' } },
      { answer: 'x', row: { answer: 'x' }, exitReason: 'provider_error' },
    ]);
    expect(await rescored({ runId: id, scoring: ['numeric*2', 'tool_errors*-0.5'] })).toMatchObject({ scored: 3, changed: 3, kept: 0, unknown: 0, skipped: 1 });
    expect(rewards(id)).toEqual([1.5, -0.5, 5, null]);
    expect(runs.get(id)?.spec.scoring).toEqual(['numeric*2', 'tool_errors*-0.5']);
    expect(runs.totals(id).rewards).toEqual({ count: 3, sum: 6 });
    expect(scores.of(trajectories[0]!).scores).toMatchObject([{ name: 'numeric', kind: 'numeric', value: 1, weight: 2, source: 'rule' }, { name: 'tool_errors', value: 1, weight: -0.5 }]);
    expect(await rescored({ runId: id })).toMatchObject({ scored: 3, changed: 0 });
    // without rules what rules said goes
    expect(await rescored({ runId: id, scoring: [] })).toMatchObject({ scored: 3, changed: 2 });
    expect(rewards(id)).toEqual([null, null, 5, null]);
    expect(changes).toBeGreaterThan(0);
  });

  // Bug: a selection changes the rules of runs, or a chat is scored by nothing.
  it('scores a selection by given rules, or by those of each run', async () => {
    const chat = record(t, [user('hello'), assistant('four')]).id;
    const { id } = run([{ answer: '1', row: { answer: '1' } }], { scoring: ['exact'] });
    expect(await rescored({ filter: {} })).toMatchObject({ scored: 1, skipped: 1 });
    expect(rewards(id)).toEqual([1]);
    expect(await rescored({ filter: { ids: [chat] }, scoring: ['length'] })).toMatchObject({ scored: 1 });
    expect(scores.of(chat).reward).toBe(4);
    expect(runs.get(id)?.spec.scoring).toEqual(['exact']);
  });

  // Bug: tests of an answer are given up though they need no workspace; or the verdict of those that do is lost with the workspace.
  it('runs tests of answers anew, and keeps verdicts whose workspace is gone', async () => {
    const code = '```python\ndef f(): return 1\n```';
    const { id, trajectories } = run([
      { answer: code, row: { tests: ['assert f() == 1'] } },
      { answer: 'done', row: { tests: 'test -e made' } },
      { answer: 'done', row: { tests: 'test -e made' } },
      { answer: code, row: { tests: ['assert f() == 1'], image: 'python:3' } },
    ], { scoring: ['tests'] });
    const n = (i: number): number => t.store.db.get(sqlFor.selectFrom('trajectories').select('n').where('id', '=', trajectories[i]!))!.n;
    addScores(t.store.db, n(1), [{ name: 'tests', rule: 'tests', value: 1, weight: 1, detail: { exitCode: 0 } }], 1);
    addScores(t.store.db, n(3), [{ name: 'tests', rule: 'tests', value: 1, weight: 1, detail: {} }], 1);
    expect(await rescored({ runId: id, scoring: ['tests*3'] })).toMatchObject({ scored: 4, kept: 2, unknown: 1 });
    expect(rewards(id)).toEqual([3, 3, null, 3]);
    expect(scores.of(trajectories[1]!).scores[0]?.detail).toMatchObject({ exitCode: 0, kept: true });
    expect(scores.of(trajectories[2]!).scores[0]?.detail['why']).toContain('workspace');
    // nothing is left of the places where they ran
    expect(readdirSync(join(t.home, 'workspaces'))).toEqual([]);
  });

  it('tests in workspaces that were kept, and leaves them as they are', async () => {
    const { id } = run([{ answer: 'done', row: { tests: 'test -e made' } }, { answer: 'done', row: { tests: 'test -e made' } }], { scoring: ['tests'], keepWorkspaces: true });
    for (const i of [0, 1]) mkdirSync(join(t.home, 'workspaces', 'r', `task_${i}`), { recursive: true });
    writeFileSync(join(t.home, 'workspaces', 'r', 'task_1', 'made'), '');
    await rescored({ runId: id });
    expect(rewards(id)).toEqual([0, 1]);
    expect(readdirSync(join(t.home, 'workspaces', 'r', 'task_1'))).toEqual(['made']);
  });

  // Bug: cancelling loses or tears what is scored, or a running run is scored under its pass.
  it('is refused for what it cannot do, and stops when told', async () => {
    const { id } = run(Array.from({ length: 400 }, () => ({ answer: '1', row: { answer: '1' } })));
    await expect(rescored({ runId: id, scoring: ['nonsense'] })).rejects.toMatchObject({ code: 'invalid', field: 'scoring' });
    await expect(rescored({ runId: 'gone' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(rescored({})).rejects.toMatchObject({ code: 'invalid' });
    runs.setState(id, 'running', null);
    await expect(rescored({ runId: id })).rejects.toMatchObject({ code: 'conflict' });
    runs.setState(id, 'paused', null);
    for await (const event of scores.rescore({ runId: id, scoring: ['exact'] })) {
      if (event.type === 'progress' && event.done > 0) {
        await expect(rescored({ runId: id })).rejects.toMatchObject({ code: 'conflict' });
        break;
      }
    }
    const count = rewards(id).filter((r) => r === 1).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(400);
    expect(runs.totals(id).rewards).toEqual({ count, sum: count });
    expect(await rescored({ runId: id })).toMatchObject({ scored: 400, changed: 400 - count });
  });
});

describe('ratings', () => {
  // Bug: a rating changes a reward that no rule makes of it, or does not change the one that a rule does.
  it('are a person’s, and count where a rule uses them', async () => {
    const { id, trajectories: [first, second] } = run([{ answer: '1', row: { answer: '1' } }, { answer: '1', row: { answer: '1' } }], { scoring: ['exact', 'rating*2'] });
    await rescored({ runId: id });
    expect(scores.rate({ trajectoryId: first!, rating: 4 })).toMatchObject({ rating: 4, reward: 2.5, scores: [{ name: 'exact' }, { name: 'rating', source: 'person', value: 0.75, weight: 2 }] });
    expect(runs.totals(id).rewards).toEqual({ count: 2, sum: 3.5 });
    // scored again, the person's word stays
    await rescored({ runId: id });
    expect(rewards(id)).toEqual([2.5, 1]);
    await rescored({ runId: id, scoring: ['exact'] });
    expect(scores.of(first!)).toMatchObject({ rating: 4, reward: 1, scores: [{ name: 'exact' }, { name: 'rating', source: 'person', weight: 0 }] });
    expect(scores.rate({ trajectoryId: first!, rating: 1 }).reward).toBe(1);
    expect(scores.rate({ trajectoryId: first!, rating: null })).toMatchObject({ rating: null, reward: 1, scores: [{ name: 'exact' }] });
    await rescored({ runId: id, scoring: ['mine=rating', 'rating*0'] });
    expect(scores.rate({ trajectoryId: second!, rating: 5 })).toMatchObject({ reward: 1, scores: [{ name: 'mine', source: 'rule', value: 1 }, { name: 'rating', source: 'person', value: 1 }] });
    expect(scores.rate({ trajectoryId: second!, rating: null })).toMatchObject({ reward: null, scores: [{ name: 'mine', value: null }, { name: 'rating', source: 'rule', value: null }] });
    expect(() => scores.rate({ trajectoryId: 'gone', rating: 1 })).toThrow('no longer');
  });

  it('of a chat make no reward', () => {
    const chat = record(t, [user('hello'), assistant('four')]).id;
    expect(scores.rate({ trajectoryId: chat, rating: 5 })).toMatchObject({ rating: 5, reward: null, scores: [{ name: 'rating', source: 'person' }] });
    expect(scores.rate({ trajectoryId: chat, rating: null })).toEqual({ rating: null, reward: null, scores: [] });
  });
});

// Bug: bounds leave out what lies on them, or take in what has no reward; facets count within their own condition.
it('trajectories are found by reward and rating', async () => {
  const { id, trajectories } = run(['1', '2', '3'].map((answer) => ({ answer, row: { answer: '2' } })), { scoring: ['exact'] });
  record(t, [user('hello'), assistant('four')]);
  await rescored({ runId: id });
  scores.rate({ trajectoryId: trajectories[0]!, rating: 2 });
  const found = (filter: Parameters<typeof listTrajectories>[1]): number => listTrajectories(t.store.db, filter, { limit: 10 }).items.length;
  expect([found({ minReward: 1 }), found({ maxReward: 0 }), found({ minReward: 0, maxReward: 1 }), found({ minReward: 1.01 })]).toEqual([1, 2, 3, 0]);
  expect([found({ ratings: [2] }), found({ ratings: [0] }), found({ ratings: [0, 2], minReward: 0 }), found({ ratings: [] })]).toEqual([1, 3, 3, 0]);
  const counts = countTrajectories(t.store.db, { ratings: [2], minReward: 1 });
  expect(counts).toMatchObject({ total: 4, matching: 0, ratings: { 0: 1 }, rewards: { count: 1, min: 0, max: 0 } });
  expect(countTrajectories(t.store.db, { kinds: ['chat'] }).rewards).toBeNull();
});

// Bug: what a rule tells of one answer makes the store as large as the answers.
it('details are kept short', async () => {
  const { trajectories } = run([{ answer: 'x' }]);
  const n = listTrajectories(t.store.db, {}, { limit: 1 }).items[0]!.n;
  const [score] = await scoreRollout(parseScoreRules(['exact']), { prompt: '', row: { answer: Array.from({ length: 5_000 }, (_, i) => `${i}${'x'.repeat(500)}`) }, finalAnswer: 'x'.repeat(100_000), turns: 1, toolErrors: 0, rating: null }, { sandbox: null, signal: new AbortController().signal });
  addScores(t.store.db, n, [score!, { ...score!, name: 'long', detail: { text: 'x'.repeat(1_000_000) } }], 1);
  const stored = scores.of(trajectories[0]!).scores;
  expect(stored.map((s) => JSON.stringify(s.detail).length < 9_000)).toEqual([true, true]);
});
