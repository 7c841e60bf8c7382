import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ExportEvent, type ExportRequest, type ExportSummary, groupOptionsSchema } from '#shared/contract/exports.ts';
import type { Message } from '#shared/trajectory.ts';
import { sqlFor } from '../../store/database.ts';
import { Readers } from '../../store/readers.ts';
import { assistant, READER, record, testStore, toolResult, user } from '../testing.ts';
import { ExportService } from './service.ts';

let t: ReturnType<typeof testStore>;
let worker: Readers;
let service: ExportService;
beforeEach(() => {
  t = testStore();
  worker = new Readers(READER, t.store.file, 1);
  service = new ExportService(join(t.home, 'exports'), worker);
});
afterEach(async () => {
  await worker.close();
  await t.close();
});

const request = (more: Partial<ExportRequest> = {}): ExportRequest => ({
  filter: {},
  format: 'sharegpt',
  file: 'set',
  context: 'full',
  includePartial: false,
  includeScripted: false,
  groups: groupOptionsSchema.parse({}),
  overwrite: false,
  ...more,
});

async function run(r: ExportRequest): Promise<ExportSummary> {
  let last: ExportEvent | undefined;
  for await (const e of service.run(r)) last = e;
  if (last?.type !== 'done') throw new Error('no summary');
  return last.summary;
}

const lines = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8').trimEnd().split('\n').map((l) => JSON.parse(l) as Record<string, unknown>);

