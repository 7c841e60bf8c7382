import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHostSandbox } from './testing.ts';
import { OUTPUT_CAP_CHARS } from './output.ts';
import type { CommandResult, Sandbox } from './types.ts';

let folder: string;
let sandbox: Sandbox;

beforeEach(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), 'host-test-'));
  sandbox = await createHostSandbox({ root: join(folder, 'workspace') });
});
afterEach(async () => {
  await sandbox.dispose({ remove: true });
  await rm(folder, { recursive: true, force: true });
});

const run = (command: string, options: { timeoutMs?: number; workdir?: string; signal?: AbortSignal; onOutput?: (text: string) => void } = {}): Promise<CommandResult> =>
  sandbox.run(command, { timeoutMs: 30_000, signal: new AbortController().signal, ...options });

/** Running, not merely a zombie that nobody has collected. */
async function isAlive(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return text !== '' && !['Z', 'X'].includes(text.slice(text.lastIndexOf(')') + 2)[0] ?? 'X');
}
async function expectDead(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid)).toBe(false);
}
/** Aborts when the command has printed `count` pids; answers with them. */
async function abortAfter(command: string, count: number): Promise<{ result: CommandResult; pids: number[] }> {
  const stop = new AbortController();
  let seen = '';
  const result = await run(command, {
    signal: stop.signal,
    onOutput: (text) => {
      seen += text;
      if ((seen.match(/pid=\d+\n/g) ?? []).length === count) stop.abort();
    },
  });
  return { result, pids: [...seen.matchAll(/pid=(\d+)/g)].map((match) => Number(match[1])) };
}

