import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compressorOptionsSchema, type CompressorSummary } from '#shared/contract/compressor.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { RunStore } from '#engine/batch/run-store.ts';
import { type Engine, openEngine } from '#engine/engine.ts';
import { ensureHome } from '#engine/store/home.ts';
import { assistant, READER, record, RESOURCES, testStore, toolResult, user } from '#engine/trajectories/testing.ts';
import { type FakeModel, startFakeModel } from '../../e2e/fakes/fake-model.ts';
import { fail, gated, say, together } from '../../e2e/fakes/steps.ts';
import { compressCommand } from './compress.ts';
import { parseOptions } from './options.ts';

let dir: string;
let fake: FakeModel;
let engine: Engine;
let runId: string;
let interrupt: (() => void) | null = null;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cli-compress-'));
  fake = await startFakeModel();
  const t = testStore();
  ensureHome(t.home);
  const runs = new RunStore(t.store.db, Date.now);
  runId = runs.create({ spec: runSpecSchema.parse({ datasetFile: '/x', runName: 'nightly' }), scripted: false, outputDir: join(dir, 'nightly'), datasetSha256: '', total: 2 }).id;
  for (const [promptIndex, name] of ['one', 'two'].entries()) {
    const steps = Array.from({ length: 8 }, (_, i) => [assistant('', { toolCalls: [{ id: `c${i}`, name: 'terminal', arguments: '{"command":"ls"}' }] }), toolResult(`c${i}`, 'terminal', 'out '.repeat(200))]).flat();
    record(t, [user(`question ${name}`), ...steps, assistant('Done.')], { kind: 'batch', runId, promptIndex, tools: [{ name: 'terminal', description: 'Runs a command.', parameters: { type: 'object', properties: { command: { type: 'string' } } } }] });
  }
  runs.setState(runId, 'completed', null);
  await t.store.close();
  engine = await openEngine({ home: t.home, host: 'cli', paths: { resources: RESOURCES, reader: READER }, version: '0', env: {}, log: { info: () => {}, error: () => {} } });
});
afterAll(async () => {
  await engine.close();
  await fake.close();
  rmSync(dir, { recursive: true, force: true });
});

async function compress(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const terminal = { out: (line: string) => void (said.out += `${line}\n`), err: (line: string) => void (said.err += `${line}\n`), columns: () => null, raw: () => {} };
  const values = parseOptions(compressCommand.options, args);
  if (values === 'help') throw new Error('Nobody asked for help');
  const onInterrupt = (first: () => void) => {
    interrupt = first;
    return () => (interrupt = null);
  };
  const code = await compressCommand.run(values, { terminal, cwd: dir, now: Date.now, open: () => Promise.resolve(engine), onInterrupt }, []);
  return { code, ...said };
}

/** A row of about 2,700 tokens. */
function longRow(id: number): Record<string, unknown> {
  const pair = (k: number) => [
    { from: 'gpt', value: `<think>\nstep ${k}\n</think>\n<tool_call>\n{"name":"terminal","arguments":{}}\n</tool_call>` },
    { from: 'tool', value: `<tool_response>\n{"tool_call_id":"c","name":"terminal","content":"${'out '.repeat(200)}"}\n</tool_response>` },
  ];
  return { id, conversations: [{ from: 'system', value: 'Use tools.' }, { from: 'human', value: 'Do it.' }, ...Array.from({ length: 12 }, (_, k) => pair(k)).flat(), { from: 'gpt', value: 'Done.' }] };
}
const lines = (...rows: unknown[]): string => rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
const rowsOf = (path: string): Record<string, { was_compressed?: boolean }>[] => readFileSync(join(dir, path), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as never);
const LIMITS = ['--target_max_tokens=1500', '--summary_target_tokens=100'] as const;

