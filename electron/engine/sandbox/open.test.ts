import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapMissing, findBwrap } from './bubblewrap.ts';
import { openSandbox, sandboxAvailability } from './open.ts';
import type { CommandResult, Sandbox, SandboxOptions, StartOptions } from './types.ts';

const missing = await bubblewrapMissing();
if (missing !== null) process.stdout.write(`bubblewrap is not tested here: ${missing}\n`);
const kinds: SandboxOptions['kind'][] = missing === null ? ['host', 'bubblewrap'] : ['host'];

let dir: string;
let home: string;
let sandbox: Sandbox;
let clock = 0;
const { signal } = new AbortController();

async function open(kind: SandboxOptions['kind'], options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  sandbox = await openSandbox({ kind, root: join(home, 'workspaces', 'w'), hidden: [home], now: () => clock, ...options });
  return sandbox;
}
const run = (command: string, options: StartOptions & { timeoutMs?: number } = {}): Promise<CommandResult> => sandbox.run(command, { timeoutMs: 30_000, signal, ...options });
const out = async (command: string): Promise<string> => (await run(command)).output;
/** Running, not merely a zombie that nobody has collected. */
function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !['Z', 'X'].includes(text.slice(text.lastIndexOf(')') + 2)[0] ?? 'X');
  } catch {
    return false;
  }
}
/** Processes anywhere on this machine whose command line has `text`. */
function processesWith(text: string): number[] {
  return execFileSync('ps', ['-eo', 'pid,stat,args'], { encoding: 'utf8' }).split('\n').filter((line) => line.includes(text) && !/^\s*\d+ Z/.test(line)).map((line) => Number.parseInt(line, 10));
}

beforeEach(() => {
  dir = mkdtempSync(join(realpathSync(tmpdir()), 'open-test-'));
  home = join(dir, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'keys.json'), 'sk-key-of-the-person');
  clock = 1_000;
});
afterEach(async () => {
  await sandbox.dispose({ remove: true });
  rmSync(dir, { recursive: true, force: true });
});

it.each(kinds)('%s says that it works', async (kind) => {
  await open('host');
  expect((await sandboxAvailability()).find((one) => one.kind === kind)).toEqual({ kind, missing: null });
});

