import { sql } from 'kysely';
import type { ListPlace, TrajectoryFilter, TrajectorySort } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail, TrajectorySummary } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { toMatchExpression } from '../store/segment.ts';
import { fromMessageRow, type SummaryRow, toDetail, toSummary, type TrajectoryRow } from './rows.ts';

/** Trajectories with the name of their run and how many rollouts it makes of a row. */
function base() {
  return sqlFor.selectFrom('trajectories as t').leftJoin('runs as r', 'r.id', 't.run_id').selectAll('t').select(['r.name as run_name', sql<number | null>`json_extract(r.spec, '$.rollouts')`.as('run_rollouts')]);
}

/** What matches a filter, as a condition on `t`; undefined conditions are left out, and so is what was deleted. */
function conditions(filter: TrajectoryFilter, without?: 'kinds' | 'outcomes' | 'runId' | 'models' | 'ratings' | 'rewards') {
  const parts = [sql<boolean>`t.deleted_at IS NULL`];
  const match = filter.query ? toMatchExpression(filter.query) : null;
  if (match !== null) parts.push(sql<boolean>`t.n IN (SELECT rowid FROM trajectory_text WHERE trajectory_text MATCH ${match})`);
  if (filter.sessionId !== undefined) parts.push(sql<boolean>`t.session_id = ${filter.sessionId}`);
  if (filter.kinds && without !== 'kinds') parts.push(sql<boolean>`t.kind IN (SELECT value FROM json_each(${JSON.stringify(filter.kinds)}))`);
  if (filter.runId !== undefined && without !== 'runId') parts.push(sql<boolean>`t.run_id = ${filter.runId}`);
  if (filter.outcomes && without !== 'outcomes') parts.push(sql<boolean>`t.outcome IN (SELECT value FROM json_each(${JSON.stringify(filter.outcomes)}))`);
  if (filter.models && without !== 'models') parts.push(sql<boolean>`t.model IN (SELECT value FROM json_each(${JSON.stringify(filter.models)}))`);
  if (filter.ids) parts.push(sql<boolean>`t.id IN (SELECT value FROM json_each(${JSON.stringify(filter.ids)}))`);
  if (filter.ratings && without !== 'ratings') parts.push(sql<boolean>`coalesce(t.rating, 0) IN (SELECT value FROM json_each(${JSON.stringify(filter.ratings)}))`);
  if (filter.minReward !== undefined && without !== 'rewards') parts.push(sql<boolean>`t.reward >= ${filter.minReward}`);
  if (filter.maxReward !== undefined && without !== 'rewards') parts.push(sql<boolean>`t.reward <= ${filter.maxReward}`);
  return sql<boolean>`${sql.join(parts, sql` AND `)}`;
}

/** Which page of a list: what follows `after` in the order, without what is newer than `upTo`. */
export interface ListPage {
  sort?: TrajectorySort | undefined;
  after?: ListPlace | undefined;
  upTo?: number | undefined;
  limit: number;
}

const ORDERS = {
  newest: sql`t.n DESC`,
  reward_high: sql`t.reward DESC, t.n DESC`,
  reward_low: sql`t.reward ASC NULLS LAST, t.n DESC`,
};

/** What comes after a place in an order. */
function following(sort: TrajectorySort, { n, reward }: ListPlace) {
  if (sort === 'newest') return sql<boolean>`t.n < ${n}`;
  if (reward === null) return sql<boolean>`t.reward IS NULL AND t.n < ${n}`;
  const beyond = sort === 'reward_high' ? sql`t.reward < ${reward}` : sql`t.reward > ${reward}`;
  return sql<boolean>`(${beyond} OR t.reward IS NULL OR (t.reward = ${reward} AND t.n < ${n}))`;
}

/** One keyset page; `newest` is the highest `n` there is. */
export function listTrajectories(db: Database, filter: TrajectoryFilter, { sort = 'newest', after, upTo, limit }: ListPage): { items: TrajectorySummary[]; more: boolean; newest: number } {
  const order = ORDERS[sort];
  // By reward the plus keeps SQLite on the index of that order.
  const bound = sort === 'newest' ? sql`t.n` : sql`+t.n`;
  const page = sqlFor
    .selectFrom('trajectories as t')
    .select('t.n')
    .where(conditions(filter))
    .$if(after !== undefined, (q) => q.where(following(sort, after!)))
    .$if(upTo !== undefined, (q) => q.where(sql<boolean>`${bound} <= ${upTo}`))
    .orderBy(order)
    .limit(limit + 1);
  // Numbers first: sorting whole rows would carry the prompt and the tools of each along.
  const rows = db.all(base().where('t.n', 'in', page).orderBy(order) as never) as SummaryRow[];
  const newest = db.get(sqlFor.selectFrom('trajectories').select(sql<number | null>`max(n)`.as('n')))?.n ?? 0;
  return { items: rows.slice(0, limit).map(toSummary), more: rows.length > limit, newest };
}

export interface TrajectoryCounts {
  total: number;
  matching: number;
  kinds: Record<string, number>;
  outcomes: Record<string, number>;
  runs: { id: string; name: string; count: number }[];
  models: { model: string; count: number }[];
  /** By rating; "0" for those without one. */
  ratings: Record<string, number>;
  rewards: { count: number; min: number; max: number } | null;
}

