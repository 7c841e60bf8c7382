import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireHome } from '#engine/store/instance.ts';
import { ensureHome } from '#engine/store/home.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cli-tools-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function tools(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'tools', ...args, `--home=${home}`], { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: home } });
  return { code: status, out: stdout, err: stderr };
}

// Bug: the command cannot be used while the app is open, which is when people want it.
it('lists and switches toolsets also while the home is open, and keeps comments', () => {
  writeFileSync(join(home, 'config.yaml'), 'toolsets:\n  - terminal # mine\n');
  ensureHome(home);
  const lock = acquireHome(home, { host: 'desktop' });
  try {
    const list = tools('list');
    expect(list).toMatchObject({ code: 0, err: '' });
    expect(list.out).toMatch(/^on {2,}terminal +terminal/m);
    expect(list.out).toMatch(/^off {2,}web +web_search \(missing\), web_extract$/m);
    expect(list.out).toMatch(/^web_search: No search service/m);
    expect(list.out).toMatch(/^off {2,}debugging +=/m);
    const enable = tools('enable', 'web', 'todo');
    expect(enable).toMatchObject({ code: 0, err: expect.stringContaining('web_search is not offered yet') });
    expect(enable.out).toBe('On in new chats: terminal, web, todo.\n');
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe('toolsets:\n  - terminal # mine\n  - web\n  - todo\n');
    expect(tools('disable', 'web').out).toBe('On in new chats: terminal, todo.\n');
  } finally {
    lock.release();
  }
});

it('refuses what it does not know with the closest name, and then changes nothing', () => {
  expect(tools('enable', 'todo', 'termnal')).toMatchObject({ code: 1, err: expect.stringContaining('Did you mean "terminal"?') });
  expect(tools('list').out).toMatch(/^on {2,}todo/m);
  expect(tools('enalbe', 'web')).toMatchObject({ code: 2, err: expect.stringContaining('list, enable and disable') });
  expect(tools('enable')).toMatchObject({ code: 2, err: expect.stringContaining('tools enable NAME') });
  expect(tools('--help').out).toMatch(/^Usage: npm run talaria -- tools list\|enable\|disable \[NAME …\] \[options\]/);
});

// Bug: a mistyped name in config.yaml costs its tools without a word; a broken file is shown as if it were empty.
it('says what in config.yaml is not known or broken, and does not write a broken file', () => {
  const file = join(home, 'config.yaml');
  writeFileSync(file, 'toolsets: [terminal, wbe]\n');
  expect(tools('list')).toMatchObject({ code: 0, err: expect.stringContaining('"wbe", which is not known here') });
  writeFileSync(file, 'toolsets: [\n');
  expect(tools('list').err).toMatch(/config.yaml line .*not valid YAML/);
  expect(tools('enable', 'todo').code).toBe(0);
  expect(tools('disable', 'web')).toMatchObject({ code: 1, err: expect.stringContaining('Mend it first; nothing was changed') });
  expect(readFileSync(file, 'utf8')).toBe('toolsets: [\n');
});