describe.each(kinds)('state on %s', (kind) => {
  beforeEach(() => open(kind));

  it('carries folder and exported variables over, and nothing else', async () => {
    await run('mkdir -p "a b/c"; cd "a b"; export WORDS="x  y\'\n\\"é"; LOCAL=1; f() { :; }; alias ll=ls; set -f');
    expect(sandbox.cwd).toBe(join(sandbox.root, 'a b'));
    expect(await out('pwd; printf "%s|" "$WORDS" "$LOCAL"; type f; echo *')).toMatch(/\/a b\nx {2}y'\n"é\|\|.*f: not found\nc\n$/);
    expect(await out('cd c; cd - >/dev/null; unset WORDS; pwd')).toBe(`${join(sandbox.root, 'a b')}\n`);
    expect(await out('echo "[${WORDS-unset}]"; cd -')).toBe(`[unset]\n${join(sandbox.root, 'a b', 'c')}\n`);
  });

  // Bug: what a model exported (a PATH of its own, BASH_ENV) decides what a scoring command really runs.
  it('gives a pristine command nothing of the ones before, and keeps nothing of it', async () => {
    await run('mkdir bin a; printf "echo hijacked" >bin/ls; chmod +x bin/ls; echo "pwd() { echo hijacked; }" >evil; export PATH="$PWD/bin:$PATH" BASH_ENV="$PWD/evil" ENV="$PWD/evil"; cd a');
    expect((await run('pwd; ls; export MINE=1; cd a', { pristine: true, workdir: '.' })).output).toBe(`${sandbox.root}\na\nbin\nevil\n`);
    expect(await out('echo "[${MINE-unset}]"; command pwd')).toBe(`[unset]\n${join(sandbox.root, 'a')}\n`);
  });

  it('survives every way in which a command ends', async () => {
    await run('mkdir a b c d e; cd a; false');
    expect(sandbox.cwd).toBe(join(sandbox.root, 'a'));
    expect((await run('cd ../b; export V=1; exit 3')).exitCode).toBe(3);
    expect((await run('set -e; cd ../c; export V=2; false; cd ..')).exitCode).toBe(1);
    expect(await out('echo $V; pwd')).toBe(`2\n${join(sandbox.root, 'c')}\n`);
    expect(await out('trap "echo bye" EXIT; set -xuC; cd ../d 2>/dev/null')).toContain('bye\n');
    expect(sandbox.cwd).toBe(join(sandbox.root, 'd'));
    await run('cd ../e; exec true');
    await run('cd ../e; kill -KILL $$');
    await run('cd ../e; export V=9; sleep 300', { timeoutMs: 500 });
    expect((await run('if')).exitCode).not.toBe(0);
    expect(await out('echo $V; pwd')).toBe(`2\n${join(sandbox.root, 'd')}\n`);
  });

  it('is noted without a trace, whatever the shell was told to tell or to export', async () => {
    // Bug: the shell's own steps around a command were traced, and their words became part of its output or of the state.
    expect(await out('mkdir a; trap "echo step" DEBUG; cd a')).toBe('step\n');
    expect(await out('set -x; cd ..')).toBe('++ cd ..\n');
    expect(await out('trap "echo failed" ERR; set -E; false; true')).toBe('failed\n');
    expect(await out('set -a; mine=1; trap "echo bye" EXIT')).toBe('bye\n');
    expect(await out('env | grep -c "^__sandbox"; echo $mine; pwd')).toBe(`0\n1\n${sandbox.root}\n`);
    // Bug: a command that put a pipe in place of the notes held up the whole engine.
    await run(`f=$(trap -p EXIT | grep -o "/[^' ]*/.state-[0-9]*" | head -1); mkfifo "$f"; exec true`);
    expect(await out('pwd')).toBe(`${sandbox.root}\n`);
    await run(`f=$(trap -p EXIT | grep -o "/[^' ]*/.state-[0-9]*" | head -1); mkdir -p "$f/x"; cd /`);
    expect(await out('pwd')).toBe(`${sandbox.root}\n`);
  });

  it('is not changed by a workdir, which holds for its command only', async () => {
    await run('mkdir a b; cd a');
    expect((await run('pwd; cd ..', { workdir: 'b' })).output).toBe(`${join(sandbox.root, 'b')}\n`);
    expect(await out('pwd')).toBe(`${join(sandbox.root, 'a')}\n`);
  });

  it('takes readonly and unset variables, and drops with a note what no process can be given', async () => {
    await run('readonly R=1; export R v=2 r=3 IFS=: ; export U; unset PATH');
    expect(await out('echo "$R$v$r"; R=4; echo $R; printf "%s" "${U-unset}"; export PATH=/usr/bin:/bin')).toBe('123\n4\nunset');
    const huge = await run('export BIG="$(head -c 200000 /dev/zero | tr "\\0" x)" KEPT=1; cd /');
    expect(huge.note).toContain('BIG');
    expect(await out('echo ${#BIG} $KEPT; pwd; ls >/dev/null && echo works')).toBe('0 1\n/\nworks\n');
    const many = await run('for i in $(seq 30); do export "M$i=$(head -c 60000 /dev/zero | tr "\\0" y)"; done');
    expect(many.note).toMatch(/M\d+/);
    expect(await out('echo ok')).toBe('ok\n');
  });

  it('falls back to the root when the folder is gone, and says so; makes the root anew', async () => {
    await run('mkdir x; cd x; rmdir "$PWD"');
    const result = await run('pwd');
    expect(result.output).toBe(`${sandbox.root}\n`);
    expect(result.note).toMatch(/x" of the command before is gone.*root/);
    await run('rm -rf "$PWD"');
    expect(await out('pwd')).toBe(`${sandbox.root}\n`);
  });

  it('keeps names, line numbers and exit codes of messages, and has no arguments', async () => {
    expect(await out('echo "$# $0"\nno_such_program_x')).toMatch(/^0 (ba)?sh\n(ba)?sh: (line )?2: .*not found\n$/);
    expect((await run("cat <<'EOF'\n$HOME '\nEOF")).output).toBe("$HOME '\n");
  });
});

describe.each(kinds)('background processes on %s', (kind) => {
  beforeEach(() => open(kind));

  it('run on after commands, take input, and say how they ended', async () => {
    let changes = 0;
    sandbox.onProcesses = () => (changes += 1);
    await run('export GREETING=hi; mkdir sub; cd sub');
    const one = await sandbox.start('echo "$GREETING from $(basename "$PWD")"; read line; echo "got $line"; exit 4', {});
    await expect.poll(() => one.output()).toBe('hi from sub\n');
    expect(one.poll()).toBe('hi from sub\n');
    expect(one.poll()).toBe('');
    expect(await one.wait(10, signal)).toBe(false);
    one.write('a line\n');
    expect(await one.wait(20_000, signal)).toBe(true);
    expect(one).toMatchObject({ running: false, exitCode: 4, endedAt: 1_000 });
    expect(one.poll()).toBe('got a line\n');
    expect(() => one.write('x')).toThrow(/has ended/);
    expect(changes).toBe(2);
    expect(sandbox.cwd).toBe(join(sandbox.root, 'sub'));
  });

  it('are ended by kill and by dispose with all they started, also what left group, session and environment', async () => {
    const first = await sandbox.start('sleep 7011 & setsid sleep 7012 & wait', {});
    const second = await sandbox.start('setsid sh -c "env -i sleep 7013 & wait" & trap "" TERM; while :; do sleep 0.2; done', {});
    await expect.poll(() => [7011, 7012, 7013].every((n) => processesWith(`sleep ${n}`).length > 0)).toBe(true);
    await first.kill();
    expect(first).toMatchObject({ running: false, exitCode: null });
    await expect.poll(() => processesWith('sleep 7011').length + processesWith('sleep 7012').length).toBe(0);
    expect(isAlive(second.pid)).toBe(true);
    await sandbox.dispose({ remove: true });
    expect(second.running).toBe(false);
    await expect.poll(() => processesWith('sleep 7013').length).toBe(0);
    expect(isAlive(second.pid)).toBe(false);
  });

  it('are at most 64 at once; finished ones make room and are forgotten after half an hour', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 64 }, () => sandbox.start('exec sleep 300', {})));
    await expect(sandbox.start('true', {})).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('64') });
    await first?.kill();
    const last = await sandbox.start('echo done', {});
    expect(sandbox.processes.get(first?.id ?? '')).toBeUndefined();
    await last.wait(20_000, signal);
    clock += 29 * 60_000;
    expect(sandbox.processes.get(last.id)).toBe(last);
    clock += 2 * 60_000;
    expect(sandbox.processes.get(last.id)).toBeUndefined();
    expect(sandbox.processes.list()).toHaveLength(others.length);
  }, 60_000);

  it('keep the last 200,000 characters', async () => {
    const one = await sandbox.start('head -c 900000 /dev/zero | tr "\\0" x; echo END', {});
    await one.wait(20_000, signal);
    expect(one.output()).toHaveLength(200_000);
    expect(one.output().endsWith('xEND\n')).toBe(true);
    expect(one.poll()).toHaveLength(200_000);
  });
});

