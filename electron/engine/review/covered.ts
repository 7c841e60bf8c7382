import { type Database, sqlFor } from '../store/database.ts';
import { gaveUp } from './ends.ts';
import type { ReviewStore } from './store.ts';

const MAX_BRANCHES = 50;

/**
 * Up to which seq of a trajectory some review of its chat has read, or will read; -1 when none. What a branch took over from the one
 * before it counts as read where that one was.
 */
export function coveredThrough(db: Database, store: ReviewStore, sessionId: string, trajectoryId: string): number {
  const read = new Map<string, number>();
  for (const review of store.ofSession(sessionId)) {
    if (gaveUp(review)) continue;
    for (const { trajectoryId: id, through } of review.sources) read.set(id, Math.max(read.get(id) ?? -1, through));
  }
  let covered = -1;
  let limit = Number.MAX_SAFE_INTEGER;
  let id: string | null = trajectoryId;
  for (let i = 0; id !== null && i < MAX_BRANCHES; i++) {
    covered = Math.max(covered, Math.min(limit, read.get(id) ?? -1));
    const row: { parent_id: string | null; parent_seq: number | null } | undefined = db.get(sqlFor.selectFrom('trajectories').select(['parent_id', 'parent_seq']).where('id', '=', id));
    limit = Math.min(limit, (row?.parent_seq ?? 0) - 1);
    id = row?.parent_id ?? null;
  }
  return covered;
}
