import { randomBytes } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { terminate } from './command.ts';
import { OutputCollector } from './output.ts';
import type { Launch } from './started.ts';
import { SandboxError } from './types.ts';
import type { BackgroundProcess } from './types.ts';

/** Most that run at once, and most that are remembered. */
const MAX_PROCESSES = 64;
/** Characters of output that are kept of each: the last ones. */
const OUTPUT_KEPT_CHARS = 200_000;
/** How long one that has ended is remembered. */
const FINISHED_KEPT_MS = 30 * 60_000;
/** What a program that does not read may leave in its input. */
const MAX_PENDING_INPUT_BYTES = 1024 * 1024;
/** How long a process that has ended may take to close its pipe before it counts as ended. */
const CLOSE_MS = 500;

/** The programs of one sandbox that run while the agent goes on. */
export class BackgroundProcesses {
  readonly #all = new Map<string, Running>();
  readonly #now: () => number;
  readonly #changed: () => void;

  constructor(options: { now: () => number; changed: () => void }) {
    this.#now = options.now;
    this.#changed = options.changed;
  }

  /** In the order in which they were started; those that ended long ago are forgotten. */
  list(): readonly BackgroundProcess[] {
    for (const [id, one] of this.#all) if (one.endedAt !== null && this.#now() - one.endedAt > FINISHED_KEPT_MS) this.#all.delete(id);
    return [...this.#all.values()];
  }

  get(id: string): BackgroundProcess | undefined {
    return this.list().find((one) => one.id === id);
  }

  /** Throws SandboxError `unavailable` when one more cannot be taken; call it before starting. */
  makeRoom(): void {
    const all = this.list();
    if (all.length < MAX_PROCESSES) return;
    const oldest = all.find((one) => !one.running);
    if (!oldest) throw new SandboxError('unavailable', `${MAX_PROCESSES} background processes run already. End one with process (action "kill") first.`);
    this.#all.delete(oldest.id);
  }

  add(command: string, launch: Launch, child: ChildProcess, onEnd: () => void): BackgroundProcess {
    const one = new Running(command, launch, child, this.#now, () => {
      onEnd();
      this.#changed();
    });
    this.#all.set(one.id, one);
    this.#changed();
    return one;
  }
}

class Running implements BackgroundProcess {
  /** Random, so that the id of an earlier sandbox never names another process. */
  readonly id = `proc_${randomBytes(4).toString('hex')}`;
  readonly command: string;
  readonly pid: number;
  readonly startedAt: number;
  endedAt: number | null = null;
  exitCode: number | null = null;
  readonly #launch: Launch;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #text = '';
  /** Characters that came in all, and those that `poll` has given. */
  #total = 0;
  #polled = 0;

  constructor(command: string, launch: Launch, child: ChildProcess, now: () => number, onEnd: () => void) {
    this.command = command;
    this.pid = child.pid ?? -1;
    this.startedAt = now();
    this.#launch = launch;
    this.#child = child;
    const collector = new OutputCollector((text) => this.#keep(text), 0);
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      const sink = collector.stream();
      stream.on('data', (bytes: Buffer) => sink.write(bytes));
      stream.on('end', () => sink.end());
      stream.on('error', () => undefined);
    }
    // A program that ended no longer reads: that is no defect.
    child.stdin?.on('error', () => undefined);
    const exited = new Promise<void>((done) => child.once('exit', () => done()));
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    this.#ended = exited
      .then(() => Promise.race([closed, delay(CLOSE_MS, undefined, { ref: false })]))
      .then(() => {
        this.endedAt = now();
        this.exitCode = child.exitCode;
        for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
        onEnd();
      });
  }

  get running(): boolean {
    return this.endedAt === null;
  }

  output(): string {
    return this.#text.slice(-OUTPUT_KEPT_CHARS).replace(/^[\udc00-\udfff]/, '');
  }

  poll(): string {
    const fresh = Math.min(this.#total - this.#polled, this.#text.length, OUTPUT_KEPT_CHARS);
    this.#polled = this.#total;
    return fresh === 0 ? '' : this.#text.slice(-fresh);
  }

  async wait(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const stop = new AbortController();
    try {
      await Promise.race([this.#ended, delay(timeoutMs, undefined, { signal: AbortSignal.any([signal, stop.signal]) }).catch(() => undefined)]);
    } finally {
      stop.abort();
    }
    return !this.running;
  }

  write(data: string): void {
    const { stdin } = this.#child;
    if (!this.running || !stdin?.writable) throw new SandboxError('unavailable', `The process ${this.id} has ended or closed its input.`);
    if (stdin.writableLength > MAX_PENDING_INPUT_BYTES) throw new SandboxError('unavailable', `The process ${this.id} does not read its input; ${MAX_PENDING_INPUT_BYTES / 1024} KiB wait already.`);
    stdin.write(data);
  }

  async kill(): Promise<void> {
    if (this.running) await terminate(this.pid, this.#launch);
    await this.#ended;
  }

  #keep(text: string): void {
    this.#total += text.length;
    this.#text += text;
    if (this.#text.length > 2 * OUTPUT_KEPT_CHARS) this.#text = this.#text.slice(-OUTPUT_KEPT_CHARS);
  }
}
