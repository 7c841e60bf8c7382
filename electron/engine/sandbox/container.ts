import { randomUUID } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join, posix, relative, sep } from 'node:path';
import { isInside } from './confine.ts';
import { ContainerError, docker, dockerEnvironment, saidBy } from './docker.ts';
import { COMMAND_MARK } from './environment.ts';
import { GroundSandbox } from './ground-sandbox.ts';
import type { Ground } from './ground.ts';
import { needImage } from './image.ts';
import { labelOf, markContainers, removeContainer } from './leftovers.ts';
import { prepareRoot, surroundings } from './open.ts';
import { removeFolder } from './remove.ts';
import type { Sandbox } from './types.ts';

const START_MS = 120_000;
const COPY_MS = 600_000;
const QUICK_MS = 60_000;
/** Where the workspace is when the row names no folder. */
const DEFAULT_ROOT = '/workspace';
/** Where the shell notes its state for the next command. */
const NOTES = '/run/sandbox-notes';
const MAX_PROCESSES = 2048;
/** Set in every command besides what the image sets. Git would else refuse a workspace that belongs to another user. */
const ENV = {
  TERM: 'dumb', NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*',
  PYTHONUNBUFFERED: '1', DEBIAN_FRONTEND: 'noninteractive',
};
/** Ends the processes that carry a mark in their environment: $1 is its name and value. */
const END_MARKED =
  'for s in TERM KILL; do n=0; for f in $(grep -lF "$1" /proc/[0-9]*/environ 2>/dev/null); do p="${f#/proc/}"; kill -$s "${p%/environ}" 2>/dev/null && n=1; done; [ $n = 0 ] && exit 0; [ $s = TERM ] && { sleep 0.2 2>/dev/null || sleep 1; }; done';

export interface ContainerOptions {
  /** Name of the image, checked by the caller to be one. */
  image: string;
  /** Workspace folder on this machine; created when missing, empty. */
  root: string;
  /**
   * Absolute: folder of the image where the workspace is laid; what the image has there is in the workspace at the beginning. Relative: a
   * folder in the workspace in which commands start. Null: the workspace is at /workspace.
   */
  cwd: string | null;
  network: boolean;
  hidden: readonly string[];
  now: () => number;
  signal: AbortSignal;
}

/**
 * A workspace whose commands run in a container of its own, by the docker command line. File tools work on the workspace on this machine,
 * which the container has by a bind mount; commands run as the image's user, with the image's environment. The container is gone after
 * `dispose`.
 * @throws ContainerError; the signal's reason.
 */
export async function openContainer(options: ContainerOptions): Promise<Sandbox> {
  const { image, hidden, now, signal } = options;
  await needImage(image, signal);
  const root = await prepareRoot(options.root);
  const { tmp, hidden: real } = await surroundings(root, hidden);
  const absolute = options.cwd?.startsWith('/') ? options.cwd : null;
  const place = { ...options, root, tmp, inner: absolute ?? DEFAULT_ROOT, name: `sandbox-${randomUUID()}`, label: labelOf(dirname(root)) };
  try {
    await markContainers(dirname(root));
    if (absolute !== null) await copyFromImage(place);
    await start(place);
    const ground = await containerGround(place);
    const cwd = absolute === null && options.cwd !== null ? posix.join(place.inner, options.cwd) : place.inner;
    await mkdir(ground.toHost(cwd) ?? root, { recursive: true });
    return new GroundSandbox({ root, tmp, hidden: real, ground, cwd, now });
  } catch (error) {
    await removeContainer(place.name);
    await removeFolder(tmp);
    throw error;
  }
}

interface Place extends ContainerOptions {
  tmp: string;
  /** The workspace in the container. */
  inner: string;
  name: string;
  label: string;
}

/** What the image has where the workspace will be. A folder that it does not have is an empty workspace. */
async function copyFromImage({ image, root, inner, name, label, signal }: Place): Promise<void> {
  const from = `${name}-image`;
  try {
    // Not stopped half way: what the daemon makes after that would stay.
    const made = await docker(['create', '--name', from, '--label', label, '--pull', 'never', image, 'true'], { timeoutMs: START_MS });
    signal.throwIfAborted();
    if (!made.ok) throw new ContainerError('failed', `No container could be made of ${image}. Docker said: ${saidBy(made)}`);
    const copied = await docker(['cp', `${from}:${inner}/.`, root], { timeoutMs: COPY_MS, signal });
    if (!copied.ok && !/could not find the file|no such (?:file|container:path)|not found in container/i.test(copied.stderr)) {
      throw new ContainerError('failed', `The folder ${inner} of ${image} could not be copied into the workspace. Docker said: ${saidBy(copied)}`);
    }
  } finally {
    await removeContainer(from);
  }
}

