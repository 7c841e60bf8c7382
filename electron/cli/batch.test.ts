import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { Database, sqlFor } from '#engine/store/database.ts';
import { agentScenario } from '../../e2e/fakes/agent.ts';
import { type FakeModel, startFakeModel } from '../../e2e/fakes/fake-model.ts';
import { fail, say, think, together } from '../../e2e/fakes/steps.ts';
import { disagreements } from '../../e2e/fixtures/batch-ground.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cli-test-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Talaria {
  child: ChildProcess;
  ended: Promise<{ code: number | null; out: string; err: string }>;
}

function talaria(args: readonly string[], cwd = dir): Talaria {
  const child = spawn(process.execPath, [main, ...args], { cwd, env: { PATH: process.env.PATH, HOME: dir }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (t: string) => (out += t));
  child.stderr.setEncoding('utf8').on('data', (t: string) => (err += t));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  return { child, ended };
}

function dataset(name: string, prompts: readonly string[]): string {
  const path = join(dir, `${name}.jsonl`);
  writeFileSync(path, prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));
  return path;
}

function storedRun(home: string, name: string) {
  const db = new Database(join(home, 'talaria.db'), { readonly: true });
  const row = db.get(sqlFor.selectFrom('runs').selectAll().where('name', '=', name));
  const prompts = row ? db.all(sqlFor.selectFrom('prompts').select(['prompt', 'state']).where('run_id', '=', row.id)) : [];
  return { db, row, prompts };
}

function promptsAsked(fake: FakeModel, from: number): string[] {
  return fake.chats.slice(from).map((c) => String(c.body.messages.find((m) => m.role === 'user')?.content));
}