/** Totals and facets; each facet counts within the filter without its own condition. */
export function countTrajectories(db: Database, filter: TrajectoryFilter): TrajectoryCounts {
  const t = () => sqlFor.selectFrom('trajectories as t');
  const one = (condition: ReturnType<typeof conditions>) =>
    db.get(t().select(sql<number>`count(*)`.as('count')).where(condition))?.count ?? 0;
  const kinds = db.all(t().select(['t.kind', sql<number>`count(*)`.as('count')]).where(conditions(filter, 'kinds')).groupBy('t.kind'));
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
  const rating = sql<number>`coalesce(t.rating, 0)`;
  const ratings = db.all(t().select([rating.as('rating'), sql<number>`count(*)`.as('count')]).where(conditions(filter, 'ratings')).groupBy(rating));
  const rewards = db.get(
    t()
      .select([sql<number>`count(t.reward)`.as('count'), sql<number | null>`min(t.reward)`.as('min'), sql<number | null>`max(t.reward)`.as('max')])
      .where(conditions(filter, 'rewards')),
  );
  return {
    total: one(conditions({})),
    matching: one(conditions(filter)),
    kinds: Object.fromEntries(kinds.map((k) => [k.kind, k.count])),
    outcomes: Object.fromEntries(outcomes.map((o) => [o.outcome, o.count])),
    runs,
    models,
    ratings: Object.fromEntries(ratings.map((r) => [String(r.rating), r.count])),
    rewards: rewards && rewards.min !== null && rewards.max !== null ? { count: rewards.count, min: rewards.min, max: rewards.max } : null,
  };
}

/** How many match, and the ids in creation order, `afterN` exclusive: how exports walk a selection without holding it. */
export function countMatching(db: Database, filter: TrajectoryFilter): number {
  return db.get(sqlFor.selectFrom('trajectories as t').select(sql<number>`count(*)`.as('count')).where(conditions(filter)))?.count ?? 0;
}

const SUBJECT_COLUMNS = ['t.n', 't.id', 't.title', 't.run_id', 't.prompt_index', 't.rollout', 't.state', 't.exit_reason', 't.reward', 't.rating', 't.turns', 't.tool_errors'] as const;
/** What scoring needs of a trajectory. */
export type SubjectRow = Pick<TrajectoryRow, 'n' | 'id' | 'title' | 'run_id' | 'prompt_index' | 'rollout' | 'state' | 'exit_reason' | 'reward' | 'rating' | 'turns' | 'tool_errors'>;

/** What scoring needs of them, in creation order after `afterN`, at most `limit`. */
export function walkSubjects(db: Database, filter: TrajectoryFilter, afterN: number, limit: number): SubjectRow[] {
  return db.all(sqlFor.selectFrom('trajectories as t').select(SUBJECT_COLUMNS).where(conditions(filter)).where('t.n', '>', afterN).orderBy('t.n').limit(limit));
}

/** Details in creation order after `afterN`, at most `limit`. */
export function walkTrajectories(db: Database, filter: TrajectoryFilter, afterN: number, limit: number): TrajectoryDetail[] {
  const query = base().where(conditions(filter)).where('t.n', '>', afterN).orderBy('t.n').limit(limit);
  return (db.all(query as never) as SummaryRow[]).map(toDetail);
}

/** Runs that have rollouts among what matches, the oldest first, with their specs as JSON. */
export function runsMatching(db: Database, filter: TrajectoryFilter): { id: string; spec: string }[] {
  const query = sqlFor
    .selectFrom('runs as r')
    .select(['r.id', 'r.spec'])
    .where(sql<boolean>`EXISTS (SELECT 1 FROM trajectories t WHERE t.run_id = r.id AND t.prompt_index IS NOT NULL AND ${conditions(filter)})`)
    .orderBy('r.created_at')
    .orderBy('r.id');
  return db.all(query);
}

/** Matching rollouts of a run by row of its dataset, then by rollout, after those two numbers: how exports walk groups without holding them. */
export function walkRollouts(db: Database, filter: TrajectoryFilter, runId: string, [row, rollout]: readonly [number, number], limit: number): TrajectoryDetail[] {
  const query = base()
    .where('t.run_id', '=', runId)
    .where(sql<boolean>`(t.prompt_index, t.rollout) > (${row}, ${rollout})`)
    .where(conditions(filter))
    .orderBy('t.prompt_index')
    .orderBy('t.rollout')
    .limit(limit);
  return (db.all(query as never) as SummaryRow[]).map(toDetail);
}

/** How many match that are no rollouts of a run (chats), and one of them. */
export function outsideRuns(db: Database, filter: TrajectoryFilter): { count: number; exampleId: string } {
  const query = sqlFor
    .selectFrom('trajectories as t')
    .select([sql<number>`count(*)`.as('count'), sql<string>`coalesce(min(t.id), '')`.as('exampleId')])
    .where(conditions(filter))
    .where(sql<boolean>`(t.run_id IS NULL OR t.prompt_index IS NULL)`);
  return db.get(query) ?? { count: 0, exampleId: '' };
}

/** One trajectory, also one whose deletion can still be undone. */
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

/**
 * One page in rising order: what follows `after`, or with `before` the last ones below that seq. `more`: there are further ones in the
 * asked direction. Large contents are cut.
 */
export function pageMessages(db: Database, n: number, { after, before, limit }: { after: number; before?: number | undefined; limit: number }): { items: StoredMessage[]; more: boolean } {
  if (before === undefined) {
    const items = getMessages(db, n, after, limit + 1);
    return { items: items.slice(0, limit), more: items.length > limit };
  }
  const rows = db.all(
    sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('seq', '<', before).where('seq', '>', after).orderBy('seq', 'desc').limit(limit + 1),
  );
  return { items: rows.slice(0, limit).reverse().map((r) => fromMessageRow(r)), more: rows.length > limit };
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
