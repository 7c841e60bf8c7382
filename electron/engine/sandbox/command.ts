import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './confine.ts';
import { OutputCollector } from './output.ts';
import { killTree, send, signalGroup, strayProcesses } from './processes.ts';
import { SandboxError } from './types.ts';
import type { CommandResult } from './types.ts';

export interface Shell {
  path: string;
  name: string;
}

interface CommandOptions {
  shell: Shell;
  command: string;
  cwd: string;
  env: Record<string, string>;
  /** Value of the mark in `env`. */
  mark: string;
  timeoutMs: number;
  signal: AbortSignal;
  onOutput?: ((text: string) => void) | undefined;
  /** A process group appeared, or is known to be empty. */
  onGroup: (pid: number, alive: boolean) => void;
}

/** Between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 300;
const KILL_POLL_MS = 20;
/** How long a killed command may take to close its pipe before it is left to itself. */
const KILLED_CLOSE_MS = 200;
/** After the shell ended and a background child still holds the pipe: silence, and total time, until the answer is given. */
const QUIET_MS = 100;
const LINGER_MS = 1_000;
/** Timers of more than 2^31-1 ms fire at once. */
const MAX_TIMEOUT_MS = 24 * 3600 * 1000;

/**
 * Runs one command in its own process group and resolves when its shell has ended, or shortly after it was killed. Never waits
 * for background children that hold the output pipe; what they still write is drained and dropped.
 * @throws SandboxError `unavailable` when the command cannot be started.
 */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const startedAt = performance.now();
  const outcome = { timedOut: false, aborted: false };
  const collector = new OutputCollector(options.onOutput);
  const result = (exitCode: number | null): CommandResult => ({
    output: collector.toString(),
    exitCode,
    ...outcome,
    durationMs: Math.round(performance.now() - startedAt),
  });
  if (options.signal.aborted) {
    outcome.aborted = true;
    return result(null);
  }

  const child = await start(options);
  const pid = child.pid;
  if (pid === undefined) throw new SandboxError('unavailable', 'The command could not be started.');
  options.onGroup(pid, true);
  const exit = watch(child, collector);

  const stop = new Promise<'timedOut' | 'aborted'>((done) => {
    const timer = setTimeout(() => done('timedOut'), Math.min(options.timeoutMs, MAX_TIMEOUT_MS));
    const onAbort = (): void => done('aborted');
    options.signal.addEventListener('abort', onAbort, { once: true });
    // It may have come while the process was starting.
    if (options.signal.aborted) onAbort();
    void exit.ended.finally(() => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
    });
  });

  const first = await Promise.race([exit.ended, stop]);
  if (first === 'ended') {
    await exit.drained();
    exit.release();
    if (!signalGroup(pid, 0)) options.onGroup(pid, false);
    return result(exitCodeOf(child));
  }
  outcome[first] = true;
  await terminate(pid, options.mark);
  await Promise.race([exit.closed, delay(KILLED_CLOSE_MS, undefined, { ref: false })]);
  exit.release();
  options.onGroup(pid, false);
  return result(null);
}

/**
 * The shell starts itself anew with both streams on one pipe: only so does output come in the order in which it was written.
 */
async function start(options: CommandOptions): Promise<ChildProcess> {
  const { shell, command, cwd, env } = options;
  const windows = process.platform === 'win32';
  const args = windows ? ['/d', '/s', '/c', `"${command}"`] : ['-c', 'exec "$1" -c "$2" "$3" 2>&1', shell.name, shell.path, command, shell.name];
  try {
    const child = spawn(shell.path, args, {
      cwd,
      env,
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: windows,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await new Promise<void>((done, failed) => child.once('spawn', done).once('error', failed));
    child.on('error', () => undefined);
    return child;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'E2BIG') {
      throw new SandboxError('unavailable', 'The command is too long for the operating system. Write it into a script file first, then run that file.');
    }
    if (code === 'ERR_INVALID_ARG_VALUE') throw new SandboxError('unavailable', 'The command contains a NUL character. Remove it.');
    throw new SandboxError('unavailable', `The command could not be started (${code ?? String(error)}).`);
  }
}

interface Watch {
  ended: Promise<'ended'>;
  closed: Promise<void>;
  /** Resolves when nothing more is to be expected from the pipe. */
  drained(): Promise<void>;
  /** Gives the output up: later bytes are read and dropped, so that a background child neither blocks nor dies of a closed pipe. */
  release(): void;
}

function watch(child: ChildProcess, collector: OutputCollector): Watch {
  let lastData = performance.now();
  let open = true;
  let closed = false;
  const streams = [child.stdout, child.stderr].filter((stream): stream is Readable => stream !== null);
  for (const stream of streams) {
    const sink = collector.stream();
    stream.on('data', (bytes: Buffer) => {
      lastData = performance.now();
      if (open) sink.write(bytes);
    });
    stream.on('end', () => open && sink.end());
    stream.on('error', () => undefined);
  }
  const closing = new Promise<void>((done) => {
    child.once('close', () => {
      closed = true;
      done();
    });
  });
  return {
    ended: new Promise((done) => child.once('exit', () => done('ended'))),
    closed: closing,
    async drained() {
      const until = performance.now() + LINGER_MS;
      lastData = performance.now();
      while (!closed && performance.now() < until) {
        const wait = Math.max(1, lastData + QUIET_MS - performance.now());
        await Promise.race([closing, delay(wait)]);
        // A late timer must not win against bytes that already wait in the pipe: one turn of the loop reads them.
        await new Promise((turn) => setImmediate(turn));
        if (performance.now() - lastData >= QUIET_MS) return;
      }
    },
    release() {
      open = false;
      for (const stream of streams) if (stream instanceof Socket) stream.unref();
      child.unref();
    },
  };
}

/** SIGTERM to the group and to everything that left it, a short grace, then SIGKILL to what is left. */
async function terminate(pid: number, mark: string): Promise<void> {
  const strays = new Set(await strayProcesses(mark, pid));
  signalGroup(pid, 'SIGTERM');
  for (const stray of strays) send(stray, 'SIGTERM');
  const until = performance.now() + KILL_GRACE_MS;
  while (performance.now() < until && (signalGroup(pid, 0) || [...strays].some((stray) => send(stray, 0)))) {
    await delay(KILL_POLL_MS);
  }
  await killTree(pid);
  signalGroup(pid, 'SIGKILL');
  for (const stray of await strayProcesses(mark, pid)) strays.add(stray);
  for (const stray of strays) send(stray, 'SIGKILL');
}

function exitCodeOf(child: ChildProcess): number | null {
  if (child.exitCode !== null) return child.exitCode;
  // The shells' own convention for death by a signal.
  return child.signalCode === null ? null : 128 + constants.signals[child.signalCode];
}
