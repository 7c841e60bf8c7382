import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMAND_MARK } from './environment.ts';
import { createHostSandbox } from './host.ts';
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
