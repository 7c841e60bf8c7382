import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../store/folders.ts';
import { BackgroundProcesses } from './background.ts';
import { runCommand } from './command.ts';
import { confinePath, isInside } from './confine.ts';
import type { Ground, InnerLaunch } from './ground.ts';
import { processMoment, send, signalGroup, strayProcesses } from './processes.ts';
import type { ProcessMoment } from './processes.ts';
import { removeFolder } from './remove.ts';
import { isSecret } from './secret-paths.ts';
import { readState, removeState, shellArgs } from './shell-state.ts';
import type { ShellState } from './shell-state.ts';
import { type Launch, startCommand } from './started.ts';
import { SandboxError } from './types.ts';
import type { BackgroundProcess, CommandResult, Sandbox, StartOptions } from './types.ts';

/** Shells there keep their state only in the process itself. */
const CARRIES_STATE = process.platform !== 'win32';
/** Made once: it would else be made, with a stack, for every sandbox. */
const CLOSED = new DOMException('The workspace was closed.', 'AbortError');

interface Parts {
  /** The workspace on this machine, a real path. */
  root: string;
  /** Folder of this sandbox for temporary files, on this machine. */
  tmp: string;
  hidden: readonly string[];
  ground: Ground;
  /** Folder in which the first command starts, as commands see it; the workspace when left out. */
  cwd?: string | undefined;
  now: () => number;
}

