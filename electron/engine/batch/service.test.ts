import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { RunEvent } from '#shared/contract/runs.ts';
import { PROMPT_STATE_CODES } from '#shared/contract/runs.ts';
import { agentScenario } from '../../../e2e/fakes/agent.ts';
import type { Responder } from '../../../e2e/fakes/fake-model.ts';
import { callTool, contextOverflow, cutAfter, fail, say, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, readRows, testPaths, withBatch } from '../../../e2e/fixtures/batch-ground.ts';
import { createOfflineModel } from '../model/offline/offline-model.ts';
import { sqlFor } from '../store/database.ts';
import { ALL_TOOL_NAMES } from '../tools/toolsets.ts';

vi.setConfig({ testTimeout: 60_000 });

const good = together(think('I know that.'), say('An answer.'));
const always = (): Responder => () => good;

function json(path: string): Record<string, never> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, never>;
}

describe('a run to its end', () => {
  // the files and the store counted by different rules; rows of one file with different columns
  test('files, store and summary agree; rows have the shape of the reference', () =>
    withBatch(async ({ run, dataset, store, service, dir, fake }) => {
      fake.respond(agentScenario({ calls: 2 }));
      const ended = await run({ datasetFile: dataset(['one', 'two', 'three', 'four', 'five']), batchSize: 2, numWorkers: 3 });
      expect(ended).toMatchObject({ state: 'completed', message: null, total: 5, etaMs: null, turns: 15, turnsWithReasoning: 15 });
      expect(ended.states.completed).toBe(5);
      expect(ended.usage.promptTokens).toBeGreaterThan(0);
      expect(disagreements(store, ended)).toEqual([]);
      expect(readdirSync(ended.outputDir).sort()).toEqual(['batch_0.jsonl', 'batch_1.jsonl', 'batch_2.jsonl', 'checkpoint.json', 'run.yaml', 'statistics.json', 'trajectories.jsonl']);

      const rows = readRows(join(ended.outputDir, 'trajectories.jsonl'));
      expect(rows.map((r) => r.conversations[1]?.value)).toEqual(['one', 'two', 'three', 'four', 'five']);
      for (const row of rows) {
        expect(Object.keys(row)).toEqual([
          'prompt_index', 'rollout', 'conversations', 'metadata', 'completed', 'partial', 'api_calls', 'toolsets_used', 'tool_stats', 'tool_error_counts', 'reward', 'scored', 'row',
        ]);
        const whole = row as unknown as { api_calls: number; tool_stats: Record<string, object>; tool_error_counts: Record<string, number> };
        expect(whole.api_calls).toBe(3);
        expect(Object.keys(whole.tool_stats)).toEqual([...ALL_TOOL_NAMES]);
        expect(Object.keys(whole.tool_error_counts)).toEqual([...ALL_TOOL_NAMES]);
      }
      const statistics = json(join(ended.outputDir, 'statistics.json'));
      expect(statistics).toMatchObject({ total_prompts: 5, total_batches: 3, reasoning_statistics: { total_assistant_turns: 15, turns_without_reasoning: 0 } });
      expect(statistics).toMatchObject({ tool_statistics: { write_file: { count: 5, success: 5, failure: 0, success_rate: 100, failure_rate: 0 } } });
      expect(json(join(ended.outputDir, 'checkpoint.json'))).toMatchObject({
        completed_prompts: [0, 1, 2, 3, 4],
        batch_stats: { 2: { processed: 1, skipped: 0, discarded_no_reasoning: 0 } },
      });
      expect(existsSync(join(dir, 'home/workspaces/r/task_0'))).toBe(false);
      expect(service.list()).toEqual([service.get(ended.id)]);
    }));

  test('the demo dataset with the offline model', () =>
    withBatch(
      async ({ run, service, store, fake }) => {
        const ended = await run({ datasetFile: service.options().demoDataset, numWorkers: 8, maxTurns: 30 });
        expect(ended).toMatchObject({ state: 'completed', scripted: true });
        expect(ended.states.completed).toBeGreaterThan(8);
        expect(ended.states.pending).toBe(0);
        expect(disagreements(store, ended)).toEqual([]);
        expect(readRows(join(ended.outputDir, 'trajectories.jsonl')).every((r) => r.metadata.scripted)).toBe(true);
        expect(fake.counts.chats).toBe(0);
      },
      { model: () => createOfflineModel({ resources: testPaths.resources, pace: 0 }) },
    ), 60_000);

  // a watcher that joins late, or misses a change, shows wrong squares for ever
  test('a watcher sees a snapshot, then every change', () =>
    withBatch(async ({ service, dataset, spec, fake, store }) => {
      fake.respond(() => ({ ...good, gate: { name: 'go' } }));
      const { id } = await service.start(spec({ datasetFile: dataset(['a', 'b', 'c', 'd']), numWorkers: 2 }));
      await fake.waitForChats(2);
      const codes: string[] = [];
      const events: RunEvent[] = [];
      for await (const event of service.watch(id)) {
        events.push(event);
        if (event.type === 'snapshot') {
          codes.push(...event.codes);
          expect(event.codes).toBe('rr..');
          expect(event.active.map((a) => a.prompt)).toEqual(['a', 'b']);
          fake.release('go');
        } else for (const c of event.changed) codes[c.index] = PROMPT_STATE_CODES[c.state];
        if (event.run.state === 'completed') break;
      }
      expect(codes.join('')).toBe('cccc');
      expect(events[0]?.type).toBe('snapshot');
      expect(events.at(-1)).toMatchObject({ active: [], run: { states: { completed: 4 } } });
      expect(store.db.all(sqlFor.selectFrom('prompts').select('state')).map((p) => p.state)).toEqual(['completed', 'completed', 'completed', 'completed']);
    }));
});

