import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { sqlFor } from '../store/database.ts';
import type { Rooms } from './rooms.ts';

const DAY_MS = 86_400_000;
/** A deletion can be undone for so long. */
const KEEP_DELETED_MS = 30 * DAY_MS;
const KEEP_EMPTY_MS = DAY_MS;

/**
 * What is done at a start: chats deleted long ago are removed for good with their checkpoints and folders, so are chats that were never
 * used; a tip that is gone becomes the newest branch; attachments that nothing refers to are removed. Never throws for files.
 */
export async function tidy(rooms: Rooms): Promise<void> {
  const { deps, store } = rooms;
  const now = deps.now();
  mendTips(rooms);
  for (const { id, workspace } of store.deletedBefore(now - KEEP_DELETED_MS)) {
    await deps.checkpoints.removeSession(id).catch((error: unknown) => deps.log.error(`The checkpoints of the chat ${id} could not be removed`, error));
    store.erase(id);
    // only folders that were made for this chat, and not while a fork works in them
    if (workspace !== ownWorkspace(rooms, id) || store.usesWorkspace(workspace)) continue;
    await rm(workspace, { recursive: true, force: true }).catch((error: unknown) => deps.log.error(`${workspace} could not be removed`, error));
  }
  store.removeEmpty(now - KEEP_EMPTY_MS);
  // looks at every message that has some: nobody should wait for that to start
  rooms.inBackground(() => rooms.attachments.removeUnused(() => deps.readers.run('attachmentsInUse', {})), 'Unused attachments could not be removed');
}

/** The folder of a chat for which none was chosen. */
export function ownWorkspace(rooms: Rooms, id: string): string {
  return join(rooms.deps.home.workspaces, 'chats', id);
}

/** A tip that names no trajectory would open as an empty chat although there is one. */
function mendTips({ deps: { db } }: Rooms): void {
  const newest = sql<string | null>`(SELECT t.id FROM trajectories t WHERE t.session_id = sessions.id ORDER BY t.n DESC LIMIT 1)`;
  db.run(sqlFor.updateTable('sessions').set({ tip: newest }).where('tip', 'is not', null).where(sql<boolean>`NOT EXISTS (SELECT 1 FROM trajectories t WHERE t.id = sessions.tip)`));
}
