import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { callTool, fail, say, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, readRows, withBatch } from '../../../e2e/fixtures/batch-ground.ts';
import { sqlFor } from '../store/database.ts';

vi.setConfig({ testTimeout: 60_000 });

/** What people reported of batch runners, each by its symptom; this one must not have them. */
const good = together(think('I know that.'), say('An answer.'));

function json(path: string): Record<string, never> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, never>;
}

test('equal prompts were one and deliberate repeats lost: [A, A, B] with the first A done runs exactly the second A and B', () =>
  withBatch(async ({ service, dataset, spec, fake, resumed, store }) => {
    fake.respond(() => (fake.counts.chats === 1 ? good : { ...good, gate: { name: 'never' } }));
    const { id } = await service.start(spec({ datasetFile: dataset(['A', 'A', 'B']), numWorkers: 1 }));
    await fake.waitForChats(2);
    const cancelled = await service.cancel(id);
    expect(cancelled).toMatchObject({ state: 'cancelled', states: { completed: 1, cancelled: 1, pending: 1 } });
    expect(disagreements(store, cancelled)).toEqual([]);
    const first = service.prompts({ id, after: -1, limit: 1 }).items[0];

    fake.respond(() => good);
    const ended = await resumed(id);
    expect(ended).toMatchObject({ state: 'completed', states: { completed: 3 } });
    expect(fake.chats.slice(2).map((c) => c.body.messages.find((m) => m.role === 'user')?.content)).toEqual(['A', 'B']);
    expect(service.prompts({ id, after: -1, limit: 1 }).items[0]).toEqual(first);
    expect(disagreements(store, ended)).toEqual([]);
    expect(json(join(ended.outputDir, 'checkpoint.json'))).toMatchObject({ batch_stats: { 0: { processed: 2, skipped: 1 } } });
  }));

test('what was discarded was asked and paid again with every resume', () =>
  withBatch(async ({ run, dataset, fake, resumed, store, service, settled }) => {
    fake.respond((r) => (r.prompt === 'plain' ? say('No thought.') : good));
    const ended = await run({ datasetFile: dataset(['plain', 'b']) });
    expect(ended).toMatchObject({ state: 'completed', states: { completed: 1, discarded: 1 } });
    expect(disagreements(store, ended)).toEqual([]);
    expect(store.db.get(sqlFor.selectFrom('trajectories').select('outcome').where('prompt_index', '=', 0))).toEqual({ outcome: 'discarded' });
    expect(json(join(ended.outputDir, 'statistics.json'))).toMatchObject({ outcomes: { discarded: 1 }, reasoning_statistics: { total_assistant_turns: 1 } });
    const again = await resumed(ended.id);
    expect(again.states).toEqual(ended.states);
    expect(fake.counts.chats).toBe(2);
    expect(disagreements(store, again)).toEqual([]);
    await service.retry({ id: ended.id, what: 'discarded' });
    await settled(ended.id);
    expect(fake.counts.chats).toBe(3);
  }));

test('after rows were put in, others ran under their numbers, files were mixed and the statistics of the first pass were gone', () =>
  withBatch(async ({ run, dataset, fake, resumed, store }) => {
    fake.respond(() => good);
    const datasetFile = dataset(['b', 'c']);
    const first = await run({ datasetFile, batchSize: 1 });
    writeFileSync(datasetFile, '{"prompt":"a"}\n{"prompt":"b"}\n{"prompt":"c"}\n');
    const ended = await resumed(first.id);
    expect(fake.chats.slice(2).map((c) => c.body.messages.find((m) => m.role === 'user')?.content)).toEqual(['a']);
    for (const [n, prompt] of ['b', 'c', 'a'].entries()) {
      const rows = readRows(join(ended.outputDir, `batch_${n}.jsonl`));
      expect(rows.map((r) => [r.prompt_index, r.conversations.find((t) => t.from === 'human')?.value])).toEqual([[n, prompt]]);
    }
    expect(json(join(ended.outputDir, 'statistics.json'))).toMatchObject({ total_prompts: 3, outcomes: { completed: 3 }, reasoning_statistics: { total_assistant_turns: 3 } });
    expect(disagreements(store, ended)).toEqual([]);
  }));

test('a prompt that is no text ended the run, or its resume', () =>
  withBatch(async ({ run, dataset, fake, resumed }) => {
    fake.respond(() => (fake.counts.chats === 2 ? fail(404) : good));
    const ended = await run({ datasetFile: dataset([{ prompt: 123 }, 'a', { prompt: ['x'] }, 'b', { nothing: 1 }]), numWorkers: 1 });
    expect(ended).toMatchObject({ state: 'completed', total: 2, states: { completed: 1, failed: 1 } });
    expect((await resumed(ended.id)).states.completed).toBe(2);
  }));

