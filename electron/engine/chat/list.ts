import { sql } from 'kysely';
import { type Database, sqlFor } from '../store/database.ts';
import { toMatchExpression } from '../store/segment.ts';
import { type SessionRow, sessionRows, USED } from './session-store.ts';

export interface SessionQuery {
  query?: string | undefined;
  archived: boolean;
  pinned?: boolean | undefined;
  before?: { updatedAt: number; id: string } | undefined;
  limit: number;
}

/** One page of sessions, newest first by last activity, without empty ones and without tasks of the background. A query looks in titles and in everything said. */
export function listSessions(db: Database, { query, archived, pinned, before, limit }: SessionQuery): { rows: SessionRow[]; more: boolean } {
  const conditions = [
    sql<boolean>`s.deleted_at IS NULL`,
    sql<boolean>`s.background = 0`,
    archived ? sql<boolean>`s.archived_at IS NOT NULL` : sql<boolean>`s.archived_at IS NULL`,
    USED,
  ];
  if (pinned !== undefined) conditions.push(pinned ? sql<boolean>`s.pinned_at IS NOT NULL` : sql<boolean>`s.pinned_at IS NULL`);
  if (before) conditions.push(sql<boolean>`(s.updated_at, s.id) < (${before.updatedAt}, ${before.id})`);
  const text = query?.trim() ?? '';
  if (text !== '') {
    const like = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
    const match = toMatchExpression(text);
    const said = match === null ? sql<boolean>`0` : sql<boolean>`s.id IN (SELECT f.session_id FROM trajectories f WHERE f.session_id IS NOT NULL AND f.n IN (SELECT rowid FROM trajectory_text WHERE trajectory_text MATCH ${match}))`;
    conditions.push(sql<boolean>`(s.title LIKE ${like} ESCAPE '\\' OR ${said})`);
  }
  const found = db.all(
    sessionRows()
      .where(sql<boolean>`${sql.join(conditions, sql` AND `)}`)
      .orderBy('s.updated_at', 'desc')
      .orderBy('s.id', 'desc')
      .limit(limit + 1) as never,
  ) as SessionRow[];
  return { rows: found.slice(0, limit), more: found.length > limit };
}

/** Ids of all attachments that a message, a draft or a queue names. Reads every message that has some: for a reader thread. */
export function attachmentsInUse(db: Database): string[] {
  const lists = [
    ...db.all(sqlFor.selectFrom('messages').select('attachments as list').where('attachments', 'is not', null)).map((m) => m.list),
    ...db.all(sqlFor.selectFrom('sessions').select(['draft_attachments', 'queue'])).flatMap((s) => [s.draft_attachments, s.queue]),
  ];
  return [...new Set(lists.flatMap((list) => list?.match(/[0-9a-f]{64}/g) ?? []))];
}
