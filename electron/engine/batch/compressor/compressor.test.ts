import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compressorOptionsSchema } from '#shared/contract/compressor.ts';
import { type FakeModel, startFakeModel } from '../../../../e2e/fakes/fake-model.ts';
import { fail, hangAfter, say } from '../../../../e2e/fakes/steps.ts';
import { createOpenAiChatModel } from '../../model/openai-chat.ts';
import { counterOf } from './count.ts';
import { filesOf } from './files.ts';
import { compressFiles } from './job.ts';
import { withValues } from './json-edit.ts';
import { optionsOfFile } from './options.ts';
import { planCompression, roleOf, type Turn } from './plan.ts';
import { compressTurns, SUMMARY_MARK } from './row.ts';
import { createSummariser } from './summarise.ts';

let folder: string;
let fake: FakeModel;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'compressor-'));
  fake = await startFakeModel({ respond: () => say('They looked and found it.') });
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fake.close();
});

const options = (more: object = {}) => compressorOptionsSchema.parse({ targetMaxTokens: 400, summaryTargetTokens: 50, ...more });
const count = (text: string) => Math.ceil(text.length / 4);
const text = (tokens: number) => 'abcd'.repeat(tokens);
const model = () => createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: null, model: 'm' }, { sleep: async () => {} });
const summarise = () => createSummariser({ model: model(), temperature: 0.3, targetTokens: 50, onAnswer: () => {} });

/** A talk of `rounds` calls with their responses. */
function talk(rounds: number, tokensEach = 50): Turn[] {
  const turns: Turn[] = [{ from: 'system', value: text(20) }, { from: 'human', value: 'Find it.' }];
  for (let i = 0; i < rounds; i += 1) {
    turns.push({ from: 'gpt', value: `<think>\n</think>\n<tool_call>\n{"name": "terminal", "arguments": {"command": "${text(tokensEach)}"}}\n</tool_call>` });
    turns.push({ from: 'tool', value: `<tool_response>\n${text(tokensEach)}\n</tool_response>` });
  }
  return [...turns, { from: 'gpt', value: 'Found.' }];
}

async function compress(rows: readonly unknown[], more: object = {}, name = 'in.jsonl') {
  const input = join(folder, name);
  const body = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  writeFileSync(input, name.endsWith('.gz') ? gzipSync(body) : body);
  const opts = options(more);
  const job = { files: await filesOf(input, undefined, opts.suffix), metricsFile: join(folder, 'compression_metrics.json'), options: opts, count, summarise: summarise(), onRow: () => {}, now: Date.now };
  const summary = await compressFiles(job, new AbortController().signal);
  const out = readFileSync(summary.files[0]!.output, 'utf8');
  return { summary, lines: out.split('\n').slice(0, -1), metrics: JSON.parse(readFileSync(summary.metricsFile, 'utf8')) as Record<string, Record<string, number>> };
}

// Bug (#40495, #40593): the cut parts a call from its response, and a response stands without its call.
// Bug (#7248, #50411): head and tail overlap in short rows, and protected turns are replaced or the region is inside out.
it('any row: the region is in order, touches no turn that stays, and parts no call from its response', () => {
  const turn = fc.record({ from: fc.constantFrom('system', 'human', 'gpt', 'tool', 'tool', 'gpt', 'odd'), value: fc.nat(200).map(text) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 30 }), fc.nat(10), fc.nat(1500), (turns, last, target) => {
      const opts = options({ targetMaxTokens: target + 1, protectLastTurns: last });
      const plan = planCompression(turns, turns.map((t) => count(t.value)), opts);
      if (plan.kind !== 'compress') return;
      expect(plan.start).toBeLessThan(plan.end);
      expect(plan.end).toBeLessThanOrEqual(turns.length - Math.min(last, turns.length));
      const firsts = ['system', 'human', 'gpt', 'tool'].map((role) => turns.findIndex((t) => roleOf(t) === role)).filter((at) => at >= 0);
      for (const at of firsts) expect(at < plan.start || at >= plan.end).toBe(true);
      const after = turns[plan.end];
      if (after && roleOf(after) === 'tool') expect(['gpt', 'tool']).not.toContain(roleOf(turns[plan.end - 1]!));
      expect(plan.tokens).toBeGreaterThan(opts.summaryTargetTokens);
    }),
    { numRuns: 2_000 },
  );
});

