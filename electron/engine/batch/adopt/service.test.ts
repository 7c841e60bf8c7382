import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AdoptEvent } from '#shared/contract/adopt.ts';
import { say, think, together } from '../../../../e2e/fakes/steps.ts';
import { type BatchGround, disagreements, readRows, withBatch } from '../../../../e2e/fixtures/batch-ground.ts';
import { sqlFor } from '../../store/database.ts';
import { getMessages } from '../../trajectories/query.ts';
import { RunStore } from '../run-store.ts';
import { AdoptService } from './service.ts';
import { takeOver } from './take-over.ts';

const SYSTEM = 'You are a function calling AI model. You are provided with function signatures within <tools> </tools> XML tags.\n<tools>\n[{"name": "terminal", "description": "Runs.", "parameters": {"type": "object"}, "required": null}]\n</tools>\nFor each function call return a JSON object.';

/** A row as Hermes Agent's batch runner writes it, Python's spacing and all. */
function row(index: number, prompt: string, more: { answer?: string; completed?: boolean; partial?: boolean; batch?: number; gpt?: boolean } = {}): string {
  const { answer = `Answer to ${prompt}`, completed = true, partial = false, batch = 0, gpt = true } = more;
  const conversations = [
    { from: 'system', value: SYSTEM },
    { from: 'human', value: prompt },
    ...(gpt
      ? [
          { from: 'gpt', value: '<think>\nI look.\n</think>\n<tool_call>\n{"name": "terminal", "arguments": {"command": "echo \'</tool_call>\'"}}\n</tool_call>' },
          { from: 'tool', value: '<tool_response>\n{"tool_call_id": "call_1", "name": "terminal", "content": {"output": "x", "exit_code": 0}}\n</tool_response>' },
          { from: 'gpt', value: `<think>\n</think>\n${answer}` },
        ]
      : []),
  ];
  return `${JSON.stringify({ prompt_index: index, conversations, metadata: { batch_num: batch, timestamp: '2026-03-30T14:22:31.456789', model: 'anthropic/claude-sonnet-4.6' }, completed, partial, api_calls: 2, toolsets_used: ['terminal', 'moa'], tool_stats: { terminal: { count: 1, success: 1, failure: 0 } }, tool_error_counts: { terminal: 0 } })}\n`;
}

/** A folder of a run with the faults of that runner. */
function oldFolder(ground: BatchGround, files: Record<string, string>, checkpoint: object | null, statistics: object | null = { run_name: 'old', batch_size: 2, model: 'anthropic/claude-sonnet-4.6', distribution: 'terminal_only' }): string {
  const folder = join(ground.dir, 'old-run');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if (checkpoint) writeFileSync(join(folder, 'checkpoint.json'), JSON.stringify(checkpoint));
  if (statistics) writeFileSync(join(folder, 'statistics.json'), JSON.stringify(statistics));
  return folder;
}

function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}

const service = ({ store, service: runs }: BatchGround) => new AdoptService({ db: store.db, now: Date.now, start: (spec, key, prepare) => runs.start(spec, key, prepare) });

async function adopted(events: AsyncIterable<AdoptEvent>): Promise<Extract<AdoptEvent, { type: 'done' }>> {
  for await (const event of events) if (event.type === 'done') return event;
  throw new Error('It did not end');
}

const asked = (ground: BatchGround) => ground.fake.chats.map((c) => c.body.messages.find((m) => m.role === 'user')?.content);
const answer = () => together(think('New.'), say('A new answer.'));