/** Deterministic numbers in [0, 1) (mulberry32). */
function seeded(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// lost or doubled trajectories, prompts that are paid twice, torn files
test('killed at ten random moments and resumed: one trajectory per prompt, nothing recorded is asked again, files and store agree', async () => {
  const random = seeded(20261130);
  const home = join(dir, 'killed');
  const prompts = Array.from({ length: 60 }, (_, i) => `Task number ${i}`);
  const file = dataset('killed', [...prompts.slice(0, 59), prompts[0]!]);
  const fake = await startFakeModel({ latencyMs: 5 });
  const step = agentScenario({ calls: 1 });
  fake.respond((r) => (r.prompt.endsWith('7') ? say('Without a thought.') : step(r)));
  const start = ['batch', `--dataset_file=${file}`, '--run_name=k', '--batch_size=7', '--num_workers=4', '--model=fake-model', `--base_url=${fake.url}`, `--home=${home}`];
  const resume = ['batch', '--run_name=k', '--resume', `--home=${home}`];
  let kills = 0;
  let recorded: string[] = [];
  const askedAgain: string[] = [];
  const check = (from: number) => {
    const again = promptsAsked(fake, from).filter((p) => recorded.includes(p));
    askedAgain.push(...again);
  };
  try {
    for (; kills < 10; kills += 1) {
      const from = fake.counts.chats;
      const run = talaria(kills === 0 ? start : resume);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      void fake.waitForChats(from + 1 + Math.floor(random() * 14)).then(() => setTimeout(resolve, random() * 25));
      await Promise.race([late, run.ended]);
      run.child.kill('SIGKILL');
      await run.ended;
      check(from);
      const { db, row, prompts: stored } = storedRun(home, 'k');
      expect(row?.name).toBe('k');
      // the first prompt stands twice in the file: one of the two may still be open
      recorded = stored.filter((p) => ['completed', 'partial', 'discarded'].includes(p.state) && p.prompt !== prompts[0]).map((p) => p.prompt);
      db.close();
    }
    expect(recorded.length).toBeGreaterThan(5);
    expect(recorded.length).toBeLessThan(58);
    const from = fake.counts.chats;
    const last = await talaria(resume).ended;
    expect(last.code, last.err).toBe(0);
    check(from);
    expect(askedAgain).toEqual([]);
    const { db, row, prompts: stored } = storedRun(home, 'k');
    const wrong = row ? disagreements({ db }, { id: row.id, outputDir: row.output_dir, total: row.total, spec: runSpecSchema.parse(JSON.parse(row.spec)) }) : ['no run'];
    db.close();
    expect(wrong).toEqual([]);
    expect(stored.filter((p) => p.state === 'discarded')).toHaveLength(6);
    expect(stored.filter((p) => p.state === 'completed')).toHaveLength(54);
    expect(last.out).toContain('54 completed, 6 discarded.');
  } finally {
    await fake.close();
  }
}, 300_000);

test('Ctrl+C stops cleanly and says how to go on; a busy home names its holder; then export and runs', async () => {
  const home = join(dir, 'stopped');
  const fake = await startFakeModel();
  try {
    fake.respond(() => together(think('t'), say('done'), fake.counts.chats > 1 ? { gate: { name: 'go' } } : {}));
    const file = dataset('stopped', ['a', 'b', 'c']);
    const run = talaria(['batch', '--dataset-file', file, '--run-name', 's', '--model', 'fake-model', '--base-url', fake.url, '--num-workers', '1', '--home', home, '--api-key', 'sk-very-secret']);
    await fake.waitForChats(2);
    expect(fake.chats[0]?.authorization).toBe('Bearer sk-very-secret');
    const second = await talaria(['runs', `--home=${home}`]).ended;
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toContain(`is in use by a talaria command (process ${run.child.pid}`);
    run.child.kill('SIGINT');
    const stopped = await run.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.out).toContain('1 completed, 1 cancelled, 1 not run.');
    expect(stopped.out).toContain(`npm run talaria -- batch --run_name=s --resume --api_key=… --home=${home}`);

    const again = await talaria(['batch', `--dataset_file=${file}`, '--run_name=s', '--model=fake-model', `--base_url=${fake.url}`, `--home=${home}`]).ended;
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('Add --resume to go on with it');
    const other = await talaria(['batch', '--run_name=s', '--resume', '--max_turns=99', `--home=${home}`]).ended;
    expect(other).toMatchObject({ code: 2 });
    expect(other.err).toContain('s was started with --max_turns=10');

    fake.release('go');
    const ended = await talaria(['batch', '--run_name=s', '--resume', `--home=${home}`]).ended;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.out).toContain('3 completed.');
    expect(ended.out).toContain(join(dir, 'data', 's'));
    const exported = await talaria(['export', '--run=s', '--file=out.jsonl', `--home=${home}`]).ended;
    expect(exported.code, exported.err).toBe(0);
    expect(readFileSync(join(dir, 'out.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
    expect((await talaria(['runs', `--home=${home}`]).ended).out).toMatch(/^s {2}completed {2}3\/3 .*fake-model/);
    for (const said of [stopped, ended, again]) expect(said.out + said.err).not.toContain('sk-very-secret');
    expect(readFileSync(join(home, 'talaria.db')).includes('sk-very-secret')).toBe(false);
  } finally {
    await fake.close();
  }
});

test('wrong command lines end with 2 and what to write instead, and make no home', async () => {
  const home = `--home=${join(dir, 'never')}`;
  const cases: [string[], string][] = [
    [['bacth'], 'There is no command "bacth". Did you mean batch?'],
    [['batch', '--run_name=x', home], '--dataset_file must be given.'],
    [['batch', '--dataset_file=x.jsonl', '--run_name=x', home], '--model must be given'],
    [['batch', '--dataset_file=x.jsonl', '--run_name=x', '--model=m', home], 'Where does m run? Give --provider'],
    [['batch', '--dataset_file=demo', '--run_name=../x', home], '--run_name: Use letters'],
  ];
  const ended = await Promise.all(cases.map(([args]) => talaria(args).ended));
  expect(ended.map((e) => e.code)).toEqual(cases.map(() => 2));
  cases.forEach(([, said], i) => expect(ended[i]?.err).toContain(said));
  expect((await talaria(['batch', '--help']).ended).out).toMatch(/--dataset_file=FILE[\s\S]*--resume/);
  expect(() => readFileSync(join(dir, 'never', 'talaria.db'))).toThrow('ENOENT');
});

// a script that takes an empty result for a good one; a person who looks for the wrong line, or resumes a run that is not there
test('a run without one kept trajectory ends with 1; what is missing or in the way is said in one message', async () => {
  const home = join(dir, 'empty');
  const fake = await startFakeModel();
  try {
    fake.respond(() => fail(400, { message: 'no such tool' }));
    const run = await talaria(['batch', `--dataset_file=${dataset('empty', ['a', 'b'])}`, '--run_name=e', '--model=m', `--base_url=${fake.url}`, `--home=${home}`]).ended;
    expect(run.code, run.err).toBe(1);
    expect(run.out).toContain('Run e ended');
    expect(run.out).toContain('No prompt was completed or partial');
    expect(run.out).toContain('prompt_index 1 failed:');
    expect((await talaria(['runs', `--home=${home}`]).ended).out).toMatch(/^e {2}completed {2}2\/2 {2}2 failed/);
    const none = await talaria(['batch', '--run_name=zz', '--resume', `--home=${home}`]).ended;
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err.split('\n')[0]).toBe('There is no run named zz to resume. There are: e. To start it, give --dataset_file.');
    const there = await talaria(['export', '--file=empty.jsonl', `--home=${home}`]).ended;
    expect(there).toMatchObject({ code: 1, err: expect.stringContaining('Add --overwrite') as string });
  } finally {
    await fake.close();
  }
});
