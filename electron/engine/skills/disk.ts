import { randomBytes } from 'node:crypto';
import { open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders } from '../store/folders.ts';
import { SkillError } from './errors.ts';
import { statOf } from './walk.ts';

/** How changes reach the disk, step by step: what a killed engine is mended from must hold between any two of them. */
export interface SkillDisk {
  /**
   * Writes a file whole or not at all; folders are made.
   * @param executable whether it can be run afterwards; left out or null: as the file that it replaces, else when it begins with "#!"
   */
  write(path: string, bytes: Buffer, executable?: boolean | null): Promise<void>;
  remove(path: string): Promise<void>;
  /** Moves a folder in one step; the folder above the new place is made. */
  move(from: string, to: string): Promise<void>;
}

/** Where files are written before they come to their place; below the own root, so on the same disk. Never a skill: it begins with a dot. */
export const STAGING = '.staging';
export const TRASH = '.trash';

/** The disk, for skills below `own` (absolute). */
export function ownDisk(own: string): SkillDisk {
  return {
    async write(path, bytes, executable = null) {
      const staging = join(own, STAGING);
      await makeFolders(staging);
      const part = join(staging, `part-${randomBytes(6).toString('hex')}`);
      const mode = runnable((statOf(path)?.mode ?? (isScript(bytes) ? 0o755 : 0o644)) & 0o777, executable);
      try {
        const file = await open(part, 'wx', mode);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await makeFolders(dirname(path));
        await rename(part, path);
      } finally {
        await rm(part, { force: true });
      }
    },
    async remove(path) {
      await rm(path, { force: true });
    },
    async move(from, to) {
      await makeFolders(dirname(to));
      await rename(from, to);
    },
  };
}

export function isScript(bytes: Buffer): boolean {
  return bytes.subarray(0, 2).toString('latin1') === '#!';
}

/** Whether its owner can run a file; null where there is none, and on Windows, which does not tell. */
export function isExecutable(path: string): boolean | null {
  const stats = process.platform === 'win32' ? null : statOf(path);
  return stats?.isFile() ? (stats.mode & 0o100) !== 0 : null;
}

/** Whoever may read it may run it, or nobody. */
function runnable(mode: number, executable: boolean | null): number {
  if (executable === null) return mode;
  return executable ? mode | 0o100 | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Removes folders from `folder` up to, and without, `root`, as long as they are empty. */
export async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let at = folder; at !== root && at.startsWith(root); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

/** Removes what was being written when the engine was killed. */
export async function clearStaging(own: string): Promise<void> {
  await rm(join(own, STAGING), { recursive: true, force: true });
}

/** Throws SkillError when a link is on the way from `root` to `path`: what is written behind it would be elsewhere. */
export function refuseLinks(root: string, path: string): void {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if (statOf(at)?.isSymbolicLink()) throw new SkillError('invalid', `"${path}" goes through the link ${at}, which leads elsewhere. Remove the link, then try again.`, { field: 'file_path' });
  }
}