// Bug (#70243, #56415): a summary is longer than what it stands for, and the "compressed" row has more tokens than before.
it('a row never gets longer: a small region is left alone, and a talkative summary is thrown away', async () => {
  const near = [...talk(1, 10), ...talk(1, 20).slice(2, 4), { from: 'gpt', value: text(380) }];
  const opts = options({ protectLastTurns: 1 });
  fake.respond(() => say(text(900)));
  const small = await compressTurns(near, { options: opts, count, summarise: summarise(), timeoutMs: 5_000 }, new AbortController().signal);
  expect(small.turns).toEqual(near);
  expect(small.metrics).toMatchObject({ was_compressed: false, tokens_saved: 0, still_over_limit: true });
  const long = talk(8);
  const talkative = await compressTurns(long, { options: options(), count, summarise: summarise(), timeoutMs: 5_000 }, new AbortController().signal);
  expect(talkative.turns).toEqual(long);
  expect(talkative.metrics).toMatchObject({ was_compressed: false, tokens_saved: 0, compression_ratio: 1 });
});

// Bug: the summary is not marked, other turns change, or the model is not told.
it('replaces the middle by one marked human turn and keeps every other turn', async () => {
  const turns = talk(8);
  const { turns: out, metrics } = await compressTurns(turns, { options: options({ targetMaxTokens: 700 }), count, summarise: summarise(), timeoutMs: 5_000 }, new AbortController().signal);
  const { start_idx: start, end_idx: end } = metrics.compression_region;
  expect(out[start]).toEqual({ from: 'human', value: `${SUMMARY_MARK} They looked and found it.` });
  expect(out.slice(1, start)).toEqual(turns.slice(1, start));
  expect(out.slice(start + 1)).toEqual(turns.slice(end));
  expect(out[0]!.value.startsWith(turns[0]!.value)).toBe(true);
  expect(out[0]!.value).toContain('[CONTEXT SUMMARY]');
  expect(metrics).toMatchObject({ was_compressed: true, still_over_limit: false, turns_removed: turns.length - out.length, summarization_api_calls: 1 });
  expect(out.reduce((sum, turn) => sum + count(turn.value), 0)).toBe(metrics.compressed_tokens);
});

// Bug (#8086, #41512, #40728, #41856): rows whose time is up are dropped from the output.
it('as many rows come out as went in: short, long, timed out, refused, broken, of another kind', async () => {
  fake.respond(({ lastUser }) => (lastUser.includes('SLOW') ? hangAfter(0) : lastUser.includes('REFUSED') ? fail(400) : say('Short.')));
  const marked = (mark: string) => talk(8).map((turn, i) => (i === 4 ? { ...turn, value: `${mark} ${turn.value}` } : turn));
  const rows = [
    { conversations: talk(1) },
    { conversations: talk(9), id: 1 },
    { conversations: marked('SLOW') },
    { conversations: marked('REFUSED') },
    '{"conversations": [{"from": "gpt", "va',
    { messages: [{ role: 'user', content: 'another kind' }] },
    { conversations: talk(9), id: 2 },
  ];
  const { lines, summary, metrics } = await compress(rows, { timeoutPerTrajectory: 1 });
  expect(lines).toHaveLength(rows.length);
  expect(lines[4]).toBe(rows[4]);
  expect(lines[5]).toBe(JSON.stringify(rows[5]));
  const row = (i: number) => JSON.parse(lines[i]!) as { conversations: Turn[]; compression_metrics: Record<string, unknown>; id?: number };
  expect(row(0).compression_metrics).toMatchObject({ was_compressed: false, skipped_under_target: true });
  expect([row(1).id, row(6).id]).toEqual([1, 2]);
  expect(row(2).conversations).toEqual(marked('SLOW'));
  expect(row(2).compression_metrics).toMatchObject({ timed_out: true, was_compressed: false, still_over_limit: true });
  expect(row(3).conversations.some((turn) => turn.value.startsWith(SUMMARY_MARK))).toBe(true);
  expect(row(3).compression_metrics).toMatchObject({ summarization_errors: 1, was_compressed: true });
  expect(summary).toMatchObject({ rows: 7, compressed: 3, timedOut: 1, failed: 2, unreadable: [{ line: 5 }] });
  expect(metrics['summary']).toMatchObject({ total_trajectories: 7, trajectories_compressed: 3, trajectories_failed: 2, trajectories_skipped_under_target: 1 });
});

