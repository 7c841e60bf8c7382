import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../store/types.ts';
import { clearStaging, isExecutable, removeEmpty, type SkillDisk, STAGING } from './disk.ts';
import { contentOf, type Executable, filesOf, type History, movedFolder, type StoredChange, type Version } from './history.ts';

/**
 * Brings the disk to what a version says. Safe to be begun again after a kill at any point: a folder is moved in one step, a new skill is
 * made elsewhere and then moved, and of an existing one only files are touched that are as they were before the version.
 */
export async function applyVersion(disk: SkillDisk, own: string, version: Version): Promise<void> {
  const move = movedFolder(version.changes);
  if (move && isThere(join(own, move.before)) && !isThere(join(own, move.after))) {
    await disk.move(join(own, move.before), join(own, move.after));
    await removeEmpty(own, dirname(join(own, move.before)));
  }
  if (version.action === 'delete') return;
  const folder = join(own, version.skill);
  const files = filesOf(version).filter(({ kept }) => kept !== false);
  if (!isThere(folder)) {
    const staged = join(own, STAGING, `version-${version.id}`);
    for (const change of files) await put(disk, join(staged, change.path), change, false);
    if (files.some(({ after }) => after !== null)) await disk.move(staged, folder);
    return;
  }
  for (const change of files) await put(disk, join(folder, change.path), change, true);
  for (const change of files) if (change.after === null) await removeEmpty(folder, dirname(join(folder, change.path)));
}

/** Puts back what `applyVersion` did, as far as it came. */
export async function takeBack(disk: SkillDisk, own: string, version: Version): Promise<void> {
  const move = movedFolder(version.changes);
  const swapped = version.changes.filter(({ path }) => path !== '').map((change): StoredChange => ({ ...change, before: change.after, after: change.before, ...(change.executable ? { executable: [change.executable[1], change.executable[0]] satisfies Executable } : {}) }));
  const folder = join(own, version.skill);
  if (version.action !== 'delete' && isThere(folder)) for (const change of swapped) if (change.kept !== false) await put(disk, join(folder, change.path), change, true);
  if (move && isThere(join(own, move.after)) && !isThere(join(own, move.before))) await disk.move(join(own, move.after), join(own, move.before));
  await removeEmpty(own, folder);
}

/** Finishes what was begun before the engine was killed. Answers how many versions that were. */
export async function recoverVersions(history: History, disk: SkillDisk, own: string, log: Logger): Promise<number> {
  const pending = history.pending();
  for (const version of pending) {
    try {
      await applyVersion(disk, own, version);
      history.finish(version.id);
    } catch (error) {
      log.error(`A change of the skill ${version.skill} that was begun before Talaria ended could not be finished; it is tried again at the next start`, error);
    }
  }
  await clearStaging(own);
  return pending.length;
}

/** Null for what is not there. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** As `isThere`; what cannot be looked at may be there. */
export function mayBeThere(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

async function put(disk: SkillDisk, path: string, change: StoredChange, careful: boolean): Promise<void> {
  const after = contentOf(change, 'after');
  const before = contentOf(change, 'before');
  const now = careful ? await readFile(path).catch(() => null) : null;
  const executable = change.executable?.[1] ?? null;
  const runs = isExecutable(path);
  if (same(now, after) && (executable === null || runs === null || runs === executable)) return;
  // somebody else's edit, made while the engine was gone, stays; it becomes a version of its own
  if (careful && !same(now, before) && !same(now, after)) return;
  if (after === null) await disk.remove(path);
  else await disk.write(path, after, executable);
}

function same(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}