// Bug: of a folder, packed files or those of an earlier pass are taken wrongly; a configuration loses against the defaults; a trial writes.
it('a folder with plain and packed files, by a configuration file, first dry', async () => {
  mkdirSync(join(dir, 'in'));
  writeFileSync(join(dir, 'in', 'a.jsonl'), lines(longRow(1), { foo: 1 }));
  writeFileSync(join(dir, 'in', 'b.jsonl.gz'), gzipSync(lines(longRow(2))));
  writeFileSync(join(dir, 'c.yaml'), `compression: {target_max_tokens: 1500, summary_target_tokens: 100}\nsummarization: {model: m, base_url: "${fake.url}"}\n`);
  const before = fake.counts.chats;
  expect(await compress('--input=in', '--config=c.yaml', '--dry_run')).toMatchObject({ code: 0, out: expect.stringContaining('2 above 1,500 tokens, 2 of them can be compressed') as string });
  expect([fake.counts.chats - before, readdirSync(join(dir, 'in'))]).toEqual([0, ['a.jsonl', 'b.jsonl.gz']]);
  fake.respond(() => say('It looked around.'));
  expect(await compress('--input=in', '--config=c.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('2 of 3 rows compressed') as string });
  expect([rowsOf('in/a_compressed.jsonl').length, rowsOf('in/b_compressed.jsonl').length, fake.counts.chats - before]).toEqual([2, 1, 2]);
  expect(await compress('--input=in', '--config=c.yaml')).toMatchObject({ code: 1, err: expect.stringMatching(/a_compressed\.jsonl exists already\..*--overwrite/) as string });
  expect(await compress('--input=in', '--config=c.yaml', '--overwrite')).toMatchObject({ code: 0, out: expect.stringContaining('2 of 3 rows compressed') as string });
  writeFileSync(join(dir, 'wrong.yaml'), 'compresion: {}\n');
  await expect(compress('--input=in', '--config=wrong.yaml')).rejects.toThrow('compresion is no key');
  await expect(compress('--input=in', '--run=nightly')).rejects.toThrow('either --input or --run');
});

// Bug: a summariser that refuses or hangs loses rows, or a person who stops finds half a file.
it('rows survive a summariser that fails or hangs; Ctrl+C leaves no file', async () => {
  writeFileSync(join(dir, 'rows.jsonl'), lines(longRow(1), '{"broken":', longRow(2)));
  const server = [`--base_url=${fake.url}`, '--model=m', ...LIMITS];
  fake.respond(() => fail(400));
  const refused = await compress('--input=rows.jsonl', '--output=refused/rows.jsonl', ...server);
  expect(refused).toMatchObject({ code: 0, out: expect.stringContaining('2 summaries could not be written') as string });
  expect(readFileSync(join(dir, 'refused', 'rows.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  fake.respond(() => together(gated('never'), say('late')));
  const hung = await compress('--input=rows.jsonl', '--output=hung/rows.jsonl', '--per_trajectory_timeout=1', ...server);
  expect(hung.out).toContain('2 took too long and stayed as they were');
  expect(readFileSync(join(dir, 'hung', 'rows.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  const asked = fake.counts.chats;
  const stopped = compress('--input=rows.jsonl', '--output=stopped/rows.jsonl', ...server);
  await fake.waitForChats(asked + 1);
  interrupt!();
  expect(await stopped).toMatchObject({ code: 130, err: expect.stringContaining('Cancelled') as string });
  expect(existsSync(join(dir, 'stopped', 'rows.jsonl'))).toBe(false);
});

// Bug: a run, or what is chosen in the Library, is read from somewhere else than its own rows, or leaves its copy behind.
it('a run by its name, and a selection of the Library', async () => {
  fake.respond(() => say('It looked around.'));
  await expect(compress('--run=nightly', `--base_url=${fake.url}`)).rejects.toThrow('nightly has no trajectories.jsonl yet');
  mkdirSync(join(dir, 'nightly'));
  writeFileSync(join(dir, 'nightly', 'trajectories.jsonl'), lines(longRow(1), longRow(2)));
  expect(await compress('--run=nightly', '--model=m', `--base_url=${fake.url}`, ...LIMITS)).toMatchObject({ code: 0, out: expect.stringContaining('2 of 2 rows compressed') as string });
  // Bug: a server that wants a key could not be used
  const locked = await startFakeModel({ apiKey: 'secret-of-this-call' });
  locked.respond(() => say('It looked around.'));
  expect((await compress('--run=nightly', '--model=m', `--base_url=${locked.url}`, '--api_key=secret-of-this-call', '--overwrite', ...LIMITS)).out).toContain('2 of 2 rows compressed');
  expect(locked.counts.chats).toBe(2);
  await locked.close();
  expect(rowsOf('nightly/trajectories_compressed.jsonl').map((row) => row['compression_metrics']!.was_compressed)).toEqual([true, true]);
  await expect(compress('--run=daily')).rejects.toThrow('There are: nightly.');
  const output = join(dir, 'chosen', 'rows.jsonl');
  const options = compressorOptionsSchema.parse({ model: 'm', baseUrl: fake.url, targetMaxTokens: 1500, summaryTargetTokens: 100 });
  let summary: CompressorSummary | null = null;
  for await (const event of await engine.client.compressor.run({ source: { kind: 'selection', filter: { query: '"question two"' }, includePartial: false, includeScripted: false }, options, output, overwrite: false })) if (event.type === 'done') ({ summary } = event);
  expect(summary).toMatchObject({ rows: 1, compressed: 1, files: [{ output }] });
  expect(JSON.stringify(rowsOf('chosen/rows.jsonl'))).toContain('question two');
  const nothing = engine.client.compressor.run({ source: { kind: 'selection', filter: { query: 'geese' }, includePartial: false, includeScripted: false }, options, output, overwrite: true });
  await expect(nothing.then(async (events) => { for await (const _ of events); })).rejects.toThrow('No trajectory of this selection is fit for a file');
  expect(readdirSync(engine.home.exports).filter((name) => name.startsWith('.compress-'))).toEqual([]);
});