/** A sandbox whose workspace is a folder of this machine, wherever its commands run. */
export class GroundSandbox implements Sandbox {
  readonly kind: Sandbox['kind'];
  readonly root: string;
  readonly commandRoot: string;
  readonly processes: BackgroundProcesses;
  onProcesses?: () => void;
  readonly #parts: Parts;
  /** Begins with the process that must live for the commands to live; see `endLeftovers`. */
  readonly #id = `${process.pid}:${randomUUID()}`;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #groups = new Set<number>();
  #count = 0;
  /** Before the first command. */
  #began: ProcessMoment | null = null;
  #state: ShellState;
  /** The notes of the last command are gone: nothing waits for that but the next one, and the end. */
  #cleaned: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.kind = parts.ground.kind;
    this.root = parts.root;
    this.commandRoot = parts.ground.root;
    this.#state = { cwd: parts.cwd ?? parts.ground.root, env: parts.ground.env };
    this.processes = new BackgroundProcesses({ now: parts.now, changed: () => this.onProcesses?.() });
  }

  get cwd(): string {
    return this.#state.cwd;
  }

  async resolve(path: string): Promise<string> {
    const { root, hidden } = this.#parts;
    const refuse = (): SandboxError => new SandboxError('forbidden', `"${path}" holds keys or credentials, or belongs to the program itself. It is never opened to agents. Go on without it.`);
    try {
      const real = await confinePath(root, this.#onHost(path));
      if (isSecret(real, root, hidden)) throw refuse();
      return real;
    } catch (error) {
      if (error instanceof SandboxError && error.path !== null && isSecret(error.path, root, hidden)) throw refuse();
      throw error;
    }
  }

  /** A path of the workspace as commands see it, on this machine. */
  #onHost(path: string): string {
    const { root, ground } = this.#parts;
    const moved = path.startsWith('/') ? ground.toHost(path) : null;
    return moved !== null && isInside(root, moved) ? moved : path;
  }

  run(command: string, options: StartOptions & { timeoutMs: number; signal: AbortSignal; onOutput?: (text: string) => void }): Promise<CommandResult> {
    return this.#track(this.#run(command, options));
  }

  start(command: string, options: StartOptions): Promise<BackgroundProcess> {
    return this.#track(this.#start(command, options));
  }

  async dispose({ remove }: { remove: boolean }): Promise<void> {
    this.#ending.abort(CLOSED);
    await this.#parts.ground.close?.();
    await Promise.allSettled(this.#running);
    await Promise.all(this.processes.list().map((one) => one.kill()));
    for (const pid of this.#groups) signalGroup(pid, 'SIGKILL');
    if (this.#count > 0) for (const pid of await strayProcesses(`${this.#id}.`, { since: this.#began })) send(pid, 'SIGKILL');
    await this.#cleaned;
    await Promise.all([this.#parts.tmp, ...(remove ? [this.root] : [])].map(removeFolder));
  }

  async #run(command: string, options: StartOptions & { timeoutMs: number; signal: AbortSignal; onOutput?: (text: string) => void }): Promise<CommandResult> {
    const { cwd, note } = await this.#folder(options);
    const saved = CARRIES_STATE && !options.pristine ? `.state-${this.#count + 1}` : null;
    const launch = await this.#launch(command, { cwd, saved, env: options.pristine ? this.#parts.ground.env : this.#state.env, input: false });
    const result = await runCommand({
      ...launch,
      timeoutMs: options.timeoutMs,
      signal: AbortSignal.any([options.signal, this.#ending.signal]),
      onOutput: options.onOutput,
      onGroup: (pid, alive) => (alive ? this.#groups.add(pid) : this.#groups.delete(pid)),
    });
    const later = saved === null ? null : this.#carryOver(saved, result, options.workdir === undefined ? null : this.#state.cwd);
    return { ...result, note: [note, later].filter((text) => text !== null).join(' ') || null };
  }

  async #start(command: string, options: StartOptions): Promise<BackgroundProcess> {
    this.processes.makeRoom();
    const { cwd } = await this.#folder(options);
    const launch = await this.#launch(command, { cwd, saved: null, env: this.#state.env, input: true });
    const child = await startCommand(launch, 'pipe');
    const { pid } = child;
    if (pid === undefined) throw new SandboxError('unavailable', 'The command could not be started.');
    this.#groups.add(pid);
    const one = this.processes.add(command, launch, child, () => {
      if (!signalGroup(pid, 0)) this.#groups.delete(pid);
    });
    if (this.#ending.signal.aborted) await one.kill();
    return one;
  }

  /** Where a command starts, as it sees it, and a note when that is not where the last one ended. */
  async #folder({ workdir, anywhere }: StartOptions): Promise<{ cwd: string; note: string | null }> {
    if (this.#ending.signal.aborted) throw new SandboxError('unavailable', 'This workspace has been closed.');
    const { root, ground } = this.#parts;
    if (workdir === undefined && this.#state.cwd === ground.root && (await this.#isFolder(ground.root))) return { cwd: ground.root, note: null };
    // A command may have removed the workspace itself.
    await makeFolders(root);
    if (workdir !== undefined) return { cwd: ground.toInner(await this.#openWorkdir(workdir, anywhere ?? false)), note: null };
    const { cwd } = this.#state;
    if (await this.#isFolder(cwd)) return { cwd, note: null };
    this.#state = { ...this.#state, cwd: ground.root };
    return { cwd: ground.root, note: `The folder "${cwd}" of the command before is gone; this one started in the workspace root.` };
  }

  async #isFolder(inner: string): Promise<boolean> {
    const { ground } = this.#parts;
    const path = ground.toHost(inner);
    if (path === null) return (await ground.hasFolder?.(inner)) ?? true;
    try {
      // in place: through the thread pool it would wait for its turn, before every command
      return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    } catch {
      return false;
    }
  }

  async #openWorkdir(workdir: string, anywhere: boolean): Promise<string> {
    const path = await this.resolve(workdir).catch((error: unknown) => {
      if (anywhere && error instanceof SandboxError && error.code === 'outside_workspace' && error.path !== null) return error.path;
      throw error;
    });
    const entry = await stat(path).catch(() => null);
    if (entry?.isDirectory()) return path;
    throw new SandboxError(
      'not_found',
      entry ? `The workdir "${workdir}" is a file. Give a folder, or leave workdir out.` : `The workdir "${workdir}" does not exist. Create it first, or leave workdir out.`,
    );
  }

  /** @param saved name of the file that takes the shell's state. */
  async #launch(command: string, { saved, ...rest }: Pick<InnerLaunch, 'cwd' | 'env' | 'input'> & { saved: string | null }): Promise<Launch> {
    const { ground } = this.#parts;
    const { shell } = ground;
    await this.#cleaned;
    if (this.#count === 0) this.#began = processMoment();
    this.#count += 1;
    const mark = `${this.#id}.${this.#count}`;
    if (process.platform === 'win32' && ground.kind === 'host') return ground.launch({ file: shell.path, args: ['/d', '/s', '/c', `"${command}"`], mark, ...rest });
    const args = shellArgs(shell, command, saved === null ? null : `${ground.notes}/${saved}`);
    return ground.launch({ file: shell.path, args, mark, ...rest });
  }

  /**
   * Takes over what the shell noted; after a command that was stopped, or that noted nothing, the last known state stays.
   * @param keepCwd the folder that stays, because the command had a workdir of its own.
   */
  #carryOver(saved: string, result: CommandResult, keepCwd: string | null): string | null {
    const { tmp, ground } = this.#parts;
    const file = ground.toHost(`${ground.notes}/${saved}`) ?? join(tmp, saved);
    const noted = readState(file);
    this.#cleaned = removeState(file);
    if (noted === null || result.timedOut || result.aborted) return null;
    this.#state = { cwd: keepCwd ?? noted.state.cwd, env: noted.state.env };
    return noted.dropped.length > 0 ? `Variables that are too large to carry over to the next command: ${noted.dropped.slice(0, 10).join(', ')}.` : null;
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}
