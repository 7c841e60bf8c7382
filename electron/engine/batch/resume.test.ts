import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { fail, say, think, together } from '../../../e2e/fakes/steps.ts';
import { type BatchGround, disagreements, readRows, withBatch } from '../../../e2e/fixtures/batch-ground.ts';
import { sqlFor } from '../store/database.ts';
import { RunStore } from './run-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const good = together(think('I know that.'), say('An answer.'));

function write(path: string, prompts: readonly unknown[]): void {
  writeFileSync(path, prompts.map((p) => `${JSON.stringify(typeof p === 'string' ? { prompt: p } : p)}\n`).join(''));
}

/** What the model was asked, by prompt, since so many calls. */
function asked({ fake }: BatchGround, since = 0): string[] {
  return fake.chats.slice(since).map((c) => String(c.body.messages.find((m) => m.role === 'user')?.content)).sort();
}

function states({ service }: BatchGround, id: string): string[] {
  return service.prompts({ id, after: -1, limit: 500 }).items.map((p) => `${p.prompt}${p.rollout > 0 ? `/${p.rollout}` : ''}: ${p.state}${p.removed ? ', removed' : ''}`);
}

/** The sums that were kept up on the way are those of what is stored. */
function expectSumsToHold({ store }: BatchGround, id: string): void {
  const runs = new RunStore(store.db, Date.now);
  expect(runs.totals(id)).toEqual(runs.computeTotals(id));
}

