import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMAND_MARK } from './environment.ts';
import { createHostSandbox } from './testing.ts';
import { endLeftovers } from './processes.ts';
import { removeFolder, removeWorkspaces, temporaryPrefix } from './remove.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(realpathSync(tmpdir()), 'remove-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const signal = new AbortController().signal;

// Node's own rm gives up on paths over the limit of the system, and the workspace stayed for ever
test.skipIf(process.platform === 'win32')('a tree that is deeper than a path may be long is removed', async () => {
  const sandbox = await createHostSandbox({ root: join(dir, 'task_0') });
  await sandbox.run('for i in $(seq 200); do mkdir 1234567890123456789012345678901234567890 && cd 1234567890123456789012345678901234567890; done', { timeoutMs: 20_000, signal });
  await sandbox.dispose({ remove: true });
  expect(existsSync(join(dir, 'task_0'))).toBe(false);
  await expect(removeFolder(join(dir, 'not there'))).resolves.toBeUndefined();
});

// a command put a link in place of its workspace, and the files that it leads to were removed with it
test.skipIf(process.platform === 'win32')('what a link leads to stays, in place of the folder and in it', async () => {
  const precious = join(dir, 'precious');
  mkdirSync(precious);
  writeFileSync(join(precious, 'file'), 'x');
  symlinkSync(precious, join(dir, 'task_0'));
  await removeFolder(join(dir, 'task_0'));
  mkdirSync(join(dir, 'task_1'));
  symlinkSync(precious, join(dir, 'task_1', 'folder'));
  symlinkSync(join(precious, 'file'), join(dir, 'task_1', 'file'));
  await removeFolder(join(dir, 'task_1'));
  expect(readdirSync(dir)).toEqual(['precious']);
  expect(readdirSync(precious)).toEqual(['file']);
});

// of a folder with more than a few entries, or with folders in it, something stayed
test.each([0, 1, 16, 17, 100])('a folder of %i entries is removed', async (count) => {
  for (const [name, inner] of [['flat', ''], ['deep', 'inner']] as const) {
    mkdirSync(join(dir, name, inner), { recursive: true });
    for (let i = 0; i < count; i += 1) writeFileSync(join(dir, name, inner, `f${i}`), '');
    await removeFolder(join(dir, name));
  }
  expect(readdirSync(dir)).toEqual([]);
});

// a killed program left its commands running in the workspace of the next attempt, and its temporary folders for ever
test.runIf(process.platform === 'linux')('what a killed program left is ended and removed; the neighbour is left alone', async () => {
  const mine = join(dir, 'run');
  const other = join(dir, 'run2');
  mkdirSync(join(mine, 'task_0'), { recursive: true });
  mkdirSync(join(other, 'task_0'), { recursive: true });
  const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith(temporaryPrefix(join(mine, 'task_1'))));
  // never disposed, as after kill -9
  await createHostSandbox({ root: join(mine, 'task_1') });
  expect(temporary()).toHaveLength(1);
  const start = (home: string) => spawn('sleep', ['60'], { env: { ...process.env, HOME: home, [COMMAND_MARK]: 'x.1' }, detached: true });
  const left = start(join(mine, 'task_0'));
  const neighbour = start(join(other, 'task_0'));
  await Promise.all([once(left, 'spawn'), once(neighbour, 'spawn')]);
  const gone = once(left, 'exit');
  await removeWorkspaces(mine);
  expect((await gone)[1]).toBe('SIGKILL');
  expect(neighbour.exitCode ?? neighbour.signalCode).toBeNull();
  neighbour.kill('SIGKILL');
  expect(existsSync(mine)).toBe(false);
  expect(existsSync(other)).toBe(true);
  expect(temporary()).toEqual([]);
});

// background processes of chats ran on for ever after the engine was killed
test.runIf(process.platform === 'linux')('what commands of a killed engine left is ended; what belongs to a living one is not', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  const start = (mark: string) => spawn('sleep', ['60'], { env: { PATH: process.env.PATH, [COMMAND_MARK]: mark }, detached: true });
  const left = start(`${dead.pid}:x.1`);
  const kept = [start(`${process.ppid}:x.1`), start(`${process.pid}:x.1`), start('x.1')];
  await Promise.all([left, ...kept].map((one) => once(one, 'spawn')));
  const gone = once(left, 'exit');
  expect(await endLeftovers()).toBeGreaterThan(0);
  expect((await gone)[1]).toBe('SIGKILL');
  for (const one of kept) {
    expect(one.exitCode ?? one.signalCode).toBeNull();
    one.kill('SIGKILL');
  }
});
