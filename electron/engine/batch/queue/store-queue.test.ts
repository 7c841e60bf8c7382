import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSpecSchema, type RunSpecInput } from '#shared/contract/runs.ts';
import type { Message } from '#shared/trajectory.ts';
import { testPaths } from '../../../../e2e/fixtures/batch-ground.ts';
import { SpendLedger } from '../../model/spend.ts';
import { ConfigFile } from '../../store/config.ts';
import { sqlFor } from '../../store/database.ts';
import { ensureHome } from '../../store/home.ts';
import { openStore, type Store } from '../../store/store.ts';
import { LiveHub } from '../../trajectories/live.ts';
import { type RunRecord, RunStore } from '../run-store.ts';
import { LEASE_MS, type Settled, StoreQueue } from './store-queue.ts';
import { RunTally } from './tally.ts';
import { type Lease, LeaseLostError, QueueUnavailableError, type RolloutResult, type RolloutSink, type WorkQueue } from './types.ts';

const usage = { promptTokens: 10, completionTokens: 2, reasoningTokens: 1, cachedTokens: 0 };
const header = { model: 'm', provider: 'p', scripted: false, systemPrompt: 's', toolsets: ['terminal'], tools: [] };
const thought: Message = { role: 'assistant', content: 'yes', reasoning: 'hm', usage, createdAt: 1 };
const done: RolloutResult = { exitReason: 'completed', error: null, defect: null, modelError: null, overBudget: null, finalAnswer: 'yes', apiCalls: 1, usage, scores: [] };

let dir: string;
let store: Store;
let runs: RunStore;
let run: RunRecord;
let tally: RunTally;
let queue: WorkQueue;
let now: number;
let settled: Settled[];
let errors: string[];

function open(prompts: readonly string[], more: Partial<RunSpecInput> = {}): void {
  const spec = runSpecSchema.parse({ datasetFile: '/d', runName: 'r', ...more });
  run = runs.create({ spec, scripted: false, outputDir: '/o', datasetSha256: '', total: prompts.length * spec.rollouts });
  runs.prompts.add(run.id, prompts.map((prompt, index) => ({ index, line: index, prompt, row: { answer: index }, hash: `h${index}`, occurrence: 0 })), spec.rollouts);
  reopen();
}

/** As the next pass finds it. */
function reopen(): void {
  const home = join(dir, 'config.yaml');
  const spend = new SpendLedger({ db: store.db, config: new ConfigFile(home), now: Date.now });
  tally = new RunTally(store.db, runs, run, () => now, () => {});
  queue = new StoreQueue({
    db: store.db,
    store: runs,
    hub: new LiveHub(),
    spend,
    now: () => now,
    tally,
    run,
    log: { info: () => {}, error: (message) => void errors.push(message) },
    overBudget: () => null,
    interruptedState: () => 'pending',
    onSettled: (s) => void settled.push(s),
  });
}

async function claim(): Promise<{ lease: Lease; sink: RolloutSink }> {
  const claimed = await queue.claim();
  if (!claimed) throw new Error('Nothing was left');
  return claimed;
}

async function answered({ lease, sink }: { lease: Lease; sink: RolloutSink }, result: Partial<RolloutResult> = {}, message: Partial<Message> = {}) {
  await sink.begin(header);
  await sink.message({ ...thought, ...message });
  return queue.settle(lease, { ...done, ...result });
}

const rows = () => store.db.all(sqlFor.selectFrom('prompts').select(['idx', 'state', 'cause', 'lease', 'attempts', 'trajectory_id']).orderBy('idx'));
const trajectories = () => store.db.all(sqlFor.selectFrom('trajectories').select(['prompt_index', 'rollout', 'state', 'outcome', 'reward']).orderBy('n'));

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'queue-test-'));
  store = openStore(ensureHome(join(dir, 'home')).root, testPaths);
  now = 1_000_000;
  runs = new RunStore(store.db, () => now);
  settled = [];
  errors = [];
});

