import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createFrameReader, type ExitFrame, frame, FROM_SPAWNER, type StartFrame, TO_SPAWNER } from './spawner-frames.ts';
import { type ByteSink, type Ending, type Launch, notStarted, type Started } from './started.ts';
import { SandboxError } from './types.ts';

/** The program beside this one, as source or as built. */
const ENTRY = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? 'spawner-child.ts' : 'spawner.js');
/** It holds nothing, so its heap may stay as small as it is; with threads of its own it would only be larger. */
const FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=0'];
/** Making a spawner costs as much as it saves on about so many commands. */
const WORTH_COMMANDS = 8;
/** One that nobody has needed for so long ends. */
const IDLE_MS = 60_000;
/** What the program itself needs of the environment; commands get none of it, and there is no key in it. */
const OWN_NEEDS = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/**
 * A process that starts commands for this one; see `spawner-child.ts`. It lives until `end`, until this process ends, or until somebody
 * kills it: then the commands it watched over are `lost`.
 */
export class Spawner {
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #commands = new Map<number, Command>();
  readonly #idle: NodeJS.Timeout;
  readonly #onEnd: () => void;
  #last = 0;
  #ready = false;
  #over = false;

  /** @param onEnd it takes no more commands. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    const env: Record<string, string> = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
    for (const name of OWN_NEEDS) if (process.env[name] !== undefined) env[name] = process.env[name];
    // in a session of its own: Ctrl-C in a terminal is for the engine, which then ends its commands one by one
    this.#child = spawn(process.execPath, [...FLAGS, ENTRY], { env, cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    this.#child.on('error', () => this.#end());
    this.#child.unref();
    this.#channel = this.#child.stdio[3] as Socket;
    this.#channel.on('data', createFrameReader((type, id, body) => this.#take(type, id, body)));
    this.#channel.on('error', () => this.#end());
    this.#channel.on('close', () => this.#end());
    this.#channel.unref();
    this.#idle = setTimeout(() => this.#commands.size === 0 && this.end(), IDLE_MS).unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** It can take commands. */
  get ready(): boolean {
    return this.#ready && !this.#over;
  }

  /** It has been able to. */
  get worked(): boolean {
    return this.#ready;
  }

  /** @param sinkOf makes what takes the bytes of a stream. @throws SandboxError `unavailable` with what to do. */
  start({ file, args, cwd, env, oneStream = false }: Launch, sinkOf: () => ByteSink): Promise<Started> {
    const id = (this.#last = (this.#last + 1) >>> 0);
    const command = new Command([sinkOf(), sinkOf()], () => this.#release(id));
    this.#commands.set(id, command);
    this.#channel.ref();
    this.#idle.refresh();
    this.#channel.write(frame(TO_SPAWNER.start, id, JSON.stringify({ file, args, cwd, env, oneStream } satisfies StartFrame)));
    return command.started;
  }

  /** Ends it, and what it watches over. */
  end(): void {
    this.#channel.destroy();
    this.#end();
  }

  #take(type: number, id: number, body: Buffer): void {
    if (type === FROM_SPAWNER.ready) {
      this.#ready = true;
      return;
    }
    this.#commands.get(id)?.take(type, body);
    if (type === FROM_SPAWNER.failed || type === FROM_SPAWNER.closed) this.#forget(id);
  }

  #release(id: number): void {
    if (!this.#commands.has(id) || this.#over) return;
    this.#channel.write(frame(TO_SPAWNER.release, id));
    this.#forget(id);
  }

  #forget(id: number): void {
    this.#commands.delete(id);
    this.#idle.refresh();
    if (this.#commands.size === 0) this.#channel.unref();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#idle);
    this.#onEnd();
    for (const command of this.#commands.values()) command.lose();
    this.#commands.clear();
  }
}

/** What is known here of a command that the spawner watches over. */
class Command implements Started {
  pid = -1;
  lost = false;
  readonly started: Promise<Started>;
  readonly ended: Promise<Ending>;
  readonly closed: Promise<void>;
  readonly release: () => void;
  readonly #settle: { started: (value: Started) => void; failed: (error: SandboxError) => void; ended: (value: Ending) => void; closed: () => void };
  /** Of stdout and stderr. */
  #sinks: readonly ByteSink[];

  constructor(sinks: readonly ByteSink[], release: () => void) {
    this.#sinks = sinks;
    const started = Promise.withResolvers<Started>();
    const ended = Promise.withResolvers<Ending>();
    const closed = Promise.withResolvers<void>();
    this.started = started.promise;
    this.ended = ended.promise;
    this.closed = closed.promise;
    this.#settle = { started: started.resolve, failed: started.reject, ended: ended.resolve, closed: closed.resolve };
    this.release = () => {
      this.#sinks = [];
      release();
    };
  }

  take(type: number, body: Buffer): void {
    switch (type) {
      case FROM_SPAWNER.started:
        this.pid = body.readUInt32BE(0);
        this.#settle.started(this);
        break;
      case FROM_SPAWNER.failed:
        this.#settle.failed(notStarted(body.toString()));
        break;
      case FROM_SPAWNER.stdout:
      case FROM_SPAWNER.stderr:
        this.#sinks[type - FROM_SPAWNER.stdout]?.write(body);
        break;
      case FROM_SPAWNER.exited:
        this.#settle.ended(JSON.parse(body.toString()) as ExitFrame);
        break;
      case FROM_SPAWNER.closed:
        for (const one of this.#sinks) one.end();
        this.#settle.closed();
        break;
    }
  }

  lose(): void {
    this.lost = true;
    this.#settle.failed(new SandboxError('unavailable', 'The command could not be started: the process that starts commands has just ended. Run it again.'));
    this.#settle.ended({ code: null, signal: null });
    this.#settle.closed();
  }
}

let current: Spawner | null = null;
let asked = 0;
/** None can be had here: it ended before it could take a command. Windows has no process groups, and starts programs in another way. */
let useless = process.platform === 'win32';

/**
 * The spawner for one more command; null as long as there is none: the command is then started without it, so that none ever waits for one.
 */
export function spawnerForNext(): Spawner | null {
  if (useless) return null;
  asked += 1;
  if (asked > WORTH_COMMANDS) current ??= makeSpawner();
  return current?.ready === true ? current : null;
}

/** Makes the spawner ahead, for somebody who is about to have many commands run: the first of them would else be started without it. */
export function expectCommands(): void {
  if (!useless) current ??= makeSpawner();
}

function makeSpawner(): Spawner {
  const made = new Spawner(() => {
    if (!made.worked) useless = true;
    current = null;
  });
  return made;
}