describe('an edited dataset', () => {
  // Bug: rows matched by their number: a row put in at the top made every prompt run again, into files of the others
  test('a row put in at the top runs alone; what was answered stays where it was; the numbers are of both passes', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed, store } = ground;
      fake.respond(() => good);
      const datasetFile = dataset(['a', 'b', 'c', 'd']);
      const first = await run({ datasetFile, batchSize: 2 });
      const before = readFileSync(join(first.outputDir, 'batch_0.jsonl'), 'utf8');
      write(datasetFile, ['new', 'a', 'b', 'c', 'd']);
      const ended = await resumed(first.id);
      expect(asked(ground, 4)).toEqual(['new']);
      expect(ended).toMatchObject({ state: 'completed', total: 5, removed: 0, changes: { added: 1, removed: 0, returned: 0 }, states: { completed: 5 }, turns: 5 });
      expect(ended.usage.promptTokens).toBeGreaterThan(first.usage.promptTokens);
      expect(states(ground, first.id)).toEqual(['a: completed', 'b: completed', 'c: completed', 'd: completed', 'new: completed']);
      expect(readFileSync(join(first.outputDir, 'batch_0.jsonl'), 'utf8')).toBe(before);
      expect(readRows(join(first.outputDir, 'batch_2.jsonl')).map((r) => r.prompt_index)).toEqual([4]);
      expect(JSON.parse(readFileSync(join(first.outputDir, 'statistics.json'), 'utf8'))).toMatchObject({ outcomes: { completed: 5 }, reasoning_statistics: { total_assistant_turns: 5 } });
      expect(disagreements(store, ended)).toEqual([]);
      expectSumsToHold(ground, first.id);
    }));

  // Bug: a changed row kept the answer to its old text; a removed one was paid for; one that came back was asked twice
  test('changed rows run anew, removed ones do not, and what comes back is known again', () =>
    withBatch(async (ground) => {
      const { fake, dataset, service, spec, settled, resumed, store } = ground;
      fake.respond((r) => (r.prompt === 'c' ? { ...good, gate: { name: 'never' } } : good));
      const datasetFile = dataset(['a', 'b', 'c', 'd', 'e']);
      const { id } = await service.start(spec({ datasetFile, numWorkers: 1 }));
      await fake.waitForChats(3);
      await service.cancel(id);
      // a and b are answered; c, d and e are left
      write(datasetFile, ['a', { prompt: 'b', answer: '7' }, 'e']);
      fake.respond(() => good);
      const ended = await resumed(id);
      expect(asked(ground, 3)).toEqual(['b', 'e']);
      expect(ended).toMatchObject({ state: 'completed', total: 6, removed: 3, changes: { added: 1, removed: 3, returned: 0 }, etaMs: null });
      expect(states(ground, id)).toEqual(['a: completed', 'b: completed, removed', 'c: cancelled, removed', 'd: pending, removed', 'e: completed', 'b: completed']);
      expect(disagreements(store, ended)).toEqual([]);

      write(datasetFile, ['d', 'b', 'a', { prompt: 'b', answer: '7' }, 'e']);
      await service.resume(id);
      const again = await settled(id);
      expect(asked(ground, 5)).toEqual(['d']);
      expect(again).toMatchObject({ removed: 1, changes: { added: 0, removed: 0, returned: 2 }, states: { completed: 5, cancelled: 1 } });
      expect(disagreements(store, again)).toEqual([]);
      expectSumsToHold(ground, id);
    }));

  // Bug: of equal rows all were taken for done when one was, or one that was added counted as one that was there
  test('equal rows are separate work, also in an edited dataset, and each has all its rollouts', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed, store } = ground;
      fake.respond(() => good);
      const datasetFile = dataset(['A', 'B']);
      const first = await run({ datasetFile, rollouts: 2, batchSize: 1 });
      expect(asked(ground)).toEqual(['A', 'A', 'B', 'B']);
      expect(readRows(join(first.outputDir, 'batch_1.jsonl')).map((r) => r.prompt_index)).toEqual([1, 1]);
      write(datasetFile, ['A', 'A', 'B']);
      const ended = await resumed(first.id);
      expect(asked(ground, 4)).toEqual(['A', 'A']);
      expect(ended).toMatchObject({ total: 6, states: { completed: 6 }, changes: { added: 1 } });
      expect(states(ground, first.id)).toEqual(['A: completed', 'A/1: completed', 'B: completed', 'B/1: completed', 'A: completed', 'A/1: completed']);
      expect(disagreements(store, ended)).toEqual([]);
    }));

  // Bug: a resume read the whole file though the run was made of its first rows only
  test('a run of the first N rows stays one of the first N rows', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed } = ground;
      fake.respond(() => good);
      const datasetFile = dataset(['a', 'b', 'c', 'd']);
      const { id } = await run({ datasetFile, maxSamples: 2 });
      write(datasetFile, ['a', 'b', 'c', 'd', 'e']);
      expect(await resumed(id)).toMatchObject({ total: 2, changes: null, removed: 0 });
      write(datasetFile, ['x', 'a', 'b', 'c']);
      expect(await resumed(id)).toMatchObject({ total: 3, changes: { added: 1, removed: 1 } });
      expect(asked(ground, 2)).toEqual(['x']);
    }));

  // Bug: a run whose dataset was deleted, or is being edited just now, could never go on, or lost its prompts
  test('a dataset that is gone changes nothing; one that cannot be read is refused with nothing changed', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed, service, store } = ground;
      fake.script(good, fail(404), fail(404));
      const datasetFile = dataset(['a', 'b', 'c']);
      const { id } = await run({ datasetFile, numWorkers: 1 });
      const rows = () => store.db.all(sqlFor.selectFrom('prompts').selectAll().orderBy('idx'));
      const before = rows();
      writeFileSync(datasetFile, '{"prompt": "a"');
      await expect(service.resume(id)).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile' });
      expect(rows()).toEqual(before);
      expect(service.get(id)).toMatchObject({ state: 'completed', total: 3, changes: null });
      rmSync(datasetFile);
      fake.respond(() => good);
      expect(await resumed(id)).toMatchObject({ total: 3, removed: 0, changes: null, states: { completed: 3 } });
      expect(fake.counts.chats).toBe(5);
    }));

  // Bug: an engine killed while it took in an edited file left rows of a dataset that the run did not have
  test('rows that a crash left behind the last one of a run are gone at the next start', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, service, store, resumed } = ground;
      fake.respond(() => good);
      const { id } = await run({ datasetFile: dataset(['a', 'b']) });
      store.db.run(sqlFor.insertInto('prompts').values({ run_id: id, idx: 2, prompt: 'half', row: '{}', row_key: 'k', updated_at: 1 }));
      service.recover();
      expect((await resumed(id)).states).toMatchObject({ completed: 2, pending: 0 });
      expect(states(ground, id)).toHaveLength(2);
    }));
});

