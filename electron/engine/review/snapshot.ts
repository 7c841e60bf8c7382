import type { ExitReason, StoredMessage } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import type { Source } from './kinds.ts';

/** A trajectory as a review reads it. */
export interface Conversation {
  trajectoryId: string;
  title: string;
  provider: string;
  model: string;
  exitReason: ExitReason | null;
  /** Up to the seq that the review reads through; large contents stay cut. The index is the seq. */
  messages: StoredMessage[];
}

/** The conversations of a review as they were when it was asked for; those that are gone are left out. Only reads. */
export function readSources(db: Database, sources: readonly Source[]): Conversation[] {
  return sources.flatMap(({ trajectoryId, through }) => {
    const detail = getDetail(db, trajectoryId);
    if (!detail) return [];
    const messages = getMessages(db, detail.n, -1, through + 1);
    const { title, provider, model, exitReason } = detail;
    return [{ trajectoryId, title, provider, model, exitReason, messages }];
  });
}

/** A trajectory with everything that is in it now; null when it is gone or empty. */
export function sourceNow(db: Database, trajectoryId: string): Source | null {
  const last = db.get(
    sqlFor.selectFrom('messages as m').innerJoin('trajectories as t', 't.n', 'm.trajectory_n').select('m.seq').where('t.id', '=', trajectoryId).where('t.deleted_at', 'is', null).orderBy('m.seq', 'desc').limit(1),
  );
  return last ? { trajectoryId, through: last.seq } : null;
}

/** How much of a conversation there is to learn from, of the messages after seq `after`. */
export function substance(db: Database, { trajectoryId, through }: Source, after: number): { turns: number; toolCalls: number; answered: boolean } {
  const rows = db.all(
    sqlFor
      .selectFrom('messages as m')
      .innerJoin('trajectories as t', 't.n', 'm.trajectory_n')
      .select(['m.role', 'm.synthetic', 'm.note', 'm.tool_calls'])
      .where('t.id', '=', trajectoryId)
      .where('m.seq', '>', after)
      .where('m.seq', '<=', through),
  );
  return {
    turns: rows.filter((m) => m.role === 'user' && m.synthetic === 0 && m.note !== 'skill').length,
    toolCalls: rows.filter((m) => m.role === 'tool').length,
    answered: rows.some((m) => m.role === 'assistant' && m.tool_calls === null),
  };
}
