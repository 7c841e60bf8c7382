import { execFile } from 'node:child_process';
import { access, constants, readdir, realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { SandboxInfo } from '#shared/contract/tools.ts';
import { isInside } from './confine.ts';
import { homesOfUser } from './secret-paths.ts';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 10_000;
/** Where commands see the private folder for temporary files. */
export const INNER_TMP = '/tmp';

/** Entries of a home that begin with a dot hold keys and sign-ins, all but those of compilers and package managers. */
const TOOLCHAINS = [
  '.asdf', '.bun', '.cabal', '.cargo/bin', '.conda', '.deno', '.elan', '.ghcup', '.goenv', '.jenv', '.juliaup', '.linuxbrew', '.local/bin', '.local/lib', '.local/opt', '.local/pipx',
  '.local/share/fnm', '.local/share/mise', '.local/share/pipx', '.local/share/pnpm', '.local/share/uv', '.nix-profile', '.nodenv', '.npm-global', '.nvm', '.opam', '.pixi/bin', '.pyenv', '.rbenv', '.rustup', '.rye',
  '.sdkman', '.volta',
];
/** Of /run, which is hidden because of its sockets, what programs and name resolution need. */
const OF_RUN = ['/run/current-system', '/run/opengl-driver', '/run/systemd/resolve'];
const UNREADABLE = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers'];

export interface Wrapping {
  /** Absolute path of the program. */
  bwrap: string;
  /** Real path of the workspace. */
  root: string;
  /** Folder of this sandbox for temporary files, seen as INNER_TMP. */
  tmp: string;
  hidden: readonly string[];
  network: boolean;
}

/**
 * Arguments of bwrap up to the command: the workspace is writable and /tmp private, the rest of the file system is read-only; the
 * dot entries of the home (but for toolchains), the hidden folders and /run with its sockets are not there; processes live in a
 * namespace of their own that ends with the command and with this process.
 * @param cwd as seen inside. @param env of the command, complete.
 */
export async function wrapArgs(options: Wrapping, cwd: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const { root, tmp, network } = options;
  const args = ['--die-with-parent', '--new-session', '--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--cap-drop', 'ALL'];
  if (!network) args.push('--unshare-net');
  args.push('--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run');
  for (const path of [...OF_RUN, ...(await resolverFiles())]) args.push('--ro-bind-try', path, path);
  for (const path of await existing(UNREADABLE)) args.push('--ro-bind', '/dev/null', path);
  args.push('--bind', tmp, INNER_TMP);
  for (const folder of await existing(['/var/tmp'])) args.push('--tmpfs', folder);
  const emptied = (await homes()).filter((home) => !isInside(root, home));
  for (const home of emptied) args.push(...(await hideDots(home, env['PATH'] ?? '')));
  const hidden = await existing(options.hidden);
  for (const folder of hidden) if (!isInside(root, folder)) args.push('--tmpfs', folder);
  args.push('--bind', root, root);
  for (const folder of hidden) if (isInside(root, folder) && folder !== root) args.push('--tmpfs', folder);
  // Only now: before, the way to the workspace had to be made in them.
  for (const home of emptied) args.push('--remount-ro', home);
  // The program's own environment is not the command's: a variable such as LD_PRELOAD would act outside.
  if (env['PATH'] === undefined) args.push('--unsetenv', 'PATH');
  for (const [name, value] of Object.entries(env)) args.push('--setenv', name, value);
  args.push('--chdir', cwd, '--');
  return args;
}

/** Where a path that a command sees is on this machine. */
export function hostPath({ root, tmp }: Pick<Wrapping, 'root' | 'tmp'>, path: string): string {
  return isInside(INNER_TMP, path) && !isInside(root, path) ? join(tmp, path.slice(INNER_TMP.length)) : path;
}

/** Absolute path of bwrap in the search path of this process; null where there is none. */
export async function findBwrap(): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']) {
    const file = join(folder, 'bwrap');
    if (isAbsolute(folder) && (await access(file, constants.X_OK).then(() => true, () => false))) return file;
  }
  return null;
}

/** The kinds of sandboxes, each with what is missing on this machine and what to do, null when it works. Starts bwrap to see. */
export async function sandboxAvailability(): Promise<SandboxInfo[]> {
  return [{ kind: 'host', missing: null }, { kind: 'bubblewrap', missing: await bubblewrapMissing() }];
}

/** Why bubblewrap cannot be used, with what to do; null when it can. */
export async function bubblewrapMissing(): Promise<string | null> {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only.';
  const bwrap = await findBwrap();
  if (bwrap === null) return 'bubblewrap is not installed. Install the package "bubblewrap" (for example: sudo apt install bubblewrap).';
  try {
    await run(bwrap, ['--unshare-user-try', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--die-with-parent', '--', 'true'], { timeout: PROBE_TIMEOUT_MS, env: { PATH: process.env['PATH'] ?? '' } });
    return null;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim().slice(0, 300) : String(error);
    if (/permission denied|operation not permitted|no permissions|namespace/i.test(said)) {
      return `bubblewrap cannot make user namespaces here (${said}). Allow them (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 and later also kernel.apparmor_restrict_unprivileged_userns=0), or, in a container, run it with the rights for them.`;
    }
    return `bubblewrap does not work here: ${said}`;
  }
}

/** An empty home with everything put back that does not begin with a dot, and the toolchains. */
async function hideDots(home: string, path: string): Promise<string[]> {
  const names = await readdir(home, { withFileTypes: true }).catch(() => null);
  if (names === null) return [];
  const plain = names.filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink())).map((entry) => join(home, entry.name));
  const tools = await present(TOOLCHAINS.map((name) => join(home, name)));
  const programs = await present(path.split(delimiter).filter((folder) => folder.startsWith(`${home}/.`) && /(^|\/)bin$/.test(folder) && !tools.some((tool) => isInside(tool, folder))));
  return ['--tmpfs', home, ...[...plain, ...tools, ...programs].flatMap((entry) => ['--ro-bind-try', entry, entry])];
}

/** Homes to look after: this user's, and for an administrator everybody's. */
async function homes(): Promise<string[]> {
  const others = process.getuid?.() === 0 ? (await readdir('/home').catch(() => [])).map((name) => join('/home', name)) : [];
  return existing([...homesOfUser(), ...others]);
}

async function present(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(paths.map((path) => access(path).then(() => true, () => false)));
  return paths.filter((_, i) => there[i]);
}

/** The real paths of those that exist, each once. */
async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return [...new Set(real.filter((path) => path !== null))];
}

/** /etc/resolv.conf is often a link into /run. */
async function resolverFiles(): Promise<string[]> {
  const file = await realpath('/etc/resolv.conf').catch(() => null);
  return file !== null && isInside('/run', dirname(file)) ? [file] : [];
}
