import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, mkdtemp, realpath, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, parse, resolve } from 'node:path';
import { confinePath, errorCode } from './confine.ts';
import { COMMAND_MARK, commandEnvironment } from './environment.ts';
import { runCommand } from './command.ts';
import type { Shell } from './command.ts';
import { send, signalGroup, strayProcesses } from './processes.ts';
import { removeFolder, temporaryPrefix } from './remove.ts';
import { SandboxError } from './types.ts';
import type { Sandbox } from './types.ts';

/**
 * A workspace folder on this machine in which commands run as ordinary processes of this user.
 *
 * What it promises: every command runs in its own process group with an environment that holds no keys, starts inside the
 * workspace, is killed with all its children on timeout and abort, and `resolve` never answers with a path outside. What it
 * cannot promise: a shell command may name any path the user may read or write. Only a container stops that; `dangerous.ts`
 * catches the well-known accidents and nothing more.
 *
 * Commands share HOME (the workspace) and a private TMPDIR. Background processes live on between commands until `dispose`.
 * @param options.root workspace folder; created when missing. @param options.env extra variables for commands.
 * @throws SandboxError `unavailable` when the folder cannot be used.
 */
export async function createHostSandbox(options: { root: string; env?: Record<string, string> }): Promise<Sandbox> {
  const root = await prepareRoot(options.root);
  const tmp = await mkdtemp(join(await realpath(tmpdir()), temporaryPrefix(root)));
  const env = commandEnvironment({ host: process.env, root, tmp, extra: options.env });
  const shell = await findShell(env['PATH'] ?? '');
  const id = randomUUID();
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  const groups = new Set<number>();
  let count = 0;

  const openWorkdir = async (workdir: string): Promise<string> => {
    const path = await confinePath(root, workdir);
    const entry = await stat(path).catch(() => null);
    if (entry?.isDirectory()) return path;
    throw new SandboxError(
      'not_found',
      entry ? `The workdir "${workdir}" is a file. Give a folder, or leave workdir out.` : `The workdir "${workdir}" does not exist. Create it first, or leave workdir out.`,
    );
  };

  return {
    kind: 'host',
    root,
    resolve: (path) => confinePath(root, path),
    async run(command, { timeoutMs, workdir, signal, onOutput }) {
      const cwd = await openWorkdir(workdir ?? '.');
      if (ending.signal.aborted) throw new SandboxError('unavailable', 'This workspace has been closed.');
      count += 1;
      const mark = `${id}.${count}`;
      const done = runCommand({
        shell,
        command,
        cwd,
        mark,
        env: { ...env, [COMMAND_MARK]: mark },
        timeoutMs,
        signal: AbortSignal.any([signal, ending.signal]),
        onOutput,
        onGroup: (pid, alive) => (alive ? groups.add(pid) : groups.delete(pid)),
      });
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },
    async dispose({ remove }) {
      ending.abort();
      await Promise.allSettled(running);
      for (const pid of groups) signalGroup(pid, 'SIGKILL');
      if (count > 0) for (const pid of await strayProcesses(`${id}.`)) send(pid, 'SIGKILL');
      await removeFolder(tmp);
      if (remove) await removeFolder(root);
    },
  };
}

async function prepareRoot(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await mkdir(path, { recursive: true });
    const root = await realpath(path);
    if (root === parse(root).root || root === (await realpath(homedir()).catch(() => null))) {
      throw new SandboxError('unavailable', `"${folder}" cannot be a workspace: agents may delete everything in it. Choose a folder of its own.`);
    }
    return root;
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw new SandboxError('unavailable', `The workspace "${folder}" cannot be created (${errorCode(error) ?? String(error)}).`);
  }
}

async function findShell(path: string): Promise<Shell> {
  if (process.platform === 'win32') return { path: process.env['ComSpec'] ?? 'cmd.exe', name: 'cmd' };
  for (const name of ['bash', 'sh']) {
    for (const folder of ['/bin', '/usr/bin', '/usr/local/bin', ...path.split(delimiter)]) {
      const file = join(folder, name);
      if (await access(file, constants.X_OK).then(() => true, () => false)) return { path: file, name };
    }
  }
  throw new SandboxError('unavailable', 'Neither bash nor sh was found on this machine, so no command can be run.');
}