afterEach(async () => {
  expect(runs.totals(run.id)).toEqual(runs.computeTotals(run.id));
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('handing out', () => {
  // Bug: rollouts of a row out of order, or told as rows
  test('in order, each once, as rows and their rollouts', async () => {
    open(['a', 'b'], { rollouts: 2 });
    const claimed = [];
    for (let next = await queue.claim(); next; next = await queue.claim()) claimed.push(next.lease.task);
    expect(claimed.map((t) => [t.index, t.promptIndex, t.rollout, t.prompt, t.attempt, t.row, t.toolsets])).toEqual([
      [0, 0, 0, 'a', 1, { answer: 0 }, null],
      [1, 0, 1, 'a', 1, { answer: 0 }, null],
      [2, 1, 0, 'b', 1, { answer: 1 }, null],
      [3, 1, 1, 'b', 1, { answer: 1 }, null],
    ]);
    // what crosses to a worker may go to another machine
    expect(JSON.parse(JSON.stringify(claimed))).toEqual(claimed);
  });

  // Bug: an engine that was killed between taking a rollout and its first call left it as running, or lost why it had failed
  test('what was claimed and did not begin is as it was', async () => {
    open(['a']);
    await answered(await claim(), { exitReason: 'provider_error', error: 'down', modelError: { code: 'server', message: 'down', providerMessage: null, stopsRun: false } });
    const before = rows();
    reopen();
    expect((await claim()).lease.task).toMatchObject({ attempt: 2, toolsets: ['terminal'] });
    expect(rows()).toEqual(before);
  });
});

describe('leases', () => {
  // Bug: two workers that both believe the rollout to be theirs wrote into one trajectory, or both were paid and stored
  test('a lapsed one comes again, and its first worker can store nothing any more', async () => {
    open(['a', 'b']);
    const first = await claim();
    await first.sink.begin(header);
    await first.sink.message(thought);
    now += LEASE_MS - 1;
    expect((await claim()).lease.task.index).toBe(1);
    now += 1;
    const second = await claim();
    expect(second.lease.task).toMatchObject({ index: 0, attempt: 2 });
    expect(errors).toHaveLength(1);
    await expect(first.sink.message(thought)).rejects.toBeInstanceOf(LeaseLostError);
    await expect(first.sink.begin(header)).rejects.toBeInstanceOf(LeaseLostError);
    await expect(queue.renew(first.lease)).rejects.toBeInstanceOf(LeaseLostError);
    await expect(queue.settle(first.lease, done)).rejects.toBeInstanceOf(LeaseLostError);
    expect(await answered(second)).toMatchObject({ state: 'completed' });
    await expect(queue.settle(second.lease, done)).rejects.toBeInstanceOf(LeaseLostError);
    expect(trajectories()).toEqual([{ prompt_index: 0, rollout: 0, state: 'ended', outcome: 'completed', reward: null }]);
    // both were paid
    expect(tally.totals).toMatchObject({ usage: { promptTokens: 20 }, lost: { promptTokens: 10 }, counts: { completed: 1, pending: 1 } });
  });

  // Bug: a slow model lost its rollout though its worker lived
  test('a sign of life keeps it', async () => {
    open(['a', 'b', 'c']);
    const slow = await claim();
    const other = await claim();
    await slow.sink.begin(header);
    now += LEASE_MS - 1;
    await queue.renew(slow.lease);
    expect(slow.lease.until).toBe(now + LEASE_MS);
    now += 1;
    expect((await claim()).lease.task.index).toBe(other.lease.task.index);
    expect((await claim()).lease.task.index).toBe(2);
    await slow.sink.message(thought);
    expect(await queue.settle(slow.lease, done)).toMatchObject({ state: 'completed' });
    expect(rows()[0]).toMatchObject({ state: 'completed', lease: null });
  });
});

describe('handing in', () => {
  // Bug: a disposition without its scores, or scores of a rollout that is to be run again
  test('trajectory, scores, reward and disposition are stored together or not at all', async () => {
    open(['a']);
    const { lease, sink } = await claim();
    await sink.begin(header);
    await sink.message(thought);
    const scores = [
      { name: 'exact', rule: 'exact', value: 1, weight: 2, detail: { got: '1' } },
      { name: 'tests', rule: 'tests', value: null, weight: 1, detail: { why: 'no tests' } },
      { name: 'len', rule: 'len=length*0.5', value: 0.5, weight: 0.5, detail: {} },
    ];
    store.db.connection.exec("CREATE TRIGGER no_end BEFORE UPDATE OF totals ON runs BEGIN SELECT RAISE(ABORT, 'not now'); END");
    await expect(queue.settle(lease, { ...done, scores })).rejects.toThrow('not now');
    expect(rows()[0]).toMatchObject({ state: 'running' });
    expect(trajectories()[0]).toMatchObject({ state: 'running', reward: null });
    expect(store.db.all(sqlFor.selectFrom('scores').selectAll())).toEqual([]);
    expect(tally.totals).toMatchObject({ usage: { promptTokens: 0 }, counts: { running: 1 } });
    store.db.connection.exec('DROP TRIGGER no_end');
    expect(await queue.settle(lease, { ...done, scores })).toMatchObject({ state: 'completed' });
    expect(trajectories()[0]).toMatchObject({ outcome: 'completed', reward: 2.25 });
    expect(store.db.all(sqlFor.selectFrom('scores').select(['name', 'value']))).toHaveLength(3);
    expect(tally.totals.rewards).toEqual({ count: 1, sum: 2.25 });
    expect(settled).toHaveLength(1);
  });

  // Bug: a failure without its cause; one that would come again, tried again; a time limit counted as a failure
  test.each<[string, Partial<RolloutResult>, Partial<Message>, [string, string | null, boolean]]>([
    ['an answer', {}, {}, ['completed', null, false]],
    ['no reasoning', {}, { reasoning: '' }, ['discarded', 'no_reasoning', false]],
    ['the last turn', { exitReason: 'max_turns', error: 'Turns.' }, {}, ['partial', null, false]],
    ['out of time', { exitReason: 'timeout', error: 'Time.' }, {}, ['partial', null, false]],
    ['stopped', { exitReason: 'interrupted', error: 'Stopped.' }, {}, ['pending', null, true]],
    ['budget', { exitReason: 'budget_exceeded', error: 'Cap.', overBudget: 'Cap.' }, {}, ['pending', null, true]],
    ['bad request', { exitReason: 'provider_error', error: 'No.', modelError: { code: 'bad_request', message: 'No.', providerMessage: 'nope', stopsRun: false } }, {}, ['failed', 'bad_request', false]],
    ['too long', { exitReason: 'context_overflow', error: 'Long.' }, {}, ['failed', 'context_overflow', false]],
    ['down', { exitReason: 'provider_error', error: 'Down.', modelError: { code: 'network', message: 'Down.', providerMessage: null, stopsRun: false } }, {}, ['failed', 'network', true]],
    ['a defect', { exitReason: null, defect: { cause: 'defect', reason: 'at x', retryable: true } }, {}, ['failed', 'defect', true]],
    ['no image', { exitReason: null, defect: { cause: 'no_image', reason: 'There is no image x.', retryable: false } }, {}, ['failed', 'no_image', false]],
  ])('how an attempt ends says what becomes of it: %s', async (_name, result, message, [state, cause, retryable]) => {
    open(['a']);
    expect(await answered(await claim(), result, message)).toMatchObject({ state, cause, retryable });
    expect(rows()[0]).toMatchObject({ state, cause });
    reopen();
    expect((await queue.claim()) !== null).toBe(retryable);
  });

  // Bug: a reward of an attempt that was made again stayed in the mean of the run
  test('a new attempt takes the old one and its reward out of the sums, but not its tokens', async () => {
    open(['a']);
    const score = { name: 'exact', rule: 'exact', weight: 1, detail: {} };
    await answered(await claim(), { scores: [{ ...score, value: 0 }] }, { reasoning: '' });
    expect(tally.totals).toMatchObject({ rewards: { count: 1, sum: 0 }, causes: { no_reasoning: 1 } });
    runs.again(run.id, 'discarded');
    reopen();
    await answered(await claim(), { scores: [{ ...score, value: 1 }] });
    expect(tally.totals).toMatchObject({ rewards: { count: 1, sum: 1 }, causes: {}, usage: { promptTokens: 20 }, lost: { promptTokens: 10 }, turns: 1 });
    expect(rows()[0]).toMatchObject({ attempts: 2 });
  });

  // Bug: a store that fails was told to the worker as a fault of its rollout
  test('a store that cannot be written is no fault of the rollout', async () => {
    open(['a']);
    const { lease, sink } = await claim();
    await sink.begin(header);
    const pages = Number(store.db.connection.pragma('page_count', { simple: true }));
    store.db.connection.pragma(`max_page_count = ${pages}`);
    const large = { ...thought, content: 'x'.repeat(60_000) };
    await expect(sink.message(large)).rejects.toBeInstanceOf(QueueUnavailableError);
    store.db.connection.pragma('max_page_count = 1000000000');
    await sink.message(large);
    expect(await queue.settle(lease, done)).toMatchObject({ state: 'completed' });
  });
});
