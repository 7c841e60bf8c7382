import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSpecSchema, type RunSpecInput } from '#shared/contract/runs.ts';
import { type Engine, openEngine } from '../../engine.ts';
import { testPaths } from '../../../../e2e/fixtures/batch-ground.ts';

let dir: string;
let engine: Engine;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'plan-test-'));
  writeFileSync(join(dir, 'p.jsonl'), `${Array.from({ length: 20 }, (_, i) => JSON.stringify({ prompt: `Task ${i}: say a few words about it, please.` })).join('\n')}\nnonsense\n`);
  mkdirSync(join(dir, 'home'));
  writeFileSync(join(dir, 'home', 'config.yaml'), 'prices:\n  lab/m: { input: 2, output: 10 }\nproviders:\n  lab: { base_url: "http://127.0.0.1:9/v1", key_env: LAB_KEY }\ndistributions:\n  mix: { toolsets: { terminal: 50, file: 50, moa: 10 } }\n');
  engine = await openEngine({ home: join(dir, 'home'), host: 'cli', paths: testPaths, version: '0', env: {}, log: { info: () => {}, error: () => {} }, outputDir: join(dir, 'out') });
});
afterAll(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const plan = (more: Partial<RunSpecInput>) => engine.client.plans.dryRun(runSpecSchema.parse({ datasetFile: join(dir, 'p.jsonl'), runName: 'r', provider: 'lab', model: 'm', ...more }));
const told = (problems: readonly { field: string | null; level: string; code: string }[]) => problems.map((p) => `${p.level} ${p.field} ${p.code}`);

// Bug: the plan promises other numbers than the run has, or a price that nobody gave.
test('a plan counts rows, rollouts and files, and reckons from the price', async () => {
  const { files, draws, estimate, problems, ...numbers } = await plan({ maxSamples: 15, rollouts: 4, batchSize: 4, maxTurns: 5, distribution: 'mix', seed: 7 });
  expect(numbers).toEqual({ rows: 20, used: 15, rejected: 1, rollouts: 60, outputDir: join(dir, 'out', 'r') });
  expect(files[0]).toEqual({ name: 'batch_<n>.jsonl', count: 4, rows: 60 });
  expect(draws).toMatchObject({ draws: 60, seeded: true, others: 0 });
  expect(draws!.combinations.reduce((sum, c) => sum + c.count, 0)).toBe(60);
  expect(await plan({ maxSamples: 15, rollouts: 4, distribution: 'mix', seed: 7 })).toMatchObject({ draws });
  expect(estimate).toMatchObject({ price: { input: 2, output: 10 }, turnsLow: 2, turnsHigh: 5, answerTokens: 400 });
  const { promptTokens: p, systemTokens: s } = estimate!;
  // two calls: everything twice, and after the first its answer and a tool result of 600 tokens
  expect(estimate!.lowUsd).toBeCloseTo((60 * ((2 * (s + p) + 1000) * 2 + 2 * 400 * 10)) / 1e6, 1);
  expect(estimate!.highUsd!).toBeGreaterThan(estimate!.lowUsd! * 2);
  expect(told(problems)).toEqual(['warning provider no_key', 'warning datasetFile rejected']);
  const unpriced = await plan({ model: 'unpriced', budgetUsd: 5 });
  // Bug: a person believes in a limit that never stops anything
  expect(told(unpriced.problems)).toContain('warning budgetUsd budget_unpriced');
  expect(unpriced.estimate).toMatchObject({ lowUsd: null, highUsd: null, price: null });
});

// Bug: a problem is found one at a time, or only when the run has begun to cost money.
test('everything in the way of a run is told at once, each at its option, and nothing is written', async () => {
  mkdirSync(join(dir, 'out', 'taken'), { recursive: true });
  writeFileSync(join(dir, 'out', 'taken', 'batch_0.jsonl'), '');
  const before = readdirSync(dir, { recursive: true }).toSorted();
  const { problems, rows } = await plan({ datasetFile: join(dir, 'none.jsonl'), runName: 'taken', provider: 'nobody', distribution: 'nothing', prefillMessagesFile: join(dir, 'p.jsonl') });
  expect(rows).toBeNull();
  expect(told(problems).toSorted()).toEqual(['error datasetFile dataset', 'error distribution distribution', 'error prefillMessagesFile prefill', 'error provider model', 'error runName output']);
  const other = await plan({ filters: ['no_reasoning'], reasoningDisabled: true, network: false, providerSort: 'price', scoring: ['numeric'], budgetUsd: 0.0001, outputDir: 'here' });
  expect(told(other.problems)).toEqual([
    'error outputDir output',
    'warning provider no_key',
    'warning datasetFile rejected',
    'warning filters nothing_kept',
    'warning network network_host',
    'warning providerSort openrouter_only',
    'warning scoring no_answers',
    'warning budgetUsd over_budget',
  ]);
  expect(readdirSync(dir, { recursive: true }).toSorted()).toEqual(before);
});

// Bug: the file of the app and the file of the command line are not read alike.
test('a run file goes out and comes back, by text and by path', async () => {
  const spec = runSpecSchema.parse({ datasetFile: join(dir, 'p.jsonl'), runName: 'r', provider: 'lab', model: 'm', numWorkers: 9, filters: [] });
  const { text } = await engine.client.plans.runFile({ spec });
  expect((await engine.client.plans.readRunFile({ text })).values).toEqual({ datasetFile: spec.datasetFile, runName: 'r', model: 'm', provider: 'lab', numWorkers: '9', filters: [] });
  writeFileSync(join(dir, 'mine.yaml'), 'dataset_file: p.jsonl\nmax_turn: 3\n');
  await expect(engine.client.plans.readRunFile({ path: join(dir, 'mine.yaml') })).rejects.toMatchObject({ code: 'INVALID', message: 'mine.yaml line 2: there is no option max_turn. Did you mean max_turns?' });
  await expect(engine.client.plans.readRunFile({ path: join(dir, 'gone.yaml') })).rejects.toMatchObject({ code: 'INVALID' });
});

// Bug: an own distribution is lost on renaming, hides a built-in one, or takes comments of config.yaml with it.
test('own distributions are listed, drawn, saved, renamed and removed', async () => {
  const { distributions } = engine.client;
  const of = async (name: string) => (await distributions.list()).items.find((one) => one.name === name);
  expect(await of('mix')).toEqual({ name: 'mix', description: '', toolsets: { terminal: 50, file: 50, moa: 10 }, skipped: [{ name: 'moa', why: 'not_built' }], usable: true, own: true });
  const draws = await distributions.preview({ toolsets: { terminal: 100, file: 25, moa: 90 } });
  expect(draws).toMatchObject({ draws: 1000, others: 0 });
  expect(draws.toolsets[0]).toEqual({ name: 'terminal', count: 1000 });
  expect(draws.toolsets[1]!.count).toBeGreaterThan(180);
  expect(draws.toolsets[1]!.count).toBeLessThan(320);
  await distributions.save({ name: 'new', description: 'Mine', toolsets: { web: 30, terminal: 10 } });
  await distributions.save({ name: 'newer', previous: 'new', toolsets: { terminal: 10 } });
  expect([await of('new'), (await of('newer'))?.toolsets]).toEqual([undefined, { terminal: 10 }]);
  await expect(distributions.save({ name: 'default', toolsets: { web: 1 } })).rejects.toMatchObject({ code: 'CONFLICT', data: { field: 'name' } });
  await expect(distributions.save({ name: 'mix', toolsets: { web: 1 } })).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(distributions.save({ name: 'x', toolsets: { web: 101 } })).rejects.toMatchObject({ code: 'INVALID', data: { field: 'toolsets.web' } });
  await expect(distributions.preview({ toolsets: { moa: 100 } })).rejects.toMatchObject({ code: 'INVALID', message: expect.stringContaining('None of these toolsets') as string });
  await distributions.remove({ name: 'newer' });
  await expect(distributions.remove({ name: 'default' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(readFileSync(join(dir, 'home', 'config.yaml'), 'utf8')).toContain('mix: { toolsets: { terminal: 50');
});
