import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, lstat, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './confine.ts';
import { processesUnder, send } from './processes.ts';

const run = promisify(execFile);

/** Removes a folder with whatever commands left in it: locked folders, paths longer than the system takes. Throws the system's error. */
export async function removeFolder(path: string): Promise<void> {
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
 * (found on Linux only) and temporary folders. Throws the system's error.
 */
export async function removeWorkspaces(folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => folder);
  for (const pid of await processesUnder(real)) send(pid, 'SIGKILL');
  const temporary = await realpath(tmpdir());
  const prefix = temporaryPrefix(join(real, 'any'));
  for (const name of await readdir(temporary)) if (name.startsWith(prefix)) await removeFolder(join(temporary, name));
  await removeFolder(folder);
}
