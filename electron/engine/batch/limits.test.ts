import { describe, expect, test, vi } from 'vitest';
import { contextOverflow, fail, say, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, withBatch } from '../../../e2e/fixtures/batch-ground.ts';

vi.setConfig({ testTimeout: 60_000 });

const good = together(think('Thinking.'), say('done'));
const many = (n: number) => Array.from({ length: n }, (_, i) => `p${i}`);

describe('a budget', () => {
  // Bug: the only cap was one for all runs; a run with a budget of its own spent on, or could never go on once it was used up
  test('pauses the run with the reason; a higher one lets it go on', () =>
    withBatch(async ({ fake, service, spend, dataset, spec, settled, store }) => {
      spend.setPrice('fake-model', { input: 1000, output: 1000 });
      fake.respond(() => good);
      const { id } = await service.start(spec({ datasetFile: dataset(many(6)), numWorkers: 1, budgetUsd: 0.000001 }));
      const paused = await settled(id);
      expect(paused).toMatchObject({ state: 'paused', states: { completed: 1, pending: 5, failed: 0 }, message: expect.stringMatching(/budget of this run is used up: \$.+ Resume it with a higher budget\./) as string });
      expect(disagreements(store, paused)).toEqual([]);
      await expect(service.resume(id)).rejects.toMatchObject({ code: 'conflict', field: 'budgetUsd' });
      expect(service.get(id).state).toBe('paused');
      await service.resume(id, { changes: { budgetUsd: paused.costUsd * 2.5, rollouts: 7, model: 'another' } });
      expect(await settled(id)).toMatchObject({ state: 'paused', states: { completed: 3, pending: 3 }, spec: { rollouts: 1, model: 'fake-model' } });
      await service.resume(id, { changes: { budgetUsd: undefined } });
      const ended = await settled(id);
      expect(ended).toMatchObject({ state: 'completed', states: { completed: 6 } });
      expect(ended.costUsd).toBeCloseTo(paused.costUsd * 6);
      expect(fake.counts.chats).toBe(6);
    }));
});

describe('failures in a row', () => {
  // Bug: a run whose every row failed for a reason of its own was paid to its end
  test('so many as the run allows stop it, whatever their reasons', () =>
    withBatch(async ({ fake, run, dataset, resumed, store }) => {
      const replies = [good, fail(400, { message: 'first' }), good, fail(400, { message: 'second' }), contextOverflow(), fail(404), good];
      fake.script(...replies);
      fake.respond(() => good);
      const stopped = await run({ datasetFile: dataset(many(10)), numWorkers: 1, maxFailures: 3 });
      expect(stopped).toMatchObject({ state: 'failed', states: { completed: 2, failed: 4, pending: 4 } });
      expect(stopped.message).toMatch(/^3 rollouts in a row failed, which is what this run allows\. The last one: .+ Resume the run when that is mended\.$/);
      expect(disagreements(store, stopped)).toEqual([]);
      expect(await resumed(stopped.id)).toMatchObject({ state: 'completed', states: { completed: 7, failed: 3 } });
    }));
});

describe('a provider that will not', () => {
  // Bug: a 402 was tried again on every prompt, at 40 dollars; a 403 was counted as work done
  test.each([
    [401, 'Wrong key given.'],
    [402, 'Your credits are used up.'],
    [403, 'This model is not for you.'],
  ])('%i stops the run at the first occurrence, with its words; then it goes on', (status, message) =>
    withBatch(async ({ fake, run, dataset, resumed, store }) => {
      fake.script(good, fail(status, { message, retryAfter: 1 }));
      fake.respond(() => good);
      const stopped = await run({ datasetFile: dataset(many(12)), numWorkers: 1 });
      expect(stopped).toMatchObject({ state: 'failed', states: { completed: 1, failed: 1, pending: 10 } });
      expect(stopped.message).toContain(`The provider said: “${message}” Resume the run`);
      expect(fake.requests).toHaveLength(2);
      const ended = await resumed(stopped.id);
      expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 12 } });
      expect(fake.requests).toHaveLength(13);
      expect(disagreements(store, ended)).toEqual([]);
    }));
});

describe('a store without room', () => {
  /** SQLite then says what it says when the disk is full. */
  const setRoom = (connection: { pragma: (source: string, options?: { simple: boolean }) => unknown }, pages: number | null): void => {
    const now = Number(connection.pragma('page_count', { simple: true }));
    connection.pragma(`max_page_count = ${pages === null ? 1_000_000_000 : now + pages}`);
  };

  // Bug: prompts that ran when the store was full were failed with a stack for a reason, or the run showed as running for ever
  test.each([0, 2, 5])('pauses the run with what to do, %i pages before the end; what was stored is whole; it goes on', (pages) =>
    withBatch(async ({ fake, service, spec, dataset, settled, store, resumed }) => {
      let calls = 0;
      fake.respond(() => {
        calls += 1;
        if (calls === 4) setRoom(store.db.connection, pages);
        return together(think('t'.repeat(3_000)), say('x'.repeat(3_000)));
      });
      const { id } = await service.start(spec({ datasetFile: dataset(many(15)), numWorkers: 3 }));
      const paused = await settled(id);
      expect(paused).toMatchObject({ state: 'paused', message: expect.stringMatching(/no space left on the disk that holds the store\. Free some space, then resume/) as string });
      expect(paused.states.failed).toBe(0);
      expect(paused.states.completed).toBeLessThan(15);
      setRoom(store.db.connection, null);
      const kept = new Set(service.prompts({ id, after: -1, limit: 15, states: ['completed'] }).items.map(({ prompt }) => prompt));
      const before = fake.chats.length;
      const ended = await resumed(id);
      expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 15 } });
      // one that was cut off on its way may come in late: what counts is that nothing that is stored was asked for again
      expect(new Set(fake.chats.slice(before).map(({ body }) => body.messages.at(-1)?.content))).toEqual(new Set(many(15).filter((prompt) => !kept.has(prompt))));
      expect(disagreements(store, ended)).toEqual([]);
      expect(store.db.connection.pragma('integrity_check', { simple: true })).toBe('ok');
    }));
});
