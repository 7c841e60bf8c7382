import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let temp: string;
beforeEach(() => {
  temp = mkdtempSync(join(tmpdir(), 'bench-test-'));
});
afterEach(() => rmSync(temp, { recursive: true, force: true }));

function bench(args: readonly string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], { env: { PATH: process.env.PATH, TMPDIR: temp, TEMP: temp }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, closed: once(child, 'close'), output: () => output };
}

// a question that takes minutes to answer
test('--help and a wrong name run nothing', async () => {
  const help = bench(['--help']);
  const wrong = bench(['stroe']);
  expect((await help.closed)[0]).toBe(0);
  expect(help.output()).toMatch(/store[\s\S]*batch[\s\S]*page[\s\S]*chat/);
  expect((await wrong.closed)[0]).toBe(2);
  expect(wrong.output()).toContain('There are: store, batch, factory, page, chat, skills.');
  expect(readdirSync(temp)).toEqual([]);
});

// processes and folders that nobody ends or removes
test.skipIf(process.platform === 'win32')('stopped, it takes its processes and folders along', async () => {
  const one = bench(['batch']);
  const holder = () => readdirSync(temp).map((folder) => join(temp, folder, 'home-4', 'instance.json')).find((file) => existsSync(file));
  await expect.poll(holder, { timeout: 30_000 }).toBeTruthy();
  const { pid } = JSON.parse(readFileSync(holder() ?? '', 'utf8')) as { pid: number };
  expect(process.kill(pid, 0)).toBe(true);
  one.child.kill('SIGTERM');
  // its output closes only when the fake and the engine, which inherit it, are gone too
  expect((await one.closed)[0], one.output()).toBe(143);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(readdirSync(temp)).toEqual([]);
});
