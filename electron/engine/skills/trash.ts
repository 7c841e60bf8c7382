import { join } from 'node:path';
import { removeFolder } from '../sandbox/remove.ts';
import { TRASH } from './disk.ts';
import { type History, movedFolder } from './history.ts';

export interface Purged {
  removed: number;
  /** What could not be removed, and stays in the trash. */
  failed: { versionId: number; message: string }[];
}

/**
 * Removes deleted skills for good, with their files, versions, choices and use. Files go first: what a kill leaves half done is still in the
 * trash, and can be removed again. What is no longer in the trash is passed over.
 * @param own absolute
 */
export async function purgeSkills(history: History, own: string, versionIds: readonly number[]): Promise<Purged> {
  const wanted = new Set(versionIds);
  const purged: Purged = { removed: 0, failed: [] };
  for (const { skill, versionId } of history.dead()) {
    if (!wanted.has(versionId)) continue;
    try {
      // none: another program had removed its files
      const folder = movedFolder(history.get(versionId)!.changes)?.after;
      if (folder?.startsWith(`${TRASH}/`)) await removeFolder(join(own, folder));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === undefined) throw error;
      purged.failed.push({ versionId, message: `The files of "${skill.split('@')[0]}" could not be removed (${code}). Check the permissions of ${join(own, TRASH)}, then try again.` });
      continue;
    }
    history.erase(skill);
    purged.removed += 1;
  }
  return purged;
}
