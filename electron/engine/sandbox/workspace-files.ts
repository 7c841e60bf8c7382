import { constants } from 'node:fs';
import type { Dirent } from 'node:fs';
import { access, lstat, readdir } from 'node:fs/promises';

/** Files beyond these are not kept: one alone, or all together. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_FILES = 50_000;
const MAX_ALL_BYTES = 1024 * 1024 * 1024;
const LSTAT_AT_ONCE = 64;

/** Folders that programs fill and can fill again, and ours. */
const EXCLUDED = new Set([
  '.git', '.hg', '.svn', '.jj', '.talaria', 'node_modules', 'bower_components', '.venv', 'venv', '__pycache__', '__pypackages__', '.pytest_cache', '.mypy_cache', '.ruff_cache', '.tox', '.nox', '.cache', '.npm', '.pnpm-store',
  '.yarn', '.gradle', '.next', '.nuxt', '.svelte-kit', '.parcel-cache', '.turbo', '.vite', '.terraform', '.ipynb_checkpoints',
]);
/** Names of build outputs, when a project's manifest lies beside them; alone such a folder may be anything. */
const OUTPUTS = new Set(['build', 'dist', 'out', 'target']);
const MANIFEST = /^(package\.json|pyproject\.toml|setup\.py|Cargo\.toml|CMakeLists\.txt|pom\.xml|build\.gradle(\.kts)?|go\.mod|Makefile|meson\.build)$/;
/** A folder with one of these is an environment or a cache, whatever its name. */
const MARKERS = new Set(['pyvenv.cfg', 'CACHEDIR.TAG']);

/** A path relative to the workspace: one character for each byte (latin1), for file names need not be valid text. */
export type BytePath = string;

export interface WorkspaceFile {
  path: BytePath;
  /** Permission bits, or null for a symlink. */
  mode: number | null;
}

/** A workspace is too much to be kept; the message says how much. */
export class TooLargeError extends Error {}

/** Where a byte path of `root` is. */
export function bytesOf(root: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);
}

/**
 * All files and symlinks of a workspace that checkpoints keep. Symlinks are not followed; what is excluded, larger than 10 MB, not
 * readable or no file is left out.
 * @throws TooLargeError, the signal's reason, or the system's error when the root cannot be read.
 */
export async function listWorkspace(root: string, signal: AbortSignal): Promise<WorkspaceFile[]> {
  const found: WorkspaceFile[] = [];
  let bytes = 0;
  const folders: BytePath[] = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal.throwIfAborted();
    const entries = await read(root, folder);
    if (folder !== '' && entries.some((entry) => MARKERS.has(nameOf(entry)))) continue;
    const project = entries.some((entry) => MANIFEST.test(nameOf(entry)));
    const files: BytePath[] = [];
    for (const entry of entries) {
      const name = nameOf(entry);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (name === '.git') continue;
      if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
      else if (entry.isDirectory() && !EXCLUDED.has(name) && !(project && OUTPUTS.has(name))) folders.push(path);
    }
    for (let i = 0; i < files.length; i += LSTAT_AT_ONCE) {
      for (const file of await Promise.all(files.slice(i, i + LSTAT_AT_ONCE).map((path) => look(root, path)))) {
        if (file === null) continue;
        bytes += file.size;
        found.push({ path: file.path, mode: file.mode });
      }
      if (found.length > MAX_FILES) throw new TooLargeError(`The workspace has more than ${MAX_FILES.toLocaleString('en-US')} files`);
      if (bytes > MAX_ALL_BYTES) throw new TooLargeError('The files of the workspace are larger than 1 GB together');
    }
  }
  return found;
}

function nameOf(entry: Dirent<Buffer>): string {
  return entry.name.toString('latin1');
}

async function read(root: string, folder: BytePath): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(folder === '' ? root : bytesOf(root, folder), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (folder === '') throw error;
    // Removed meanwhile, or locked: nothing in it can be kept.
    return [];
  }
}

async function look(root: string, path: BytePath): Promise<(WorkspaceFile & { size: number }) | null> {
  const real = bytesOf(root, path);
  const facts = await lstat(real).catch(() => null);
  if (facts?.isSymbolicLink()) return { path, mode: null, size: 0 };
  if (!facts?.isFile() || facts.size > MAX_FILE_BYTES) return null;
  const mode = facts.mode & 0o7777;
  const surelyReadable = (mode & 0o444) === 0o444;
  if (!surelyReadable && !(await access(real, constants.R_OK).then(() => true, () => false))) return null;
  return { path, mode, size: facts.size };
}
