import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { errorCode } from './confine.ts';
import { SandboxError } from './types.ts';

/** A program with its arguments, ready to be started. */
export interface Launch {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Value of the mark in the command's environment. */
  mark: string;
  /** The shell puts both streams on one pipe itself: what is said before that is not for anybody. */
  oneStream?: boolean;
  /** Ends what the command started where signals of this machine do not reach it. Never throws. */
  end?: () => Promise<void>;
}

/** Takes the bytes of one stream. */
export interface ByteSink {
  write(bytes: Buffer): void;
  end(): void;
}

/** How a program ended; both null when nobody can say. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A program that runs in a process group of its own, without input. */
export interface Started {
  readonly pid: number;
  /** Resolves when the program has ended; what it started may still run, and output may follow. */
  readonly ended: Promise<Ending>;
  /** Resolves when nobody holds its pipes any more. */
  readonly closed: Promise<void>;
  /** Whoever watched over it is gone, so that it ended for all that is known here, but perhaps still runs. */
  readonly lost: boolean;
  /** Later bytes are read and dropped, so that what still runs neither blocks nor dies of a closed pipe; nobody waits for it. */
  release(): void;
}

/** Starts it in a process group of its own. @throws SandboxError `unavailable` with what to do. */
export async function startCommand({ file, args, cwd, env, oneStream = false }: Launch, stdin: 'ignore' | 'pipe'): Promise<ChildProcess> {
  const windows = process.platform === 'win32';
  try {
    const child = spawn(file, args, {
      cwd,
      env,
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: windows,
      stdio: [stdin, 'pipe', oneStream ? 'ignore' : 'pipe'],
    });
    await new Promise<void>((done, failed) => child.once('spawn', done).once('error', failed));
    child.on('error', () => undefined);
    return child;
  } catch (error) {
    throw notStarted(errorCode(error) ?? String(error));
  }
}

/** What a program that could not be started means. @param code the system's, or Node's. */
export function notStarted(code: string): SandboxError {
  if (code === 'E2BIG') {
    return new SandboxError('unavailable', 'The command is too long for the operating system. Write it into a script file first, then run that file.');
  }
  if (code === 'ERR_INVALID_ARG_VALUE') return new SandboxError('unavailable', 'The command contains a NUL character. Remove it.');
  return new SandboxError('unavailable', `The command could not be started (${code}).`);
}

/** One that this process starts and watches over itself. @param sinkOf makes what takes the bytes of a stream. */
export async function startHere(launch: Launch, sinkOf: () => ByteSink): Promise<Started> {
  const child = await startCommand(launch, 'ignore');
  if (child.pid === undefined) throw new SandboxError('unavailable', 'The command could not be started.');
  const streams = [child.stdout, child.stderr].filter((stream): stream is Readable => stream !== null);
  let released = false;
  for (const stream of streams) {
    const sink = sinkOf();
    stream.on('data', (bytes: Buffer) => released || sink.write(bytes));
    stream.on('end', () => released || sink.end());
    stream.on('error', () => undefined);
  }
  return {
    pid: child.pid,
    lost: false,
    ended: new Promise((done) => child.once('exit', (code, signal) => done({ code, signal }))),
    closed: new Promise((done) => child.once('close', () => done())),
    release() {
      released = true;
      for (const stream of streams) if (stream instanceof Socket) stream.unref();
      child.unref();
    },
  };
}

/** As shells say it: death by a signal is 128 and its number. */
export function exitCodeOf({ code, signal }: Ending): number | null {
  if (code !== null) return code;
  return signal === null ? null : 128 + constants.signals[signal];
}
