import { sql } from 'kysely';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail, TrajectorySummary } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { toMatchExpression } from '../store/segment.ts';
import { fromMessageRow, type SummaryRow, toDetail, toSummary } from './rows.ts';

/** Trajectories with the name of their run. */
function base() {
  return sqlFor.selectFrom('trajectories as t').leftJoin('runs as r', 'r.id', 't.run_id').selectAll('t').select('r.name as run_name');
}

/** Ids of what matches a filter, as a condition on `t`; undefined conditions are left out. */
function conditions(filter: TrajectoryFilter, without?: 'outcomes' | 'runId' | 'models') {
  const parts = [];
  const match = filter.query ? toMatchExpression(filter.query) : null;
  if (match !== null) parts.push(sql<boolean>`t.n IN (SELECT rowid FROM trajectory_text WHERE trajectory_text MATCH ${match})`);
  if (filter.runId !== undefined && without !== 'runId') parts.push(sql<boolean>`t.run_id = ${filter.runId}`);
  if (filter.outcomes && without !== 'outcomes') parts.push(sql<boolean>`t.outcome IN (SELECT value FROM json_each(${JSON.stringify(filter.outcomes)}))`);
  if (filter.models && without !== 'models') parts.push(sql<boolean>`t.model IN (SELECT value FROM json_each(${JSON.stringify(filter.models)}))`);
  if (filter.ids) parts.push(sql<boolean>`t.id IN (SELECT value FROM json_each(${JSON.stringify(filter.ids)}))`);
  return parts.length > 0 ? sql<boolean>`${sql.join(parts, sql` AND `)}` : sql<boolean>`1`;
}

/** One keyset page, newest first. */
export function listTrajectories(
  db: Database,
  filter: TrajectoryFilter,
  before: number | undefined,
  limit: number,
): { items: TrajectorySummary[]; nextBefore: number | null } {
  const query = base()
    .where(conditions(filter))
    .$if(before !== undefined, (q) => q.where('t.n', '<', before!))
    .orderBy('t.n', 'desc')
    .limit(limit + 1);
  const rows = db.all(query as never) as SummaryRow[];
  const items = rows.slice(0, limit).map(toSummary);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.n ?? null) : null };
}

export interface TrajectoryCounts {
  total: number;
  matching: number;
  outcomes: Record<string, number>;
  runs: { id: string; name: string; count: number }[];
  models: { model: string; count: number }[];
}

/** Totals and facets; each facet counts within the filter without its own condition. */
export function countTrajectories(db: Database, filter: TrajectoryFilter): TrajectoryCounts {
  const t = () => sqlFor.selectFrom('trajectories as t');
  const one = (condition: ReturnType<typeof conditions>) =>
    db.get(t().select(sql<number>`count(*)`.as('count')).where(condition))?.count ?? 0;
  const outcomes = db.all(t().select(['t.outcome', sql<number>`count(*)`.as('count')]).where(conditions(filter, 'outcomes')).groupBy('t.outcome'));
  const runs = db.all(
    t()
      .innerJoin('runs as r', 'r.id', 't.run_id')
      .select(['r.id', 'r.name', sql<number>`count(*)`.as('count')])
      .where(conditions(filter, 'runId'))
      .groupBy('r.id')
      .orderBy('r.created_at', 'desc'),
  );
  const models = db.all(
    t().select(['t.model', sql<number>`count(*)`.as('count')]).where(conditions(filter, 'models')).groupBy('t.model').orderBy('count', 'desc'),
  );
  return {
    total: one(sql<boolean>`1`),
    matching: one(conditions(filter)),
    outcomes: Object.fromEntries(outcomes.map((o) => [o.outcome, o.count])),
    runs,
    models,
  };
}

/** How many match, and the ids in creation order, `afterN` exclusive: how exports walk a selection without holding it. */
export function countMatching(db: Database, filter: TrajectoryFilter): number {
  return db.get(sqlFor.selectFrom('trajectories as t').select(sql<number>`count(*)`.as('count')).where(conditions(filter)))?.count ?? 0;
}

/** Details in creation order after `afterN`, at most `limit`. */
export function walkTrajectories(db: Database, filter: TrajectoryFilter, afterN: number, limit: number): TrajectoryDetail[] {
  const query = base().where(conditions(filter)).where('t.n', '>', afterN).orderBy('t.n').limit(limit);
  return (db.all(query as never) as SummaryRow[]).map(toDetail);
}

export function getDetail(db: Database, id: string): TrajectoryDetail | undefined {
  const row = db.get(base().where('t.id', '=', id) as never) as SummaryRow | undefined;
  return row && toDetail(row);
}

/** Messages after `after` by seq; `whole` reads large contents too. */
export function getMessages(db: Database, n: number, after: number, limit: number, whole = false): StoredMessage[] {
  return db
    .all(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('seq', '>', after).orderBy('seq').limit(limit))
    .map((r) => fromMessageRow(r, whole ? db : undefined));
}

/** The whole content of one message; undefined when there is no such message. */
export function getContent(db: Database, n: number, seq: number): string | undefined {
  const row = db.get(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('seq', '=', seq));
  return row && fromMessageRow(row, db).content;
}

const RAW_MAX_CHARS = 5_000_000;

/** Everything stored of a trajectory as pretty JSON. */
export function getRaw(db: Database, detail: TrajectoryDetail): { json: string; truncated: boolean } {
  const messages = getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true);
  const json = JSON.stringify({ ...detail, messages }, null, 2);
  return { json: json.slice(0, RAW_MAX_CHARS), truncated: json.length > RAW_MAX_CHARS };
}