test('a provider that did not answer in time left prompts that lacked reasoning, and only asking for discarded ones ran them again', () =>
  withBatch(async ({ run, dataset, fake, resumed, store }) => {
    fake.respond(() => (fake.counts.chats === 1 ? { ...good, gate: { name: 'never' } } : good));
    const ended = await run({ datasetFile: dataset(['a', 'b']), numWorkers: 1, timeoutPerPrompt: 1 });
    expect(ended).toMatchObject({ state: 'completed', states: { completed: 1, failed: 1, discarded: 0, partial: 0 } });
    expect(store.db.get(sqlFor.selectFrom('prompts').select(['cause', 'retryable']).where('idx', '=', 0))).toEqual({ cause: 'timeout', retryable: 1 });
    expect(disagreements(store, ended)).toEqual([]);
    expect((await resumed(ended.id)).states.completed).toBe(2);
  }));

test('the last checkpoint named prompts twice and in no order', () =>
  withBatch(async ({ service, spec, dataset, fake, settled, resumed }) => {
    fake.respond((r) => (r.prompt === '0' ? { ...good, gate: { name: 'last' } } : good));
    const { id } = await service.start(spec({ datasetFile: dataset(['0', '1', '2', '3']), numWorkers: 4 }));
    for await (const { run } of service.watch(id)) if (run.states.completed === 3) break;
    fake.release('last');
    const ended = await settled(id);
    const checkpoint = join(ended.outputDir, 'checkpoint.json');
    expect(json(checkpoint)).toMatchObject({ completed_prompts: [0, 1, 2, 3] });
    await resumed(id);
    expect(json(checkpoint)).toMatchObject({ completed_prompts: [0, 1, 2, 3] });
  }));

test('dangerous commands were allowed without asking: they are refused, and the model is told', () =>
  withBatch(async ({ run, dataset, fake, store }) => {
    fake.script(together(think('Clean up.'), callTool('terminal', { command: 'rm -rf /srv/there-is-no-such-folder' })), good);
    const ended = await run({ datasetFile: dataset(['clean']), distribution: 'terminal_only' });
    expect(ended.states.completed).toBe(1);
    const answer = store.db.get(sqlFor.selectFrom('messages').select(['content', 'is_error']).where('role', '=', 'tool'));
    expect(answer).toMatchObject({ is_error: 1, content: expect.stringContaining('refused') as string });
  }));

test('an exception in a worker had no trace and took the others with it', () =>
  withBatch(async ({ service, run, dataset, fake, store, errors, resumed }) => {
    fake.respond((r) => {
      if (r.prompt === 'b') store.db.run(sqlFor.updateTable('prompts').set({ row: '{' }).where('prompt', '=', 'c'));
      return good;
    });
    const ended = await run({ datasetFile: dataset(['a', 'b', 'c', 'd']), numWorkers: 1 });
    expect(ended).toMatchObject({ state: 'completed', states: { completed: 3, failed: 1 }, causes: { defect: 1 } });
    const failed = service.prompts({ id: ended.id, after: -1, limit: 9, states: ['failed'] }).items[0];
    expect(failed).toMatchObject({ prompt: 'c', retryable: true, reason: expect.stringMatching(/SyntaxError[\s\S]*\n\s+at /) as string });
    expect(errors).toEqual(['Prompt 2 of run r failed unexpectedly']);
    store.db.run(sqlFor.updateTable('prompts').set({ row: '{}' }).where('prompt', '=', 'c'));
    expect((await resumed(ended.id)).states).toMatchObject({ completed: 4, failed: 0 });
  }));

test('refused keys were counted as completed', () =>
  withBatch(
    async ({ service, run, dataset, settled, fake }) => {
      fake.respond(() => good);
      const stopped = await run({ datasetFile: dataset(['a', 'b', 'c']), numWorkers: 3 });
      expect(stopped).toMatchObject({ state: 'failed', states: { completed: 0, partial: 0 } });
      expect(stopped.states.failed + stopped.states.pending).toBe(3);
      expect(service.prompts({ id: stopped.id, after: -1, limit: 9 }).items.every((p) => p.retryable)).toBe(true);
      await service.resume(stopped.id, { apiKey: 'right' });
      expect((await settled(stopped.id)).states.completed).toBe(3);
    },
    { apiKey: 'right' },
  ));

test('several prompts could not be asked in one environment', () =>
  withBatch(async ({ run, dataset, fake }) => {
    fake.script(together(think('Write.'), callTool('write_file', { path: 'x.txt', content: 'kept' })), good, together(think('Read.'), callTool('terminal', { command: 'cat x.txt' })), good);
    const ended = await run({ datasetFile: dataset([{ prompt: 'write', prompts: ['read'] }]), distribution: 'terminal_only' });
    expect(ended.states.completed).toBe(1);
    const [row] = readRows(join(ended.outputDir, 'trajectories.jsonl'));
    expect(row?.conversations.filter((t) => t.from === 'human').map((t) => t.value)).toEqual(['write', 'read']);
    expect(row?.conversations.filter((t) => t.from === 'tool').at(-1)?.value).toContain('kept');
  }));
