import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { makeFoldersSync } from './folders.ts';

/** Everything that Talaria keeps, by name. All paths are absolute. */
export interface HomePaths {
  root: string;
  runs: string;
  data: string;
  exports: string;
  uploads: string;
  logs: string;
  workspaces: string;
  skills: string;
  memories: string;
  config: string;
  env: string;
  keys: string;
  database: string;
  lock: string;
  instance: string;
}

export type HomeErrorCode = 'not_writable' | 'not_a_folder' | 'disk_full' | 'unusable';

/** The home cannot be used; the message says why and what to do. */
export class HomeError extends Error {
  readonly code: HomeErrorCode;

  constructor(code: HomeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HomeError';
    this.code = code;
  }
}

/**
 * Where the home is: the option, else TALARIA_HOME, else ~/.talaria. Empty values count as absent. A leading "~/" is
 * expanded (shells leave `--home=~/x` alone); a relative path counts from the working directory.
 */
export function resolveHome(option: string | undefined, env: NodeJS.ProcessEnv, userHome: string = homedir()): string {
  const chosen = option?.trim() || env.TALARIA_HOME?.trim();
  if (!chosen) return join(userHome, '.talaria');
  if (chosen === '~') return userHome;
  if (/^~[/\\]/.test(chosen)) return join(userHome, chosen.slice(2));
  return resolve(chosen);
}

/** The places inside a home; creates nothing. */
export function homePaths(home: string): HomePaths {
  return {
    root: home,
    runs: join(home, 'runs'),
    data: join(home, 'data'),
    exports: join(home, 'exports'),
    uploads: join(home, 'uploads'),
    logs: join(home, 'logs'),
    workspaces: join(home, 'workspaces'),
    skills: join(home, 'skills'),
    memories: join(home, 'memories'),
    config: join(home, 'config.yaml'),
    env: join(home, '.env'),
    keys: join(home, 'keys.json'),
    database: join(home, 'talaria.db'),
    lock: join(home, 'instance.lock'),
    instance: join(home, 'instance.json'),
  };
}

/**
 * Makes the home and its folders where they are missing, readable by the owner only, and proves that it can be written.
 * A folder that already has something in it keeps its permissions.
 * Throws HomeError.
 */
export function ensureHome(home: string): HomePaths {
  if (!isAbsolute(home)) throw new HomeError('unusable', `The Talaria home must be an absolute path, not "${home}".`);
  const paths = homePaths(home);
  makeFolder(home);
  if (readdirSafely(home).length === 0) tighten(home);
  for (const folder of [paths.runs, paths.data, paths.exports, paths.uploads, paths.logs, paths.workspaces, paths.skills, paths.memories]) makeFolder(folder);
  proveWritable(home);
  return paths;
}

/**
 * A sentence when `talaria.db` is there with 0 bytes beside what an earlier use left: SQLite takes it for a new one, so the Library begins
 * empty. Null when all is well. Call before the store is opened.
 */
export function emptiedStore(paths: HomePaths): string | null {
  if (sizeOf(paths.database) !== 0) return null;
  const folders = [paths.runs, paths.data, paths.exports, paths.uploads].filter((folder) => readdirSafely(folder).length > 0);
  const traces = [...[paths.config, paths.env, paths.keys].filter((file) => sizeOf(file) !== null), ...folders];
  if (traces.length === 0) return null;
  return `${paths.database} is empty (0 bytes), but this home was used before: it has ${traces.map((path) => basename(path)).join(', ')}. The Library begins empty; if you have a copy of talaria.db, close Talaria and put it back.`;
}

/** Bytes; null when it is not there. */
function sizeOf(file: string): number | null {
  try {
    return statSync(file).size;
  } catch {
    return null;
  }
}

function makeFolder(folder: string): void {
  try {
    makeFoldersSync(folder, 0o700);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  } catch (error) {
    throw homeError(folder, error);
  }
}

function readdirSafely(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw homeError(folder, error);
  }
}

/** Some file systems (FAT, network shares) know no permissions: not worth refusing the home. */
function tighten(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // see above
  }
}

function proveWritable(home: string): void {
  const probe = join(home, `.write-test-${process.pid}`);
  try {
    writeFileSync(probe, Buffer.alloc(4096), { mode: 0o600 });
  } catch (error) {
    throw homeError(home, error);
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Turns a file system error at `path` into a HomeError with a sentence to act on. */
export function homeError(path: string, error: unknown): HomeError {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'SQLITE_READONLY':
    case 'SQLITE_CANTOPEN':
      return new HomeError('not_writable', `Talaria cannot write to ${path}. Correct its permissions, or choose another home with --home or TALARIA_HOME.`, error);
    case 'EEXIST':
    case 'ENOTDIR':
      return new HomeError('not_a_folder', `${path} cannot be a folder because a file is in the way. Move that file, or choose another home with --home or TALARIA_HOME.`, error);
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return new HomeError('disk_full', `There is no space left on the disk that holds ${path}. Free some space and start again.`, error);
    default:
      return new HomeError('unusable', `${path} cannot be used as Talaria home: ${error instanceof Error ? error.message : String(error)}.`, error);
  }
}
