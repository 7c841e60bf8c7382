import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSandbox } from '../sandbox/open.ts';
import { makeFolders, makeFoldersSync } from './folders.ts';

let ground: string;
beforeEach(() => void (ground = mkdtempSync(join(tmpdir(), 'talaria-folders-'))));
afterEach(() => rmSync(ground, { recursive: true, force: true }));

describe.each([
  ['makeFolders', (path: string) => makeFolders(path)],
  ['makeFoldersSync', (path: string) => Promise.resolve().then(() => makeFoldersSync(path))],
])('%s', (_, make) => {
  test('makes what is missing, and is content with what is there, also when many ask at once', async () => {
    const path = join(ground, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 20 }, () => make(path)));
    await make(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test('says so when a file is in the way', async () => {
    writeFileSync(join(ground, 'file'), '');
    await expect(make(join(ground, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(make(join(ground, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  // Node's recursive mkdir spins for ever there: a chat hung, an export froze the whole engine
  test.runIf(process.platform === 'linux')('returns below /proc, where nothing can be made', async () => {
    await expect(make('/proc/talaria/a/b')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test.runIf(process.platform === 'linux')('a workspace below /proc is refused with a sentence', async () => {
  await expect(openSandbox({ kind: 'host', root: '/proc/talaria/work' })).rejects.toMatchObject({ code: 'unavailable', message: 'The workspace "/proc/talaria/work" cannot be created (ENOENT).' });
});