describe('resume', () => {
  // two rows of one prompt, and tokens of the first attempt forgotten
  test('a new attempt replaces the failed one, and its tokens stay counted', () =>
    withBatch(async ({ run, dataset, fake, service, settled, resumed, store }) => {
      const usage = { prompt: 100, completion: 10 };
      fake.script({ ...callTool('terminal', { command: 'true' }), usage }, fail(400, { message: 'not now' }));
      const failed = await run({ datasetFile: dataset(['a']) });
      expect(failed).toMatchObject({ state: 'completed', states: { failed: 1 }, usage: { promptTokens: 100, completionTokens: 10 } });
      fake.script({ ...good, usage });
      expect((await resumed(failed.id)).states).toMatchObject({ failed: 1, completed: 0 });
      await service.retry({ id: failed.id, what: 'failed' });
      const ended = await settled(failed.id);
      expect(ended).toMatchObject({ states: { completed: 1 }, usage: { promptTokens: 200, completionTokens: 20 }, turns: 1 });
      expect(disagreements(store, ended)).toEqual([]);
      expect(json(join(ended.outputDir, 'statistics.json'))).toMatchObject({ tokens: { prompt: 200, of_repeated_attempts: 110 } });
      expect(ended.elapsedMs).toBeGreaterThan(failed.elapsedMs);
    }));

  test('pause lets running prompts end and takes no new ones', () =>
    withBatch(async ({ service, dataset, spec, fake, settled, resumed, store }) => {
      fake.respond(() => ({ ...good, gate: { name: 'go' } }));
      const { id } = await service.start(spec({ datasetFile: dataset(['a', 'b', 'c']), numWorkers: 1 }));
      await fake.waitForChats(1);
      expect(service.pause(id).state).toBe('pausing');
      await expect(service.remove(id)).rejects.toMatchObject({ code: 'conflict' });
      fake.release('go');
      const paused = await settled(id);
      expect(paused).toMatchObject({ state: 'paused', states: { completed: 1, pending: 2 } });
      expect(disagreements(store, paused)).toEqual([]);
      expect((await resumed(id)).states.completed).toBe(3);
      expect(fake.counts.chats).toBe(3);
    }));

  // engine killed in the middle: as a new process finds it
  test('what a crash left running is pending again, and a half-stored run is gone', () =>
    withBatch(async ({ service, dataset, fake, run, resumed, store }) => {
      fake.respond(always());
      const ended = await run({ datasetFile: dataset(['a', 'b']) });
      store.db.run(sqlFor.updateTable('prompts').set({ state: 'running' }).where('idx', '=', 1));
      store.db.run(sqlFor.updateTable('runs').set({ state: 'running' }));
      store.db.run(
        sqlFor.insertInto('runs').values({ id: 'half', name: 'half', state: 'running', spec: '{}', scripted: 0, output_dir: '/x', dataset_sha256: '', total: 9, created_at: 1 }),
      );
      service.recover();
      expect(service.list().map((r) => [r.name, r.state])).toEqual([['r', 'interrupted']]);
      expect(service.get(ended.id).states).toMatchObject({ completed: 1, pending: 1 });
      const again = await resumed(ended.id);
      expect(fake.counts.chats).toBe(3);
      expect(disagreements(store, again)).toEqual([]);
    }));
});