describe('what a resume runs', () => {
  // Bug: a request that cannot be right was paid again with every resume; a refused key was not tried again
  test('pending, cancelled and failures that may pass, nothing else', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed, service, store } = ground;
      const replies: Record<string, ReturnType<typeof fail>> = { bad: fail(400, { message: 'no such thing' }), gone: fail(404), plain: say('No thought.') };
      fake.respond((r) => replies[r.prompt] ?? good);
      const first = await run({ datasetFile: dataset(['ok', 'bad', 'gone', 'plain']) });
      expect(first).toMatchObject({ states: { completed: 1, failed: 2, discarded: 1 }, causes: { bad_request: 1, not_found: 1, no_reasoning: 1 } });
      const items = service.prompts({ id: first.id, after: -1, limit: 9 }).items;
      expect(items.map((p) => [p.state, p.cause, p.retryable])).toEqual([
        ['completed', null, false],
        ['failed', 'bad_request', false],
        ['failed', 'not_found', true],
        ['discarded', 'no_reasoning', false],
      ]);
      expect(service.prompts({ id: first.id, after: -1, limit: 9, cause: 'bad_request' }).items.map((p) => p.prompt)).toEqual(['bad']);
      expect(service.prompts({ id: first.id, after: 1, limit: 1, states: ['failed', 'discarded'] })).toMatchObject({ items: [{ prompt: 'gone' }], more: true });
      const calls = fake.counts.chats;
      fake.respond(() => good);
      const ended = await resumed(first.id);
      expect(asked(ground, calls)).toEqual(['gone']);
      expect(ended).toMatchObject({ states: { completed: 2, failed: 1, discarded: 1 }, causes: { bad_request: 1, no_reasoning: 1 } });
      expect(disagreements(store, ended)).toEqual([]);
      expectSumsToHold(ground, first.id);
    }));

  // Bug: what was discarded or had failed for good could only be run by starting all over
  test('retry runs what failed or was discarded whatever the cause, all or some, also while the run goes on', () =>
    withBatch(async (ground) => {
      const { fake, dataset, service, spec, settled, store } = ground;
      const replies = new Map([['bad 1', fail(400)], ['bad 2', fail(400)], ['plain', say('No thought.')], ['slow', { ...good, gate: { name: 'slow' } }]]);
      fake.respond((r) => replies.get(r.prompt) ?? good);
      const { id } = await service.start(spec({ datasetFile: dataset(['slow', 'bad 1', 'bad 2', 'plain']) }));
      for await (const { run } of service.watch(id)) if (run.states.failed + run.states.discarded === 3) break;
      replies.clear();
      expect(await service.retry({ id, what: 'discarded' })).toMatchObject({ state: 'running', states: { discarded: 0 } });
      for await (const { run } of service.watch(id)) if (run.states.completed === 1) break;
      fake.release('slow');
      expect(await settled(id)).toMatchObject({ states: { completed: 2, failed: 2 }, causes: { bad_request: 2 } });
      expect(asked(ground, 4)).toEqual(['plain']);
      await service.retry({ id, what: 'failed', indices: [2, 0, 77] });
      expect((await settled(id)).states).toMatchObject({ completed: 3, failed: 1 });
      expect(asked(ground, 5)).toEqual(['bad 2']);
      await service.retry({ id, what: 'failed' });
      const ended = await settled(id);
      expect(ended).toMatchObject({ states: { completed: 4 }, causes: {} });
      expect(disagreements(store, ended)).toEqual([]);
      expectSumsToHold(ground, id);
    }));

  // Bug: a run of an earlier version had no filters, rollouts or sandbox and could not be shown or resumed
  test('a run that an earlier version stored has the defaults of today', () =>
    withBatch(async (ground) => {
      const { fake, dataset, run, resumed, store, service } = ground;
      fake.script(good, fail(404));
      fake.respond(() => good);
      const { id } = await run({ datasetFile: dataset(['a', 'b']), numWorkers: 1 });
      const { datasetFile, runName, batchSize, model, provider, numWorkers, maxTurns, distribution } = service.get(id).spec;
      store.db.run(
        sqlFor.updateTable('runs').set({ spec: JSON.stringify({ datasetFile, runName, batchSize, model, provider, numWorkers, maxTurns, distribution }), totals: JSON.stringify({ usage: {}, lost: {}, turns: 0, turnsWithReasoning: 0, toolStats: {} }) }),
      );
      store.db.run(sqlFor.updateTable('prompts').set({ cause: null }));
      expect(service.get(id)).toMatchObject({ spec: { rollouts: 1, filters: ['no_reasoning'], sandbox: 'host' }, states: { completed: 1, failed: 1 }, turns: 1 });
      const ended = await resumed(id);
      expect(ended.states.completed).toBe(2);
      expect(disagreements(store, ended)).toEqual([]);
    }));
});