describe('a command', () => {
  it('gives output of both streams in the order in which it was written (two pipes would shuffle it)', async () => {
    const result = await run('for i in 1 2 3 4 5 6 7 8; do echo out$i; echo err$i >&2; done; exit 3');
    expect(result.output).toBe([1, 2, 3, 4, 5, 6, 7, 8].map((i) => `out${i}\nerr${i}\n`).join(''));
    expect(result).toMatchObject({ exitCode: 3, timedOut: false, aborted: false });
  });

  it('names the shell and the right line in its messages, and sees no input (a prompt must not hang)', async () => {
    const result = await run('read answer; echo "[$answer]"\nno_such_program_x');
    expect(result.output).toMatch(/^\[\]\n(ba)?sh: (line )?2: .*no_such_program_x.*not found/);
    expect(result.exitCode).toBe(127);
  });

  it('gets no key, no home and no private path of this process (leak through process.env)', async () => {
    process.env['TALARIA_TEST_API_KEY'] = 'sk-secret-of-the-person';
    try {
      const { output } = await run('env; echo "home=$HOME"; pwd');
      expect(output).not.toContain('sk-secret');
      expect(output).not.toContain('node_modules/.bin');
      expect(output).toContain(`home=${sandbox.root}\n`);
      const names = output.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
      expect(names.filter((name) => /KEY|TOKEN|SECRET|PASSWORD/i.test(name))).toEqual([]);
    } finally {
      delete process.env['TALARIA_TEST_API_KEY'];
    }
  });

  it('passes the extra variables that were asked for', async () => {
    const other = await createHostSandbox({ root: join(folder, 'other'), env: { GREETING: 'hello there' } });
    const result = await other.run('echo "$GREETING"', { timeoutMs: 10_000, signal: new AbortController().signal });
    await other.dispose({ remove: true });
    expect(result.output).toBe('hello there\n');
  });

  it('starts in workdir and refuses one outside, one missing, one that is a file', async () => {
    await run('mkdir sub; touch file');
    expect((await run('pwd', { workdir: 'sub' })).output).toBe(`${join(sandbox.root, 'sub')}\n`);
    await expect(run('pwd', { workdir: '..' })).rejects.toMatchObject({ code: 'outside_workspace' });
    await expect(run('pwd', { workdir: 'gone' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(run('pwd', { workdir: 'file' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('keeps 40 % head and 60 % tail of a flood and says how much is missing', async () => {
    const { output } = await run('echo START; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo END');
    expect(output.startsWith('START\nxxx')).toBe(true);
    expect(output.endsWith('xxx\nEND\n')).toBe(true);
    expect(output).toContain(`[… ${(3_000_011 - OUTPUT_CAP_CHARS).toLocaleString('en-US')} characters`);
    expect(output.length).toBeLessThan(OUTPUT_CAP_CHARS + 200);
  });

  it('removes escape sequences and keeps characters whole that arrive byte by byte', async () => {
    const { output } = await run(`printf '\\033[31mred\\033[0m '; for b in '\\344' '\\275' '\\240' '\\360' '\\237' '\\230' '\\200'; do printf "$b"; sleep 0.01; done`);
    expect(output).toBe('red 你😀');
  });

  it('does not wait for a background child that holds the pipe, and leaves it alive until dispose', async () => {
    const result = await run('sleep 300 & echo pid=$!');
    const pid = Number(/pid=(\d+)/.exec(result.output)?.[1]);
    expect(result.exitCode).toBe(0);
    expect(await isAlive(pid)).toBe(true);
    await sandbox.dispose({ remove: false });
    await expectDead(pid);
  });

  it('does not kill a background child by closing its pipe', async () => {
    await run('(while [ ! -e go ]; do sleep 0.02; done; echo late; echo late; touch survived; sleep 300) &');
    await run('touch go; while [ ! -e survived ]; do sleep 0.02; done');
    expect((await stat(join(sandbox.root, 'survived'))).isFile()).toBe(true);
  });

  it('reports death by a signal as shells do', async () => {
    expect((await run('kill -KILL $$')).exitCode).toBe(137);
  });

  it('says what to do about a command the system cannot start', async () => {
    await expect(run(`true ${'x'.repeat(200_000)}`)).rejects.toThrow(/script file/);
    await expect(run('echo a\0b')).rejects.toThrow(/NUL/);
  });
});

describe('stopping a command', () => {
  it('kills the whole group on timeout, grandchildren included, and keeps what was printed', async () => {
    const result = await run('bash -c "sleep 300 & echo pid=\\$!; wait"; echo never', { timeoutMs: 1_500 });
    expect(result).toMatchObject({ timedOut: true, aborted: false, exitCode: null });
    expect(result.output).toMatch(/^pid=\d+\n$/);
    await expectDead(Number(/pid=(\d+)/.exec(result.output)?.[1]));
  });

  it('ends commands that ignore SIGTERM when aborted', async () => {
    const { result, pids } = await abortAfter('trap "" TERM INT HUP; echo pid=$$; while true; do sleep 0.05; done', 1);
    expect(result).toMatchObject({ aborted: true, timedOut: false, exitCode: null });
    for (const pid of pids) await expectDead(pid);
  });

  it('finds grandchildren that left the group, the tree, and even the environment', async () => {
    const command = [
      'setsid sh -c \'echo pid=$$; exec sleep 300\' &',
      '(setsid sh -c \'echo pid=$$; exec sleep 300\' >&1 &)',
      'env -i setsid sh -c \'echo pid=$$; exec sleep 300\' &',
      'wait; sleep 300',
    ].join('\n');
    const { pids } = await abortAfter(command, 3);
    expect(pids).toHaveLength(3);
    for (const pid of pids) await expectDead(pid);
  });

  it('does not start anything when already aborted', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await run('touch started', { signal: stop.signal })).toMatchObject({ aborted: true, exitCode: null });
    await expect(stat(join(sandbox.root, 'started'))).rejects.toThrow();
  });

  it('leaves the background processes of earlier commands alone', async () => {
    const earlier = Number(/pid=(\d+)/.exec((await run('sleep 300 & echo pid=$!')).output)?.[1]);
    await run('sleep 300', { timeoutMs: 50 });
    expect(await isAlive(earlier)).toBe(true);
  });

  it('kills at dispose what left every group and closed its output, and its children without the mark', async () => {
    const { output } = await run("setsid sh -c 'env -i sleep 300 & echo inner=$! > pids; echo outer=$$ >> pids; wait' >/dev/null 2>&1 & while [ $(cat pids 2>/dev/null | wc -l) -lt 2 ]; do sleep 0.02; done; cat pids");
    const pids = [...output.matchAll(/=(\d+)/g)].map((match) => Number(match[1]));
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(await isAlive(pid)).toBe(true);
    await sandbox.dispose({ remove: false });
    for (const pid of pids) await expectDead(pid);
  });

  it('ends running commands at dispose, removes folders that are write-protected, and refuses new commands', async () => {
    await run('mkdir -p locked/deep; touch locked/deep/file; chmod -R a-w locked');
    let started = (): void => undefined;
    const ready = new Promise<void>((done) => (started = done));
    const running = run('echo ready; sleep 300', { onOutput: () => started() });
    await ready;
    await sandbox.dispose({ remove: true });
    expect((await running).aborted).toBe(true);
    await expect(stat(sandbox.root)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(run('true')).rejects.toMatchObject({ name: 'SandboxError' });
  });
});

describe('the workspace', () => {
  it('is never the file system root or the home folder (dispose would delete it)', async () => {
    await expect(createHostSandbox({ root: '/' })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(createHostSandbox({ root: process.env['HOME'] ?? '/' })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('says so when it cannot be made', async () => {
    await writeFile(join(folder, 'occupied'), '');
    await expect(createHostSandbox({ root: join(folder, 'occupied', 'x') })).rejects.toMatchObject({ code: 'unavailable' });
  });
});
