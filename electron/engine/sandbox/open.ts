import { mkdtempSync, realpathSync } from 'node:fs';
import { access, constants, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, parse, resolve } from 'node:path';
import { makeFolders, makeFoldersSync } from '../store/folders.ts';
import { bubblewrapMissing, findBwrap, INNER_TMP } from './bubblewrap.ts';
import type { Shell } from './command.ts';
import { errorCode, isInside } from './confine.ts';
import { commandEnvironment } from './environment.ts';
import { bubblewrapGround, hostGround } from './ground.ts';
import { GroundSandbox } from './ground-sandbox.ts';
import { temporaryPrefix } from './remove.ts';
import { SandboxError } from './types.ts';
import type { Sandbox, SandboxOptions } from './types.ts';

export { sandboxAvailability } from './bubblewrap.ts';

/**
 * A workspace folder on this machine in which commands run, as ordinary processes of this user (`host`) or walled in (`bubblewrap`).
 *
 * What both promise: every command runs in its own process group with an environment that holds no keys, is killed with all its
 * children on timeout and abort, and `resolve` never answers with a path outside. Commands share HOME (the workspace) and a private
 * TMPDIR; folder and exported variables carry over. On the host a shell command may still name any path the user may read or write:
 * `dangerous.ts` catches the well-known accidents and nothing more. bubblewrap is a wall: see `wrapArgs`.
 * @throws SandboxError `unavailable` when the folder cannot be used or the kind does not work on this machine.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const root = await prepareRoot(options.root);
  const bwrap = options.kind === 'bubblewrap' ? await requireBwrap() : null;
  const { tmp, hidden } = await surroundings(root, options.hidden ?? []);
  const env = commandEnvironment({ host: process.env, root, tmp: bwrap === null ? tmp : INNER_TMP, extra: options.env });
  const shell = await shellOn(env['PATH'] ?? '');
  const ground = bwrap === null ? hostGround({ root, tmp, env, shell }) : bubblewrapGround({ bwrap, root, tmp, hidden, network: options.network ?? true }, { env, shell });
  const cwd = options.cwd === undefined ? root : join(root, options.cwd);
  if (cwd !== root) await makeFolders(cwd);
  return new GroundSandbox({ root, tmp, hidden, ground, cwd, now: options.now ?? Date.now });
}

/** A folder for temporary files, and the real paths of the folders that are hidden. */
export async function surroundings(root: string, hidden: readonly string[]): Promise<{ tmp: string; hidden: string[] }> {
  return {
    hidden: hidden.map(realOrSame),
    tmp: mkdtempSync(join(await realOf(tmpdir()), temporaryPrefix(root))),
  };
}

function realOrSame(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return resolve(folder);
  }
}

async function requireBwrap(): Promise<string> {
  const missing = await bubblewrapMissing();
  const bwrap = missing === null ? await findBwrap() : null;
  if (bwrap === null) throw new SandboxError('unavailable', missing ?? 'bubblewrap is not installed.');
  return bwrap;
}

/** The real path of a workspace folder, which is made when it is missing. @throws SandboxError `unavailable` */
export async function prepareRoot(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    // in place, as a batch makes a workspace for every rollout: through the thread pool each step would wait for its turn
    makeFoldersSync(path);
    const root = realpathSync.native(path);
    const home = await realOf(homedir()).catch(() => null);
    if (root === parse(root).root || (home !== null && isInside(root, home))) {
      throw new SandboxError('unavailable', `"${folder}" cannot be a workspace: agents may delete everything in it. Choose a folder of its own.`);
    }
    return root;
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw new SandboxError('unavailable', `The workspace "${folder}" cannot be created (${errorCode(error) ?? String(error)}).`);
  }
}

const realPaths = new Map<string, Promise<string>>();

/** The real path of a folder of the system, which stays what it is while this program runs. */
function realOf(folder: string): Promise<string> {
  const known = realPaths.get(folder) ?? realpath(folder);
  realPaths.set(folder, known);
  known.catch(() => realPaths.delete(folder));
  return known;
}

const shells = new Map<string, Promise<Shell>>();

/** Looked for once for each search path. */
function shellOn(path: string): Promise<Shell> {
  const known = shells.get(path) ?? findShell(path);
  shells.set(path, known);
  known.catch(() => shells.delete(path));
  return known;
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