describe.each(kinds)('secrets on %s', (kind) => {
  it('no key of ours is in the environment of a command or a background process, whatever this process has', async () => {
    process.env['TALARIA_TEST_API_KEY'] = 'sk-secret-of-the-person';
    try {
      await open(kind);
      const one = await sandbox.start('env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c sk-secret', {});
      await one.wait(20_000, signal);
      expect(one.output()).toContain('HOME=');
      expect(one.output()).not.toContain('sk-secret');
      if (kind === 'bubblewrap') expect(one.output()).toMatch(/^0$/m);
      expect(await out('env')).not.toContain('sk-secret');
    } finally {
      delete process.env['TALARIA_TEST_API_KEY'];
    }
  });

  it('file tools are never given the home of the program, credentials or processes; the workspace in it is open', async () => {
    await open(kind);
    await run('ln -s ../../keys.json link; touch mine');
    for (const path of ['link', join(home, 'keys.json'), home, join(userInfo().homedir, '.ssh', 'id_rsa'), '/etc/shadow', '/proc/self/environ']) {
      await expect(sandbox.resolve(path)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await sandbox.resolve('mine')).toBe(join(sandbox.root, 'mine'));
    await expect(sandbox.resolve(join(dir, 'elsewhere'))).rejects.toMatchObject({ code: 'outside_workspace', path: join(dir, 'elsewhere') });
  });
});

describe.runIf(missing === null)('the wall of bubblewrap', () => {
  it('lets commands write in the workspace and in a /tmp of their own, and nowhere else', async () => {
    writeFileSync(join(dir, 'beside'), 'readable');
    await open('bubblewrap', { root: join(dir, 'project') });
    expect(await out('touch here "$TMPDIR/t" /tmp/u && ls /tmp')).toContain('u');
    expect(existsSync(join(sandbox.root, 'here'))).toBe(true);
    expect(await out('ls /tmp; touch /tmp/again && echo kept')).toMatch(/t\nu\nkept/);
    const result = await run('touch /etc/zzz /usr/zzz ~root/zzz /var/zzz; echo x > /sys/zzz; echo x > /proc/sysrq-trigger');
    expect(result.output).not.toContain('kept');
    expect(result.exitCode).not.toBe(0);
    for (const path of ['/etc/zzz', '/usr/zzz', '/var/zzz']) expect(existsSync(path)).toBe(false);
    expect(await out('cat /usr/bin/env >/dev/null && echo readable')).toBe('readable\n');
  });

  it('shows neither the home of the program nor sign-ins, also when the workspace lies in it or holds it', async () => {
    await open('bubblewrap');
    expect(await out(`cat ${join(home, 'keys.json')}; ls ${home}; ls -A`)).toMatch(/No such file.*\nworkspaces\n$/);
    await sandbox.dispose({ remove: true });
    await open('bubblewrap', { root: dir });
    expect(await out(`cat home/keys.json; ls home`)).toMatch(/No such file.*\n$/);
    expect(await out(`ls -A ${userInfo().homedir} | grep -E '^\\.(ssh|aws|config|npmrc|gitconfig|gnupg|netrc|bash_history)$'`)).toBe('');
    expect(await out('cat /etc/shadow; ls /run/*.sock /var/run/docker.sock')).not.toMatch(/root:|\.sock$/m);
  });

  it('hides other processes and ends all of its own with the command', async () => {
    await open('bubblewrap');
    expect(Number(await out('ls /proc | grep -c "^[0-9]"'))).toBeLessThan(10);
    await run('setsid sleep 7021 & env -i setsid sleep 7022 & sleep 0.1');
    await expect.poll(() => processesWith('sleep 7021').length + processesWith('sleep 7022').length).toBe(0);
    const stopped = await run('setsid sleep 7023 & sleep 300', { timeoutMs: 700 });
    expect(stopped.timedOut).toBe(true);
    await expect.poll(() => processesWith('sleep 7023').length).toBe(0);
  });

  it('has no network when it is off, and has it when it is on', async () => {
    const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    try {
      const command = `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>&1`;
      await open('bubblewrap', { network: false });
      expect(await out(command)).toMatch(/refused|unreachable/i);
      await sandbox.dispose({ remove: true });
      await open('bubblewrap', { network: true });
      expect(await out(command)).toBe('hello\n');
    } finally {
      server.close();
    }
  });

  it('gives bwrap itself nothing that the command set (LD_PRELOAD would act outside)', async () => {
    await open('bubblewrap');
    await run('export LD_PRELOAD=/nonexistent/evil.so PATH=/usr/bin:/bin');
    const one = await sandbox.start('exec sleep 300', {});
    expect(readFileSync(`/proc/${one.pid}/environ`, 'latin1')).not.toContain('evil');
  });

  it('works for an ordinary user', async () => {
    await open('bubblewrap');
    if (process.getuid?.() !== 0) return expect(await out('id -u')).toBe(`${process.getuid?.()}\n`);
    const args = ['--unshare-user-try', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', 'id', '-u'];
    const said = execFileSync((await findBwrap()) ?? '', args, { encoding: 'utf8', uid: 65534, gid: 65534, cwd: '/' });
    expect(said).toBe('65534\n');
  });
});

describe('a workspace', () => {
  it('is never a folder that holds the home of the person', async () => {
    await open('host');
    await expect(openSandbox({ kind: 'host', root: join(userInfo().homedir, '..') })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that is reached by a link is its real folder', async () => {
    mkdirSync(join(dir, 'real'));
    symlinkSync(join(dir, 'real'), join(dir, 'link'));
    await open('host', { root: join(dir, 'link') });
    expect(sandbox.root).toBe(join(dir, 'real'));
  });
});