// Bug: a refused key is asked for again with every row, and each gets a note instead of a summary.
it('a refused key stops the pass at its first row, and no file is written', async () => {
  fake.respond(() => fail(401));
  await expect(compress(Array.from({ length: 20 }, () => ({ conversations: talk(9) })), { maxConcurrentRequests: 2 })).rejects.toMatchObject({ code: 'auth' });
  expect(fake.counts.chats).toBeLessThanOrEqual(2);
  expect(readdirSync(folder)).toEqual(['in.jsonl']);
});

// Bug: re-serialising changes numbers and key order of rows that were not even compressed.
it('keeps every byte of a row but what it changes', async () => {
  const line = `{"b":1.0, "conversations" : ${JSON.stringify(talk(1))},"a":12345678901234567890,"c":"\\u2028 } ]"}`;
  const { lines } = await compress([line], { rowMetrics: false });
  expect(lines[0]).toBe(line);
  const { lines: withMetrics } = await compress([line]);
  expect(withMetrics[0]!.startsWith(line.slice(0, -1))).toBe(true);
  const long = `{"b":1.0, "conversations" : ${JSON.stringify(talk(9))},"a":12345678901234567890}`;
  const { lines: shorter } = await compress([long], { rowMetrics: false });
  expect(shorter[0]).toMatch(/^\{"b":1\.0, "conversations" : \[.*\],"a":12345678901234567890\}$/);
  expect(JSON.parse(withValues('{"a": "x", "m": {"old": [1, "}"]}}', { m: '{"n": 1}' }))).toEqual({ a: 'x', m: { n: 1 } });
  expect(withValues('{}', { m: '1' })).toBe('{"m": 1}');
});

// Bug: a pass that is stopped or fails leaves half a file under the final name.
it('a stopped pass leaves no file', async () => {
  fake.respond(() => hangAfter(0));
  const input = join(folder, 'in.jsonl');
  writeFileSync(input, `${JSON.stringify({ conversations: talk(9) })}\n`.repeat(5));
  const abort = new AbortController();
  const opts = options();
  const job = { files: await filesOf(input, undefined, opts.suffix), metricsFile: join(folder, 'm.json'), options: opts, count, summarise: summarise(), onRow: () => {}, now: Date.now };
  const pass = compressFiles(job, abort.signal);
  await fake.waitForChats(1);
  abort.abort();
  await expect(pass).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(['in.jsonl']);
});

// Bug: the sample differs from run to run, or gz files are not read.
it('reads gzip, and draws the same sample for the same seed', async () => {
  const rows = Array.from({ length: 200 }, (_, i) => ({ id: i, conversations: talk(1) }));
  const ids = async (seed: number) => (await compress(rows, { samplePercent: 30, seed, rowMetrics: false }, 'in.jsonl.gz')).lines.map((line) => (JSON.parse(line) as { id: number }).id);
  const first = await ids(1);
  expect(first.length).toBeGreaterThan(30);
  expect(first.length).toBeLessThan(90);
  expect(await ids(1)).toEqual(first);
  expect(await ids(2)).not.toEqual(first);
});

// Bug: an option of a configuration file is ignored, or a misspelt one passes unseen.
it('takes the sections of a configuration file', () => {
  expect(optionsOfFile({ compression: { target_max_tokens: 29_000 }, protected_turns: { last_n_turns: 6 }, tokenizer: { name: 'org/model', trust_remote_code: true } })).toEqual({ targetMaxTokens: 29_000, protectLastTurns: 6 });
  expect(optionsOfFile(null)).toEqual({});
  expect(() => optionsOfFile({ compression: { target_tokens: 1 } })).toThrow('compression.target_tokens');
  expect(() => optionsOfFile({ summarization: { temperature: 'hot' } })).toThrow('summarization.temperature');
});

// Bug: a folder without a tokenizer silently means the estimate.
it('a tokenizer that is not there is an error', async () => {
  expect((await counterOf(undefined)).count('12345')).toBe(2);
  await expect(counterOf(folder)).rejects.toThrow('tokenizer.json');
});
