import { sql } from 'kysely';
import type { StoredMessage } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';

/** All messages of a trajectory, whole; empty when there is none. */
export function wholeHistory(db: Database, trajectoryId: string): StoredMessage[] {
  const detail = getDetail(db, trajectoryId);
  return detail ? getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true) : [];
}

/** Seqs of what the person said, rising; with `delivered` also of results that were delivered between turns. */
export function requestSeqs(db: Database, trajectoryId: string, { delivered = false } = {}): number[] {
  return db
    .all(
      sqlFor.selectFrom('messages as m').innerJoin('trajectories as t', 't.n', 'm.trajectory_n').select('m.seq').where('t.id', '=', trajectoryId).where('m.role', '=', 'user').where('m.synthetic', '=', 0).where((e) => e.or([e('m.note', 'is', null), ...(delivered ? [e('m.note', '=', 'delegation')] : [])])).orderBy('m.seq'),
    )
    .map((m) => m.seq);
}

/** The seq of what comes behind a message and the skills run with it. */
export function seqBehind(db: Database, trajectoryId: string, seq: number): number {
  const next = sqlFor.selectFrom('messages as m').innerJoin('trajectories as t', 't.n', 'm.trajectory_n').select('m.seq').where('t.id', '=', trajectoryId).where('m.seq', '>', seq);
  return db.get(next.where(sql<boolean>`m.note IS NOT 'skill'`).orderBy('m.seq').limit(1))?.seq ?? Number.MAX_SAFE_INTEGER;
}

/** The system prompt of the branch that is shown, else the one that the session began with: it stays byte for byte, whatever is switched later. */
export function systemPromptOf(db: Database, sessionId: string, tip: string | null): string | null {
  const shown = tip === null ? undefined : db.get(sqlFor.selectFrom('trajectories').select('system_prompt').where('id', '=', tip));
  if (shown) return shown.system_prompt;
  return db.get(sqlFor.selectFrom('trajectories').select('system_prompt').where('session_id', '=', sessionId).orderBy('n').limit(1))?.system_prompt ?? null;
}
