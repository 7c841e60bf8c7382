import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureHome } from '#engine/store/home.ts';
import { openStore } from '#engine/store/store.ts';
import { LiveHub } from '#engine/trajectories/live.ts';
import { testPaths } from '../../e2e/fixtures/batch-ground.ts';
import { addRollout, addRun } from '../../e2e/fixtures/rollouts.ts';
import { writeTokenizer } from '../../e2e/fixtures/tokenizers.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cli-export-'));
  const store = openStore(ensureHome(join(dir, 'home')).root, testPaths);
  const t = { store, hub: new LiveHub() };
  const run = addRun(t, 'sums');
  for (const row of [0, 1]) for (const rollout of [0, 1]) addRollout(t, run, row, rollout, row === 1 && rollout === 1 ? null : rollout);
  await store.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function talaria(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [main, 'export', ...args, `--home=${join(dir, 'home')}`], { cwd: dir, env: { PATH: process.env['PATH'], HOME: dir } }, (error, out, err) => done({ code: error ? Number(error.code) : 0, out, err }));
  });
}

// Bug: an option of groups is not handed on, the folder counts from the wrong place, or the summary speaks of trajectories only.
test('groups with tokens, and what became of every rollout', async () => {
  writeTokenizer(join(dir, 'tokenizer'), 'marked');
  const made = await talaria('--format=atropos', '--run=sums', '--file=groups.jsonl', '--tokenizer=tokenizer', '--group_size=2', '--zero_spread=drop', '--max_tokens=5000', '--mask=generation');
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(made.out).toMatch(/^1 group with 2 rollouts written to .*groups\.jsonl/);
  expect(made.out).toContain('  1 group of 2\n');
  expect(made.out).toMatch(/ tokens, \d+ of them trained on; masks by generation markers, template of chat_template\.jinja/);
  expect(made.out).toContain('1 group left out: fewer than 2 rollouts');
  expect(made.out).toContain('1 trajectory left out: no score');
  const [line] = readFileSync(join(dir, 'groups.jsonl'), 'utf8').trimEnd().split('\n');
  expect(Object.keys(JSON.parse(line!) as object).slice(0, 3)).toEqual(['tokens', 'masks', 'scores']);
});

// Bug: a wrong option is passed over, or its failure does not say which one it is.
test('options that cannot be end with 2 and name themselves', async () => {
  const cases: [string[], string][] = [
    [['--tokenizer=x', '--file=a.jsonl'], '--tokenizer is for groups. Add --format=atropos.'],
    [['--format=atropos', '--file=a.jsonl', '--min_spread=wide'], '--min_spread must be a number of at least 0, not "wide".'],
    [['--format=atropos', '--file=a.jsonl', '--tokenizer=nowhere'], '--tokenizer: There is no folder'],
  ];
  for (const [args, said] of cases) expect(await talaria(...args)).toMatchObject({ code: 2, err: expect.stringContaining(said) as string });
});
