import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeModel } from '../../e2e/fakes/fake-model.ts';
import { say, think, together } from '../../e2e/fakes/steps.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cli-resume-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function talaria(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [main, ...args, `--home=${join(dir, 'home')}`], { cwd: dir, env: { PATH: process.env.PATH, HOME: dir }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (t: string) => (out += t));
  child.stderr.setEncoding('utf8').on('data', (t: string) => (err += t));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

// Bug: the summary of a run hides why rollouts were left out, what it cost and what it earned.
test('the summary says causes, cost and reward', async () => {
  const fake = await startFakeModel();
  fake.respond(({ prompt }) => (prompt === 'b' ? say('No thought.') : together(think('So it is.'), say(prompt))));
  try {
    writeFileSync(join(dir, 's.jsonl'), '{"prompt":"a","answer":"a"}\n{"prompt":"b","answer":"b"}\n{"prompt":"c","answer":"d"}\n');
    mkdirSync(join(dir, 'home'), { recursive: true });
    writeFileSync(join(dir, 'home', 'config.yaml'), 'prices:\n  priced: {input: 3, output: 15}\n');
    const { out, err } = await talaria(['batch', '--dataset_file=s.jsonl', '--run_name=sums', '--model=priced', `--base_url=${fake.url}`, '--scoring=exact', '--budget_usd=5']);
    expect(err).not.toContain('WARNING');
    expect(out).toContain('Failed or discarded for: no_reasoning 1.');
    expect(out).toMatch(/^Cost: \$0\.0\d+\.$/m);
    expect(out).toMatch(/^Mean reward: 0\.3333 over 3 rollouts\.$/m);
  } finally {
    await fake.close();
    rmSync(join(dir, 'home'), { recursive: true });
  }
});

// Bug: a run that could not begin is said to be there to be resumed.
test.runIf(process.platform === 'linux')('an output folder that cannot be made leaves no run, and says to choose another', async () => {
  writeFileSync(join(dir, 'one.jsonl'), '{"prompt":"a"}\n');
  const started = await talaria(['batch', '--dataset_file=one.jsonl', '--run_name=nowhere', '--model=offline/demo', '--output_dir=/proc/nowhere']);
  expect([started.code, started.err]).toEqual([2, expect.stringMatching(/--output_dir: .*hoose another output folder/) as string]);
  expect(started.err).not.toMatch(/resume/i);
  expect((await talaria(['runs'])).out).not.toContain('nowhere');
});

// Bug: a resume says how much was left before it looked at the edited dataset, and not a word of what became of its rows; a budget that
// can stop nothing is taken without a word.
test('a resume says what was edited in the dataset; a budget without a price is warned of', async () => {
  const fake = await startFakeModel();
  fake.respond(() => together(think('So it is.'), say('Done.')));
  const write = (...prompts: string[]): void => writeFileSync(join(dir, 'p.jsonl'), prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));
  try {
    write('a', 'a', 'b');
    const first = await talaria(['batch', '--dataset_file=p.jsonl', '--run_name=r', '--model=m', `--base_url=${fake.url}`, '--budget_usd=0.01']);
    expect([first.code, first.err]).toEqual([0, expect.stringContaining('WARNING: --budget_usd: No price of m is known, so the budget cannot stop this run') as string]);
    write('new', 'a', 'a', 'c');
    const second = await talaria(['batch', '--run_name=r', '--resume']);
    expect(second.err).toContain('The dataset was edited since: 2 rows new or changed, which run; 1 row gone, which do not run (what they made stays).');
    expect(second.err).toMatch(/Going on with r: [0-2] of 5 rollouts left\./);
    expect(second.out).toContain('1 rollout belongs to rows that are gone from the dataset');
    expect(fake.counts.chats).toBe(5);
    write('new', 'a', 'a', 'c', 'b');
    const third = await talaria(['batch', '--run_name=r', '--resume']);
    expect([third.code, third.err]).toEqual([0, expect.stringContaining('The dataset was edited since: 1 row back.') as string]);
    expect(fake.counts.chats).toBe(5);
  } finally {
    await fake.close();
  }
});
