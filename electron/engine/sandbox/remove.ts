import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, opendirSync, rmdirSync, unlinkSync } from 'node:fs';
import { chmod, lstat, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './confine.ts';
import { removeContainers } from './leftovers.ts';
import { processesUnder, send } from './processes.ts';

const run = promisify(execFile);

/** So many entries are removed in place: through the thread pool each would wait for its turn, more often than it takes. */
const FEW_ENTRIES = 16;

/** Removes a folder with whatever commands left in it: locked folders, paths longer than the system takes. Throws the system's error. */
export async function removeFolder(path: string): Promise<void> {
  if (removeSmall(path)) return;
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  try {
    await remove();
  } catch (error) {
    const code = errorCode(error);
    // `rm` goes down folder by folder, so that no path is too long for it
    if (code === 'ENAMETOOLONG' && process.platform !== 'win32') return void (await run('rm', ['-rf', '--', path]));
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    await openFolders(path);
    await remove();
  }
}

/** Removes a folder that holds a few files and no folders; false when it is another one, or could not be removed whole. */
function removeSmall(path: string): boolean {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    // a command may have put a link in its place: what it leads to is nobody's to remove
    if (facts?.isDirectory() !== true) return facts === undefined;
    const names = fewFiles(path);
    if (names === null) return false;
    for (const name of names) unlinkSync(join(path, name));
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function fewFiles(path: string): string[] | null {
  const folder = opendirSync(path, { bufferSize: FEW_ENTRIES });
  try {
    const names: string[] = [];
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.length === FEW_ENTRIES || entry.isDirectory()) return null;
      names.push(entry.name);
    }
    return names;
  } finally {
    folder.closeSync();
  }
}

/** Commands may leave folders that nobody may write to; they are ours, so they can be opened again. */
async function openFolders(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await openFolders(join(path, name));
}

/** How the temporary folders of a workspace begin: the same for all workspaces beside it, so that they are found after a crash. */
export function temporaryPrefix(root: string): string {
  return `workspace-tmp-${createHash('sha256').update(dirname(root)).digest('hex').slice(0, 12)}-`;
}

/**
 * Removes a folder of workspaces none of which is in use, and what a killed program left of them elsewhere: commands that still run
 * (found on Linux only), containers and temporary folders. Throws the system's error.
 * @param keep the folder itself stays.
 */
export async function removeWorkspaces(folder: string, { keep = false }: { keep?: boolean } = {}): Promise<void> {
  const real = await realpath(folder).catch(() => folder);
  for (const pid of await processesUnder(real)) send(pid, 'SIGKILL');
  await removeContainers(real);
  const temporary = await realpath(tmpdir());
  const prefix = temporaryPrefix(join(real, 'any'));
  for (const name of await readdir(temporary)) if (name.startsWith(prefix)) await removeFolder(join(temporary, name));
  if (!keep) await removeFolder(folder);
}