describe('a run of Hermes Agent is taken over', () => {
  // Bug: paid work is done again because an id stands twice, a row is in another file than its index says, or a line is torn.
  test('rows in any file, ids twice, torn and broken lines, failures saved as rows: exactly what is missing runs', () =>
    withBatch(async (ground) => {
      ground.fake.respond(answer);
      const prompts = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];
      const folder = oldFolder(
        ground,
        {
          // index 5 was appended to the first file, as after a resume that counted batches anew
          'batch_0.jsonl': row(0, 'zero') + row(5, 'five', { completed: false }),
          'batch_10.jsonl': `${row(2, 'two')}not json\n${row(6, 'six', { gpt: false })}`,
          'batch_2.jsonl': `${row(1, ' one\r\n')}{"prompt_index": 4, "conversa`,
          'trajectories.jsonl': row(0, 'zero'),
        },
        // 3 was discarded: done, and nowhere a row
        { run_name: 'old', completed_prompts: [0, 1, 0, 2, 5, 3, 3], batch_stats: {}, last_updated: 'x' },
      );
      const before = fingerprint(folder);
      const datasetFile = ground.dataset(prompts);
      const report = await service(ground).inspect({ folder, dataset: { datasetFile, datasetShape: 'auto', columns: {} } });
      expect(report).toEqual({
        folder, runName: 'old', model: 'anthropic/claude-sonnet-4.6', batchSize: 2, distribution: 'terminal_only', files: ['batch_0.jsonl', 'batch_2.jsonl', 'batch_10.jsonl'],
        rows: 4, badLines: 2, failedRows: 1, checkpointIds: 5, checkpointRepeats: 2, dataset: { rows: 7, matched: 4, moved: 0, discarded: 1, pending: 2, repeats: 0, strangers: 0 },
      });
      const { id, report: done } = await adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile, batchSize: 2 }) }));
      expect(done).toEqual(report);
      const run = await ground.settled(id);
      expect(run).toMatchObject({ state: 'completed', states: { completed: 5, partial: 1, discarded: 1 }, causes: { no_reasoning: 1 } });
      expect(asked(ground).toSorted()).toEqual(['four', 'six']);
      expect(disagreements(ground.store, run)).toEqual([]);
      expect(fingerprint(folder)).toBe(before);

      const rows = readRows(join(run.outputDir, 'trajectories.jsonl'));
      expect(rows.map((r) => [r.prompt_index, r.metadata.model])).toEqual([[0, 'anthropic/claude-sonnet-4.6'], [1, 'anthropic/claude-sonnet-4.6'], [2, 'anthropic/claude-sonnet-4.6'], [4, 'fake-model'], [5, 'anthropic/claude-sonnet-4.6'], [6, 'fake-model']]);
      expect(rows[0]!.conversations.slice(1).map((t) => t.value)).toEqual([
        'zero',
        '<think>\nI look.\n</think>\n<tool_call>\n{"name": "terminal", "arguments": {"command": "echo \'\\u003c/tool_call>\'"}}\n</tool_call>',
        '<tool_response>\n{"tool_call_id": "call_1", "name": "terminal", "content": {"output": "x", "exit_code": 0}}\n</tool_response>',
        '<think>\n</think>\nAnswer to zero',
      ]);
      const t = ground.store.db.get(sqlFor.selectFrom('trajectories').selectAll().where('run_id', '=', id).where('prompt_index', '=', 0))!;
      expect(t).toMatchObject({ kind: 'batch', provider: 'hermes-agent', exit_reason: 'completed', outcome: 'completed', api_calls: 2, turns: 2, tool_calls: 1, toolsets: '["terminal","moa"]' });
      expect(getMessages(ground.store.db, t.n, -1, 10)[1]!.toolCalls).toEqual([{ id: 'call_1', name: 'terminal', arguments: '{"command": "echo \'</tool_call>\'"}' }]);
      expect(rows[4]).toMatchObject({ completed: false, partial: true });

      // and it is a run like any other from now on
      const again = await ground.resumed(id);
      expect(again.states).toEqual(run.states);
      expect(ground.fake.counts.chats).toBe(2);
    }));

  // Bug: an index of the checkpoint is believed after rows were inserted, so prompts are skipped that never ran.
  test('of an edited dataset rows are found by their prompt, and ids of the checkpoint mean nothing', () =>
    withBatch(async (ground) => {
      ground.fake.respond(answer);
      const folder = oldFolder(ground, { 'batch_0.jsonl': row(0, 'zero') + row(1, 'one') + row(2, 'gone') }, { completed_prompts: [0, 1, 2, 3] });
      const datasetFile = ground.dataset(['new', 'zero', 'one', 'more']);
      const { id, report } = await adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile }) }));
      expect(report.dataset).toEqual({ rows: 4, matched: 2, moved: 2, discarded: 0, pending: 2, repeats: 0, strangers: 1 });
      expect((await ground.settled(id)).states).toMatchObject({ completed: 4 });
      expect(asked(ground).toSorted()).toEqual(['more', 'new']);
    }));

  // Bug: a prompt that stands twice on purpose gets one row, or two of the same.
  test('equal prompts take as many rows as there are; of two rows for one prompt the completed one counts', () =>
    withBatch(async (ground) => {
      ground.fake.respond(answer);
      const folder = oldFolder(ground, { 'batch_0.jsonl': row(0, 'A', { answer: 'first' }) + row(0, 'A', { answer: 'second' }) + row(3, 'B', { completed: false, partial: true }) + row(3, 'B', { answer: 'better' }) }, null, null);
      const { id, report } = await adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile: ground.dataset(['A', 'A', 'A', 'B']) }) }));
      expect(report.dataset).toMatchObject({ matched: 3, moved: 0, repeats: 1, pending: 1 });
      const run = await ground.settled(id);
      expect(asked(ground)).toEqual(['A']);
      expect(readRows(join(run.outputDir, 'trajectories.jsonl')).map((r) => r.conversations.at(-1)!.value.split('\n').at(-1))).toEqual(['first', 'second', 'A new answer.', 'better']);
    }));

  test('the filters of the new run decide on the rows too', () =>
    withBatch(async (ground) => {
      ground.fake.respond(answer);
      const folder = oldFolder(ground, { 'batch_0.jsonl': row(0, 'zero', { answer: "I'm sorry, but I can't help with that." }) + row(1, 'one') }, null);
      const { id } = await adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile: ground.dataset(['zero', 'one']), filters: ['refused'] }) }));
      const run = await ground.settled(id);
      expect(run).toMatchObject({ states: { completed: 1, discarded: 1 }, causes: { refused: 1 } });
      expect(ground.fake.counts.chats).toBe(0);
      expect(disagreements(ground.store, run)).toEqual([]);
    }));

  // Bug: half a run is left when somebody thinks better of it, and its prompts run when it is resumed.
  test('what goes wrong on the way leaves nothing', () =>
    withBatch(async (ground) => {
      const folder = oldFolder(ground, { 'batch_0.jsonl': row(0, 'zero') + row(1, 'one') }, null);
      const datasetFile = ground.dataset(['zero', 'one', 'two']);
      for await (const event of service(ground).run({ folder, spec: ground.spec({ datasetFile }) })) if (event.type === 'progress') break;
      const abort = new AbortController();
      abort.abort(new Error('enough'));
      await expect(adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile }) }, abort.signal))).rejects.toThrow('enough');
      const fails = service(ground).run({ folder, spec: ground.spec({ datasetFile: ground.dataset(['other']) }) });
      await expect(adopted(fails)).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile' });
      // into its own folder
      await expect(adopted(service(ground).run({ folder, spec: ground.spec({ datasetFile, runName: 'old-run', outputDir: ground.dir }) }))).rejects.toMatchObject({ code: 'conflict' });
      expect(ground.service.list()).toEqual([]);
      expect(ground.store.db.all(sqlFor.selectFrom('trajectories').select('id'))).toEqual([]);
      expect(ground.fake.counts.chats).toBe(0);
    }));

  // Bug: after a kill in the middle, what was not taken over yet counts as not run, and is paid again.
  test('a crash on the way leaves nothing', () =>
    withBatch(async (ground) => {
      const { db } = ground.store;
      const start = ground.service.start(ground.spec({ datasetFile: ground.dataset(['zero', 'one']) }), {}, (run) => {
        takeOver(db, run, 0, JSON.parse(row(0, 'zero')) as object, Date.now);
        // what the next start of the engine does
        expect(new RunStore(db, Date.now).interruptOpenRuns('killed')).toEqual([]);
        return Promise.reject(new Error('killed'));
      });
      await expect(start).rejects.toThrow('killed');
      for (const table of ['runs', 'prompts', 'trajectories'] as const) expect(db.all(sqlFor.selectFrom(table).selectAll())).toEqual([]);
    }));

  test('a folder that is none is refused with the reason', () =>
    withBatch(async (ground) => {
      const s = service(ground);
      await expect(s.inspect({ folder: 'relative' })).rejects.toMatchObject({ code: 'invalid', field: 'folder' });
      await expect(s.inspect({ folder: join(ground.dir, 'none') })).rejects.toThrow(/it does not exist/);
      mkdirSync(join(ground.dir, 'empty'));
      await expect(s.inspect({ folder: join(ground.dir, 'empty') })).rejects.toThrow(/holds no batch_<n>.jsonl/);
      ground.fake.respond(answer);
      const own = await ground.run({ datasetFile: ground.dataset(['a']) });
      await expect(s.inspect({ folder: own.outputDir })).rejects.toThrow(/run of Talaria/);
      const odd = oldFolder(ground, { 'batch_0.jsonl': '[]\nnull\n{"conversations": 3}\n{"conversations": [{"from": "human", "value": 3}]}\n\0\0\n\n' }, [1, 2]);
      expect(await s.inspect({ folder: odd })).toMatchObject({ rows: 0, badLines: 5, checkpointIds: 0 });
      symlinkSync('/dev/zero', join(odd, 'batch_1.jsonl'));
      await expect(s.inspect({ folder: odd })).rejects.toThrow(/is not a file/);
    }));
});
