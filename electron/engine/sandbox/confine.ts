import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { SandboxError } from './types.ts';

const MAX_LINKS = 40;

/** The errno code of a failed system call, or null. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** True when `path` is `root` or lies below it; both absolute and real. */
export function isInside(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/**
 * The absolute real path of `path` as a model wrote it: relative ones start at `root`, `~` is `root` (it is HOME there). Symlinks
 * are followed first, also in paths that do not exist yet and through links that point nowhere, so that nothing is created
 * outside either.
 * @param root real path of the workspace.
 * @throws SandboxError `outside_workspace` with the real path, or `not_found` for what is no path at all.
 */
export function confinePath(root: string, path: string): Promise<string> {
  return new Promise((resolve) => resolve(confined(root, path)));
}

function confined(root: string, path: string): string {
  if (path.trim() === '') throw new SandboxError('not_found', 'The path is empty. Give a path relative to the workspace, for example "src/main.py".');
  if (path.includes('\0')) throw new SandboxError('not_found', 'The path contains a NUL character, which no file name can have.');
  if (path.startsWith('~') && path !== '~' && !path.startsWith('~/')) {
    throw outside(path, 'Home folders of other users cannot be used.');
  }
  const expanded = path.startsWith('~') ? join(root, path.slice(1)) : path;
  const real = realpathOfAny(resolve(root, expanded), 0, path);
  if (!isInside(root, real)) throw outside(path, 'Use a path inside it, relative to the workspace root, for example "notes/todo.md".', real);
  return real;
}

function outside(path: string, advice: string, real: string | null = null): SandboxError {
  return new SandboxError('outside_workspace', `"${path}" is outside the workspace. ${advice}`, real);
}

/** In place: through the thread pool each of these looks would wait for its turn, several for every file that a tool touches. */
function realpathOfAny(path: string, links: number, asked: string): string {
  if (links > MAX_LINKS) throw new SandboxError('not_found', `"${asked}" goes through too many symbolic links. Use the real path.`);
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ELOOP') throw new SandboxError('not_found', `"${asked}" is a symbolic link that leads back to itself. Remove it or use another path.`);
    if (code === 'ENAMETOOLONG') throw new SandboxError('not_found', 'The path is too long for the file system. Use a shorter one.');
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw new SandboxError('unavailable', `"${asked}" cannot be reached (${code ?? String(error)}). Check the permissions of its folders.`);
    }
  }
  const parent = dirname(path);
  if (parent === path) return path;
  if (isLink(path)) {
    const realParent = realpathOfAny(parent, links + 1, asked);
    return realpathOfAny(resolve(realParent, readlinkSync(path)), links + 1, asked);
  }
  return join(realpathOfAny(parent, links, asked), basename(path));
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return false;
  }
}