describe('files are projections of the store', () => {
  // a torn last line that swallows the next row, lost rows, doubled rows, rows of another run
  test('any damage is mended on resume without asking the model', () =>
    withBatch(async ({ run, dataset, fake, resumed, store }) => {
      fake.respond(agentScenario({ calls: 1 }));
      const ended = await run({ datasetFile: dataset(['a', 'b', 'c', 'd', 'e', 'f', 'g']) });
      const chats = fake.counts.chats;
      const path = (n: number) => join(ended.outputDir, `batch_${n}.jsonl`);
      const damage = fc.record({
        file: fc.constantFrom(0, 1, 2),
        kind: fc.constantFrom('truncate', 'delete', 'double', 'stranger', 'noise', 'torn tail', 'merged gone'),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
          for (const { file, kind, at } of damages) {
            const target = path(file);
            const whole = existsSync(target) ? readFileSync(target) : Buffer.alloc(0);
            if (kind === 'truncate' && whole.length > 0) truncateSync(target, Math.floor(whole.length * at));
            else if (kind === 'delete') rmSync(target, { force: true });
            else if (kind === 'double') appendFileSync(target, whole);
            else if (kind === 'stranger') appendFileSync(target, `${JSON.stringify({ prompt_index: file * 3, metadata: { trajectory_id: 'other' } })}\n`);
            else if (kind === 'noise') writeFileSync(target, Buffer.concat([Buffer.from('{"prompt_index": 0, \n\n\x00'), whole]));
            else if (kind === 'torn tail') appendFileSync(target, whole.subarray(0, Math.floor(whole.length * at)));
            else rmSync(join(ended.outputDir, 'trajectories.jsonl'), { force: true });
          }
          const again = await resumed(ended.id);
          expect(again).toMatchObject({ state: 'completed', message: null });
          expect(disagreements(store, again)).toEqual([]);
        }),
        { numRuns: 20 },
      );
      expect(fake.counts.chats).toBe(chats);
    }));

  test.each([
    ['a folder in the way', (path: string) => void mkdirSync(path, { recursive: true }), /cannot be written.*resume/i],
    ['a full disk', (path: string) => symlinkSync('/dev/full', path), /no space left.*resume/i],
  ])('%s stops the run with what to do; resume writes what was missing', (name, block, message) =>
    withBatch(async ({ run, dataset, fake, resumed, store, out }) => {
      if (name === 'a full disk' && !existsSync('/dev/full')) return;
      const target = join(out, 'r', 'batch_1.jsonl');
      fake.respond((r) => {
        // takes the place of the batch file between two prompts
        if (r.prompt === 'b') block(target);
        return good;
      });
      const stopped = await run({ datasetFile: dataset(['a', 'b', 'c', 'd']), batchSize: 1, numWorkers: 1 });
      expect(stopped.state).toBe('paused');
      expect(stopped.message).toMatch(message);
      expect(stopped.states).toMatchObject({ completed: 2, pending: 2 });
      rmSync(target, { recursive: true });
      const ended = await resumed(stopped.id);
      expect(ended).toMatchObject({ state: 'completed', states: { completed: 4 } });
      expect(fake.counts.chats).toBe(4);
      expect(disagreements(store, ended)).toEqual([]);
    }));

  test('names and folders that are taken are refused, and nothing of the attempt stays', () =>
    withBatch(async ({ run, service, dataset, spec, fake, out }) => {
      fake.respond(always());
      const datasetFile = dataset(['a']);
      await run({ datasetFile });
      await expect(service.start(spec({ datasetFile }))).rejects.toMatchObject({ code: 'conflict', field: 'runName', message: expect.stringContaining('exists already') as string });
      mkdirSync(join(out, 'other'));
      writeFileSync(join(out, 'other', 'batch_0.jsonl'), '');
      await expect(service.start(spec({ datasetFile, runName: 'other' }))).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('holds the output of another run') as string });
      const twice = await Promise.allSettled([service.start(spec({ datasetFile, runName: 'twin' })), service.start(spec({ datasetFile, runName: 'twin' }))]);
      expect(twice.map((t) => t.status).sort()).toEqual(['fulfilled', 'rejected']);
      await expect(service.start(spec({ datasetFile, runName: 'x', distribution: 'nonsense' }))).rejects.toMatchObject({ code: 'invalid', field: 'distribution' });
      await expect(service.start(spec({ datasetFile: `${datasetFile}.no`, runName: 'x' }))).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile' });
      expect(service.list().map((r) => r.name).sort()).toEqual(['r', 'twin']);
    }));

  // output files that the next cleaning takes away, also by another way into the folder
  test('an output folder among the workspaces is refused', () =>
    withBatch(async ({ service, dataset, spec, dir }) => {
      const workspaces = join(dir, 'home', 'workspaces');
      symlinkSync(workspaces, join(dir, 'way'), 'junction');
      for (const [outputDir, runName] of [[workspaces, 'x'], [join(workspaces, 'deep', 'er'), 'x'], [join(dir, 'way'), 'x'], [join(dir, 'home'), 'workspaces']]) {
        await expect(service.start(spec({ datasetFile: dataset(['a']), outputDir, runName: runName ?? '' })), outputDir).rejects.toMatchObject({ code: 'invalid', field: 'outputDir' });
      }
      expect(service.list()).toEqual([]);
    }));

  test('remove takes the trajectories and leaves the files', () =>
    withBatch(async ({ run, service, dataset, fake, store }) => {
      fake.respond(always());
      const ended = await run({ datasetFile: dataset(['a', 'b']) });
      const watcher = service.watch(ended.id);
      await watcher.next();
      expect(await service.remove(ended.id)).toEqual({ removed: 2 });
      expect((await watcher.next()).done).toBe(true);
      expect(store.db.all(sqlFor.selectFrom('messages').select('seq'))).toEqual([]);
      expect(service.list()).toEqual([]);
      expect(() => service.get(ended.id)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
      expect(readRows(join(ended.outputDir, 'trajectories.jsonl'))).toHaveLength(2);
    }));
});