describe('exports', () => {
  // Bug: reviews, which hold other conversations, and the doubled answers of skill trials get into a training set unasked.
  test('reviews and trials of skills are written only when their kind, or they themselves, are chosen', async () => {
    record(t, [user('work'), assistant('done')], { kind: 'chat' });
    record(t, [user('look back'), assistant('nothing to keep')], { kind: 'review' });
    record(t, [user('try'), assistant('tried')], { kind: 'trial' });
    const all = await run(request());
    expect(all.written).toBe(1);
    expect(Object.fromEntries(all.leftOut.map(({ reason, count }) => [reason, count]))).toEqual({
      'of a kind that is written only when it is chosen: trial': 1,
      'of a kind that is written only when it is chosen: review': 1,
    });
    expect((await run(request({ file: 'reviews', filter: { kinds: ['review'] } }))).written).toBe(1);
    expect((await run(request({ file: 'one', filter: { ids: [all.leftOut[0]!.exampleId] } }))).written).toBe(1);
  });

  test('written plus left out is what was selected, each with its reason, and every row has the same keys', async () => {
    record(t, [user('good'), assistant('fine')]);
    record(t, [user('again'), assistant('fine too', { reasoning: 'r' })]);
    record(t, [user('toy'), assistant('fine')], { scripted: true });
    record(t, [user('open'), assistant('…')], {}, false);
    record(t, [user('lost'), assistant('', { toolCalls: [{ id: 'c', name: 'nope', arguments: '{}' }] }), toolResult('c', 'nope', 'e'), assistant('x')]);
    const summary = await run(request());
    expect(summary.written).toBe(2);
    expect(Object.fromEntries(summary.leftOut.map((l) => [l.reason, l.count]))).toEqual({
      'made by the scripted demo model': 1,
      'still running': 1,
      'calls a tool that was not offered': 1,
    });
    const rows = lines(summary.file);
    expect(rows.map((r) => (r['conversations'] as { value: string }[])[1]!.value)).toEqual(['good', 'again']);
    expect(new Set(rows.map((r) => Object.keys(r).join())).size).toBe(1);
    expect(summary.bytes).toBe(readFileSync(summary.file).length);
    expect(await service.preview(request())).toMatchObject({ written: summary.written, leftOut: summary.leftOut });
  });

  // with overwriting asked for, an export to the home replaced talaria.db or .env; system errors came as they were
  test('files of the home are never written over, and names that cannot be are refused in words', async () => {
    record(t, [user('q'), assistant('a')]);
    const before = readFileSync(t.store.file);
    await expect(run(request({ file: t.store.file, overwrite: true }))).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('keeps its own files') as string });
    await expect(run(request({ file: join(t.home, 'exports', '..', '.env'), overwrite: true }))).rejects.toMatchObject({ code: 'invalid' });
    expect(readFileSync(t.store.file).equals(before)).toBe(true);
    await expect(run(request({ file: 'a\0b' }))).rejects.toMatchObject({ code: 'invalid' });
    await expect(run(request({ file: 'x'.repeat(300) }))).rejects.toMatchObject({ code: 'invalid', message: 'The file name is too long.' });
    expect(readdirSync(service.folder)).toEqual([]);
  });

  // Bug: the full form loses what was compressed or holds the summary; the compressed one is the same as the full one.
  test('a compressed conversation in either form; deleted ones in neither', async () => {
    const compaction = { from: 3, to: 4, method: 'model', tokensBefore: 100, tokensAfter: 10 } as const;
    const messages: Message[] = [
      { role: 'system', content: 'LIVE', createdAt: 0 }, user('first'), assistant('A1'), user('second'), assistant('A2'), user('third'),
      { ...user('SUMMARY'), synthetic: true, note: 'compaction', compaction }, assistant('A3'),
    ];
    record(t, messages);
    const gone = record(t, [user('gone'), assistant('x')]);
    t.store.db.run(sqlFor.updateTable('trajectories').set({ deleted_at: 1 }).where('id', '=', gone.id));
    const values = (file: string) => lines(file).map((row) => (row['conversations'] as { value: string }[]).slice(1).map((c) => c.value.replace('<think>\n</think>\n', '')));
    const full = await run(request());
    expect(values(full.file)).toEqual([['first', 'A1', 'second', 'A2', 'third', 'A3']]);
    const compressed = await run(request({ file: 'short', context: 'compressed' }));
    expect(values(compressed.file)).toEqual([['first', 'A1', 'SUMMARY\n\nthird', 'A3']]);
    expect(lines(full.file)[0]!['metadata']).toMatchObject({ context: 'full', summary_turn: -1 });
    expect(lines(compressed.file)[0]!['metadata']).toMatchObject({ context: 'compressed', summary_turn: 3 });
  });

  test('an existing file is kept unless overwriting is asked for', async () => {
    record(t, [user('q'), assistant('a')]);
    mkdirSync(service.folder, { recursive: true });
    const file = join(service.folder, 'set.jsonl');
    writeFileSync(file, 'mine');
    await expect(run(request())).rejects.toMatchObject({ code: 'exists' });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    await run(request({ overwrite: true }));
    expect(lines(file)).toHaveLength(1);
  });

  test('a cancelled export leaves no file, also no partial one', async () => {
    for (let i = 0; i < 300; i++) record(t, [user(`q${i}`), assistant('x'.repeat(20_000))]);
    const abort = new AbortController();
    const events = service.run(request(), abort.signal);
    await events.next();
    abort.abort();
    await expect(
      (async () => {
        for await (const e of events) if (e.type === 'done') throw new Error('it finished');
      })(),
    ).rejects.toThrow(/cancelled/);
    expect(readdirSync(service.folder)).toEqual([]);
  });

  test('when nothing is fit, no empty file is left that a trainer would choke on', async () => {
    record(t, [user('toy'), assistant('fine')], { scripted: true });
    expect(await run(request())).toMatchObject({ written: 0, file: '', bytes: 0, leftOut: [{ count: 1 }] });
    expect(readdirSync(service.folder)).toEqual([]);
  });

  test('a name cannot leave the exports folder', async () => {
    await expect(run(request({ file: '../x.jsonl' }))).rejects.toMatchObject({ code: 'invalid' });
    expect(existsSync(join(t.home, 'x.jsonl'))).toBe(false);
  });

  test('something that looks like a key is reported', async () => {
    record(t, [user('q'), assistant(`use sk-${'a1B2'.repeat(10)}`)]);
    expect((await run(request())).warnings).toMatchObject([{ reason: 'may contain a secret (API key)', count: 1 }]);
  });
});
