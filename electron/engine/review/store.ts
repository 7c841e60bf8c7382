import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Proposal, Review } from '#shared/contract/reviews.ts';
import { ZERO_USAGE } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';
import { isAutomatic, type ReviewKind, type ReviewState, type ReviewTrigger, type Source } from './kinds.ts';
import { ProposalStore } from './proposal-store.ts';

/** A review as stored. */
export interface ReviewRecord {
  id: string;
  sessionId: string | null;
  sources: Source[];
  kind: ReviewKind;
  trigger: ReviewTrigger;
  focus: string;
  state: ReviewState;
  error: string | null;
  trajectoryId: string | null;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
}

export interface ReviewPage {
  show: 'open' | 'all';
  sessionId?: string | undefined;
  before?: { createdAt: number; id: string } | undefined;
  limit: number;
}

type Row = Selectable<Tables['reviews']>;

/** The SQL of reviews. Everything here is synchronous and short. */
export class ReviewStore {
  readonly proposals: ProposalStore;
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    this.proposals = new ProposalStore(db, now);
  }

  transaction<T>(work: () => T): T {
    return this.#db.transaction(work);
  }

  create(review: Pick<ReviewRecord, 'sessionId' | 'sources' | 'kind' | 'trigger' | 'focus'> & { state?: ReviewState; error?: string }): ReviewRecord {
    const id = randomUUID();
    const now = this.#now();
    const { sessionId, sources, kind, trigger, focus, state = 'queued', error = null } = review;
    this.#db.run(
      sqlFor.insertInto('reviews').values({ id, session_id: sessionId, sources: JSON.stringify(sources), kind, trigger, focus, state, error, trajectory_id: null, created_at: now, started_at: null, ended_at: state === 'queued' ? null : now }),
    );
    return this.get(id)!;
  }

  update(id: string, patch: Partial<Pick<ReviewRecord, 'sources' | 'kind' | 'trigger' | 'focus' | 'state' | 'error' | 'trajectoryId' | 'startedAt' | 'endedAt'>>): void {
    const { sources, trajectoryId, startedAt, endedAt, ...rest } = patch;
    const set = {
      ...rest,
      ...(sources ? { sources: JSON.stringify(sources) } : {}),
      ...(trajectoryId === undefined ? {} : { trajectory_id: trajectoryId }),
      ...(startedAt === undefined ? {} : { started_at: startedAt }),
      ...(endedAt === undefined ? {} : { ended_at: endedAt }),
    };
    this.#db.run(sqlFor.updateTable('reviews').set(set).where('id', '=', id));
  }

  get(id: string): ReviewRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('reviews').selectAll().where('id', '=', id));
    return row && fromRow(row);
  }

  inState(state: 'queued' | 'running'): ReviewRecord[] {
    return this.#db.all(sqlFor.selectFrom('reviews').selectAll().where('state', '=', state).where(sql<boolean>`state IN ('queued', 'running')`).orderBy('created_at').orderBy('id')).map(fromRow);
  }

  /** Of a session, newest first. */
  ofSession(sessionId: string, limit = 50): ReviewRecord[] {
    return this.#db.all(sqlFor.selectFrom('reviews').selectAll().where('session_id', '=', sessionId).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit)).map(fromRow);
  }

  /** Reviews that began on this local day by themselves. */
  startedToday(): number {
    const day = new Date(this.#now());
    day.setHours(0, 0, 0, 0);
    const rows = this.#db.all(sqlFor.selectFrom('reviews').select('trigger').where('created_at', '>=', day.getTime() - 86_400_000).where('started_at', '>=', day.getTime()));
    return rows.filter((row) => isAutomatic(row.trigger as ReviewTrigger)).length;
  }

  /** USD of this local day for reviews, priced calls only. */
  spentToday(): number {
    const d = new Date(this.#now());
    const day = `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`;
    return this.#db.get(sqlFor.selectFrom('spend_days').select(sql<number>`coalesce(sum(cost_usd), 0)`.as('usd')).where('day', '=', day).where('purpose', '=', 'review'))?.usd ?? 0;
  }

  page({ show, sessionId, before, limit }: ReviewPage): { items: ReviewRecord[]; more: boolean } {
    const waiting = sql<boolean>`(state IN ('queued', 'running') OR EXISTS (SELECT 1 FROM proposals p WHERE p.review_id = reviews.id AND p.state = 'waiting'))`;
    const rows = this.#db.all(
      sqlFor
        .selectFrom('reviews')
        .selectAll()
        .$if(show === 'open', (q) => q.where(waiting))
        .$if(sessionId !== undefined, (q) => q.where('session_id', '=', sessionId!))
        .$if(before !== undefined, (q) => q.where(sql<boolean>`(created_at, id) < (${before!.createdAt}, ${before!.id})`))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1) as never,
    ) as Row[];
    return { items: rows.slice(0, limit).map(fromRow), more: rows.length > limit };
  }

  /** What people are shown of a review. */
  shown(record: ReviewRecord): Review {
    const own = record.trajectoryId === null ? undefined : this.#db.get(sqlFor.selectFrom('trajectories').selectAll().where('id', '=', record.trajectoryId));
    const usage = own && { promptTokens: own.prompt_tokens, completionTokens: own.completion_tokens, reasoningTokens: own.reasoning_tokens, cachedTokens: own.cached_tokens };
    return {
      ...record,
      title: this.titleOf(record),
      model: own ? `${own.provider}/${own.model}` : null,
      usage: usage ?? ZERO_USAGE,
      costUsd: own?.cost_usd ?? null,
      proposals: this.proposals.ofReview(record.id).map(({ operation: _, done: __, ...proposal }): Proposal => proposal),
    };
  }

  /** Title of the chat, or of the first trajectory; empty when it is gone. */
  titleOf({ sessionId, sources }: Pick<ReviewRecord, 'sessionId' | 'sources'>): string {
    const session = sessionId === null ? undefined : this.#db.get(sqlFor.selectFrom('sessions').select('title').where('id', '=', sessionId));
    if (session?.title) return session.title;
    return this.#db.get(sqlFor.selectFrom('trajectories').select('title').where('id', '=', sources[0]?.trajectoryId ?? ''))?.title ?? '';
  }
}

function fromRow(row: Row): ReviewRecord {
  return {
    id: row.id,
    sessionId: row.session_id,
    sources: JSON.parse(row.sources) as Source[],
    kind: row.kind as ReviewKind,
    trigger: row.trigger as ReviewTrigger,
    focus: row.focus,
    state: row.state as ReviewState,
    error: row.error,
    trajectoryId: row.trajectory_id,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