async function start({ image, root, tmp, inner, name, label, network, signal }: Place): Promise<void> {
  const args = [
    'run', '--detach', '--rm', '--init', '--pull', 'never', '--name', name, '--label', label, '--pids-limit', String(MAX_PROCESSES), '--security-opt', 'no-new-privileges',
    ...(network ? [] : ['--network', 'none']),
    '--mount', mount(root, inner), '--mount', mount(await notesFolder(tmp), NOTES), '--workdir', inner, '--entrypoint', 'sh', image,
    '-c', 'while :; do sleep 3600; done',
  ];
  const started = await docker(args, { timeoutMs: START_MS });
  signal.throwIfAborted();
  if (started.ok) return;
  const noShell = /executable file not found|no such file or directory|exec format error/i.test(started.stderr);
  throw new ContainerError(noShell ? 'unusable' : 'failed', `${noShell ? `The image ${image} has no shell (sh), or is made for another kind of machine` : `The container of ${image} did not start`}. Docker said: ${saidBy(started)}`);
}

async function containerGround({ image, root, tmp, inner, name, signal }: Place): Promise<Ground> {
  const asked = await docker(['exec', name, 'sh', '-c', 'command -v bash || command -v sh; id -u'], { timeoutMs: QUICK_MS, signal });
  const [path, user] = asked.stdout.trim().split('\n');
  if (!asked.ok || !path?.startsWith('/') || user === undefined) throw new ContainerError('unusable', `No command can be run in a container of ${image}. Docker said: ${saidBy(asked)}`);
  const shares = new SharedFiles(name, [inner, NOTES], user);
  await shares.open(signal);
  const client = dockerEnvironment();
  const places: readonly (readonly [string, string])[] = [[inner, root], [NOTES, join(tmp, 'notes')]];
  return {
    kind: 'container',
    root: inner,
    notes: NOTES,
    env: ENV,
    shell: { path, name: posix.basename(path) },
    launch: ({ file, args, cwd, env, mark, input }) => ({
      file: 'docker',
      args: ['exec', ...(input ? ['--interactive'] : []), '--workdir', cwd, ...Object.entries({ ...env, [COMMAND_MARK]: closed(mark) }).flatMap(([key, value]) => ['--env', `${key}=${value}`]), name, ...shares.wrap(file, args)],
      cwd: root,
      env: { ...client, [COMMAND_MARK]: mark },
      mark,
      end: async () => void (await docker(['exec', '--user', '0', name, 'sh', '-c', END_MARKED, 'sh', `${COMMAND_MARK}=${closed(mark)}`], { timeoutMs: QUICK_MS }).catch(() => null)),
    }),
    toHost(path) {
      const normal = posix.normalize(path);
      for (const [from, to] of places) if (normal === from || normal.startsWith(`${from}/`)) return join(to, normal.slice(from.length));
      return null;
    },
    toInner: (outer) => (isInside(root, outer) ? posix.join(inner, relative(root, outer).split(sep).join('/')) : outer),
    hasFolder: async (folder) => (await docker(['exec', name, 'test', '-d', folder], { timeoutMs: QUICK_MS }).catch(() => null))?.ok ?? true,
    async close() {
      await shares.close();
      await removeContainer(name);
    },
  };
}

/**
 * Files that the container's user and ours both write. Where ours is not the administrator they are different users on Linux: what the
 * container makes is then open to all (the folder around the workspaces is not), and belongs to us when it ends. Docker's machines on macOS
 * and Windows see to that themselves.
 */
class SharedFiles {
  readonly #name: string;
  readonly #folders: readonly string[];
  readonly #needed: boolean;
  readonly #owner: string;

  /** @param user the container's, by number. */
  constructor(name: string, folders: readonly string[], user: string) {
    const uid = process.getuid?.();
    this.#name = name;
    this.#folders = folders;
    this.#owner = `${uid}:${process.getgid?.()}`;
    this.#needed = process.platform === 'linux' && uid !== undefined && uid !== 0 && user !== String(uid);
  }

  async open(signal: AbortSignal): Promise<void> {
    if (this.#needed) await this.#asRoot(['chmod', '-R', 'a+rwX', ...this.#folders], signal);
  }

  async close(): Promise<void> {
    if (this.#needed) await this.#asRoot(['chown', '-R', this.#owner, ...this.#folders]).catch(() => null);
  }

  wrap(file: string, args: readonly string[]): string[] {
    return this.#needed ? ['sh', '-c', 'umask 000; exec "$@"', 'sh', file, ...args] : [file, ...args];
  }

  async #asRoot(command: readonly string[], signal?: AbortSignal): Promise<void> {
    await docker(['exec', '--user', '0', this.#name, ...command], { timeoutMs: START_MS, signal });
  }
}

async function notesFolder(tmp: string): Promise<string> {
  const folder = join(tmp, 'notes');
  await mkdir(folder, { recursive: true });
  // The folder around it is closed to others.
  await chmod(folder, 0o777);
  return folder;
}

/** A mark that is no beginning of another one. */
function closed(mark: string): string {
  return `${mark};`;
}

/** Docker reads the value as a line of CSV. */
function mount(source: string, target: string): string {
  return ['type=bind', `source=${source}`, `target=${target}`].map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}