describe('faults', () => {
  // a wrong key that is tried on every prompt and each time counted as work done
  test('a 401 stops the run at once with the words of the provider; resume with the right key goes on', () =>
    withBatch(
      async ({ service, dataset, spec, fake, settled, store }) => {
        fake.respond(always());
        const { id } = await service.start(spec({ datasetFile: dataset(Array.from({ length: 20 }, (_, i) => `p${i}`)), numWorkers: 4 }), { apiKey: 'wrong' });
        const stopped = await settled(id);
        expect(stopped.state).toBe('failed');
        expect(stopped.message).toMatch(/key.*The provider said: “.+” Resume/i);
        expect(stopped.states.completed + stopped.states.partial).toBe(0);
        expect(stopped.states.failed).toBeGreaterThan(0);
        expect(stopped.states.pending).toBeGreaterThanOrEqual(16);
        expect(fake.requests.length).toBeLessThanOrEqual(4);
        expect(disagreements(store, stopped)).toEqual([]);
        await service.resume(id, { apiKey: 'right' });
        const ended = await settled(id);
        expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 20 } });
        expect(disagreements(store, ended)).toEqual([]);
        expect(JSON.stringify(store.db.all(sqlFor.selectFrom('runs').selectAll()))).not.toMatch(/right|wrong/);
      },
      { apiKey: 'right' },
    ));

  test('429 waits as long as it is told; a cut stream is asked again and leaves no trace', () =>
    withBatch(async ({ run, dataset, fake, waits, store }) => {
      fake.script(fail(429, { retryAfter: 7 }), { ...good, fault: { kind: 'cut', afterChunks: 1 } }, together(good, cutAfter(2)), good);
      const ended = await run({ datasetFile: dataset(['a']) });
      expect(ended.states.completed).toBe(1);
      expect(waits[0]).toBe(7000);
      expect(fake.unused).toBe(0);
      expect(readRows(join(ended.outputDir, 'trajectories.jsonl'))[0]?.conversations.slice(1)).toEqual([
        { from: 'human', value: 'a' },
        { from: 'gpt', value: '<think>\nI know that.\n</think>\nAn answer.' },
      ]);
      expect(disagreements(store, ended)).toEqual([]);
    }));

  test('one bad row harms no other, whatever is bad about it', () =>
    withBatch(async ({ service, spec, dataset, fake, settled, resumed, store, errors }) => {
      fake.respond((r) => {
        if (r.prompt === 'overflow') return contextOverflow();
        if (r.prompt === 'refused') return fail(400, { message: 'no such thing' });
        if (r.prompt === 'arguments') return together(think('t'), callTool('terminal', '{"command": '));
        if (r.prompt === 'tool' && r.turnsSinceUser === 0) return together(think('t'), callTool('__proto__', {}));
        return good;
      });
      const prompts = ['ok 1', 'overflow', 'refused', 'arguments', 'tool', 'defect', 'ok 2'];
      const { id } = await service.start(spec({ datasetFile: dataset(prompts), numWorkers: 1, maxTurns: 4 }));
      // a defect of ours: the stored prompt cannot be read
      await fake.waitForChats(1);
      store.db.run(sqlFor.updateTable('prompts').set({ toolsets: 'not json' }).where('idx', '=', 5));
      const ended = await settled(id);
      const items = service.prompts({ id, after: -1, limit: 50 }).items;
      expect(items.map((p) => `${p.prompt}: ${p.state}`)).toEqual([
        'ok 1: completed',
        'overflow: failed',
        'refused: failed',
        'arguments: partial',
        'tool: completed',
        'defect: failed',
        'ok 2: completed',
      ]);
      expect(items[2]?.reason).toContain('no such thing');
      expect(items[5]?.reason).toMatch(/SyntaxError[\s\S]*\n\s+at /);
      expect(errors).toEqual(['Prompt 5 of run r failed unexpectedly']);
      expect(ended.state).toBe('completed');
      expect('count' in {}).toBe(false);
      // what called a tool that does not exist is not among the good rows
      expect(readRows(join(ended.outputDir, 'trajectories.jsonl')).map((r) => [r.prompt_index, r.completed, r.partial])).toEqual([
        [0, true, false],
        [3, false, true],
        [4, false, true],
        [6, true, false],
      ]);
      store.db.run(sqlFor.updateTable('prompts').set({ toolsets: '[]' }).where('idx', '=', 5));
      fake.respond(always());
      // what cannot be right the next time is not paid for again
      const again = await resumed(id);
      expect(again).toMatchObject({ states: { completed: 4, partial: 1, failed: 2 }, causes: { context_overflow: 1, bad_request: 1 } });
      expect(disagreements(store, again)).toEqual([]);
      await service.retry({ id, what: 'failed' });
      expect((await settled(id)).states).toMatchObject({ completed: 6, partial: 1, failed: 0 });
    }));

  test('when nothing listens, ten failures in a row stop the run', () =>
    withBatch(async ({ run, dataset, fake, store }) => {
      await fake.close();
      const stopped = await run({ datasetFile: dataset(Array.from({ length: 40 }, (_, i) => `p${i}`)), numWorkers: 4 });
      expect(stopped.state).toBe('failed');
      expect(stopped.message).toMatch(/10 prompts in a row failed for the same reason: Nothing listens at/);
      expect(stopped.states.failed).toBeGreaterThanOrEqual(10);
      expect(stopped.states.pending).toBeGreaterThan(20);
      expect(disagreements(store, stopped)).toEqual([]);
    }));

  // one slow prompt that holds up its batch
  test('a slow prompt does not keep the others waiting', () =>
    withBatch(async ({ service, dataset, spec, fake, settled }) => {
      fake.respond((r) => (r.prompt === 'slow' ? { ...good, gate: { name: 'slow' } } : good));
      const { id } = await service.start(spec({ datasetFile: dataset(['slow', ...Array.from({ length: 9 }, (_, i) => `p${i}`)]), numWorkers: 2, batchSize: 1 }));
      for await (const { run } of service.watch(id)) if (run.states.completed === 9) break;
      expect(service.get(id).states).toMatchObject({ running: 1, completed: 9 });
      fake.release('slow');
      expect((await settled(id)).states.completed).toBe(10);
    }));
});
