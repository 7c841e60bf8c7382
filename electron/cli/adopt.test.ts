import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startFakeModel } from '../../e2e/fakes/fake-model.ts';
import { say, think, together } from '../../e2e/fakes/steps.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

async function talaria(args: readonly string[], dir: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [main, ...args], { cwd: dir, env: { PATH: process.env.PATH, HOME: dir }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (t: string) => (out += t));
  child.stderr.setEncoding('utf8').on('data', (t: string) => (err += t));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, out, err };
}

// Bug: the command asks for what the old run's files say, or runs what it had done.
test('talaria adopt finishes an old run; --dry_run only tells', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cli-adopt-'));
  const fake = await startFakeModel();
  try {
    fake.respond(() => together(think('Hm.'), say('New.')));
    const old = join(dir, 'old');
    mkdirSync(old);
    const row = (index: number, prompt: string) => `${JSON.stringify({ prompt_index: index, conversations: [{ from: 'human', value: prompt }, { from: 'gpt', value: '<think>\nr\n</think>\nOld.' }], metadata: { batch_num: 0, model: 'old/model' }, completed: true, partial: false, api_calls: 1, toolsets_used: [] })}\n`;
    writeFileSync(join(old, 'batch_0.jsonl'), `${row(0, 'a')}${row(1, 'b')}{"torn`);
    writeFileSync(join(old, 'checkpoint.json'), JSON.stringify({ run_name: 'nightly', completed_prompts: [0, 0, 1] }));
    writeFileSync(join(old, 'statistics.json'), JSON.stringify({ run_name: 'nightly', batch_size: 2, distribution: 'terminal_only', model: 'old/model' }));
    writeFileSync(join(dir, 'prompts.jsonl'), ['a', 'b', 'c'].map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));
    const args = ['adopt', '--folder=old', '--dataset_file=prompts.jsonl', '--model=fake-model', `--base_url=${fake.url}`, `--home=${join(dir, 'home')}`];

    const dry = await talaria([...args, '--dry_run'], dir);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.out).toMatch(/2 rows in 1 file\.\n {2}1 line torn or broken: left out\n {2}1 id more than once in the checkpoint\n3 prompts in the dataset: 2 taken over, 0 discarded before, 1 left to run\./);
    expect(fake.counts.chats).toBe(0);

    const ended = await talaria(args, dir);
    expect(ended).toMatchObject({ code: 0 });
    expect(fake.counts.chats).toBe(1);
    const folder = join(dir, 'data', 'nightly');
    const rows = readFileSync(join(folder, 'trajectories.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as { prompt_index: number; metadata: { model: string } });
    expect(rows.map((r) => [r.prompt_index, r.metadata.model])).toEqual([[0, 'old/model'], [1, 'old/model'], [2, 'fake-model']]);
    expect(JSON.parse(readFileSync(join(folder, 'statistics.json'), 'utf8'))).toMatchObject({ run_name: 'nightly', batch_size: 2, distribution: 'terminal_only', rows: { written: 3 } });

    const none = await talaria(['adopt', '--folder=none', '--dataset_file=prompts.jsonl', '--model=m', `--base_url=${fake.url}`, `--home=${join(dir, 'home')}`], dir);
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('it does not exist') as string });
  } finally {
    await fake.close();
    rmSync(dir, { recursive: true, force: true });
  }
}, 300_000);
