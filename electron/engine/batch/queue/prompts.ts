import { sql } from 'kysely';
import { PROMPT_STATES, type PromptItem, type PromptState } from '#shared/contract/runs.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { DatasetRow } from '../dataset.ts';

const PROMPT_SHOWN_CHARS = 2_000;
/** A literal: only then the partial index is used. */
const REMOVED = sql<boolean>`removed = 1`;

/** What the table says of one rollout before it is made. */
export interface PromptRow {
  prompt: string;
  /** The row's other columns, JSON. */
  row: string;
  /** JSON list; empty before the first attempt. */
  toolsets: string;
  attempts: number;
  state: PromptState;
  cause: string | null;
}

/** A dataset row to be stored; equal ones differ by `occurrence`, from 0. */
export type NewRow = DatasetRow & { occurrence: number };

export interface NewState {
  state: PromptState;
  reason: string | null;
  cause?: string | null;
  retryable?: boolean;
}

/** A rollout whose trajectory belongs in the files. */
export interface KeptPrompt {
  index: number;
  trajectoryId: string;
}

/** What tells a row from every other of its dataset: its content, and which of the equal ones it is. */
export function rowKey(row: { hash: string; occurrence: number }): string {
  return `${row.hash}-${row.occurrence}`;
}

/** Queries of the table `prompts`: one row per rollout of a run. */
export class PromptTable {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** The rollouts of dataset rows whose `index` says where they go. In one transaction. */
  add(runId: string, rows: readonly NewRow[], rollouts: number): void {
    const at = this.#now();
    this.#db.transaction(() => {
      // compiled once: there may be a hundred thousand
      const insert = this.#db.connection.prepare('INSERT INTO prompts (run_id, idx, prompt, row, row_key, updated_at) VALUES (?, ?, ?, ?, ?, ?)');
      for (const r of rows) {
        const values = [r.prompt, JSON.stringify(r.row), rowKey(r), at];
        for (let rollout = 0; rollout < rollouts; rollout += 1) insert.run(runId, r.index * rollouts + rollout, ...values);
      }
    });
  }

  /** Removes what was stored behind the last rollout of a run. */
  trim(runId: string, total: number): void {
    this.#db.run(sqlFor.deleteFrom('prompts').where('run_id', '=', runId).where('idx', '>=', total));
  }

  size(runId: string): number {
    return this.#db.get(sqlFor.selectFrom('prompts').select(sql<number>`count(*)`.as('count')).where('run_id', '=', runId))?.count ?? 0;
  }

  /** State of every rollout, by index. */
  states(runId: string, total: number): PromptState[] {
    const states = new Array<PromptState>(total).fill('pending');
    // by the index of states: the rows themselves may be large
    for (const state of PROMPT_STATES) {
      if (state === 'pending') continue;
      for (const { idx } of this.#db.iterate(sqlFor.selectFrom('prompts').select('idx').where('run_id', '=', runId).where('state', '=', state))) if (idx < total) states[idx] = state;
    }
    return states;
  }

  /** Rollouts whose row is no longer in the dataset. */
  removedOnes(runId: string): number[] {
    return this.#db.all(sqlFor.selectFrom('prompts').select('idx').where('run_id', '=', runId).where(REMOVED)).map((r) => r.idx);
  }

  /** Failures that would come again. */
  hopeless(runId: string): number[] {
    return this.#db.all(sqlFor.selectFrom('prompts').select('idx').where('run_id', '=', runId).where('state', '=', 'failed').where('retryable', '=', 0)).map((r) => r.idx);
  }

  counts(runId: string): Partial<Record<PromptState, number>> {
    const rows = this.#db.all(sqlFor.selectFrom('prompts').select(['state', sql<number>`count(*)`.as('count')]).where('run_id', '=', runId).groupBy('state'));
    return Object.fromEntries(rows.map((r) => [r.state, r.count]));
  }

  causes(runId: string): { cause: string; count: number }[] {
    const rows = this.#db.all(
      sqlFor.selectFrom('prompts').select(['cause', sql<number>`count(*)`.as('count')]).where('run_id', '=', runId).where('cause', 'is not', null).where('state', 'in', ['failed', 'discarded']).groupBy('cause'),
    );
    return rows.map((r) => ({ cause: r.cause!, count: r.count }));
  }

  removed(runId: string): number {
    return this.#db.get(sqlFor.selectFrom('prompts').select(sql<number>`count(*)`.as('count')).where('run_id', '=', runId).where(REMOVED))?.count ?? 0;
  }

  get(runId: string, index: number): PromptRow {
    const row = this.#db.getSql<PromptRow>('SELECT prompt, row, toolsets, attempts, state, cause FROM prompts WHERE run_id = ? AND idx = ?', [runId, index]);
    if (!row) throw new Error(`Rollout ${index} of run ${runId} is not in the store`);
    return row;
  }

  /** A new attempt, leased to a worker. */
  begin(runId: string, index: number, by: { toolsets: readonly string[]; trajectoryId: string; lease: string; until: number; lost: LostColumns }): void {
    const { lost } = by;
    this.#db.run(
      sqlFor
        .updateTable('prompts')
        .set((eb) => ({
          state: 'running',
          reason: null,
          cause: null,
          toolsets: JSON.stringify(by.toolsets),
          trajectory_id: by.trajectoryId,
          attempts: eb('attempts', '+', 1),
          lease: by.lease,
          lease_until: by.until,
          lost_prompt_tokens: eb('lost_prompt_tokens', '+', lost.prompt_tokens),
          lost_completion_tokens: eb('lost_completion_tokens', '+', lost.completion_tokens),
          lost_reasoning_tokens: eb('lost_reasoning_tokens', '+', lost.reasoning_tokens),
          lost_cached_tokens: eb('lost_cached_tokens', '+', lost.cached_tokens),
          updated_at: this.#now(),
        }))
        .where('run_id', '=', runId)
        .where('idx', '=', index),
    );
  }

  renew(runId: string, index: number, lease: string, until: number): void {
    this.#db.run(sqlFor.updateTable('prompts').set({ lease_until: until }).where('run_id', '=', runId).where('idx', '=', index).where('lease', '=', lease));
  }

  /** Gives a rollout its disposition and takes it from its worker. False when `lease` is given and no longer holds. */
  settle(runId: string, index: number, to: NewState, lease?: string): boolean {
    const { changes } = this.#db.run(
      sqlFor
        .updateTable('prompts')
        .set({ state: to.state, reason: to.reason, cause: to.cause ?? null, retryable: to.retryable === false ? 0 : 1, lease: null, lease_until: null, updated_at: this.#now() })
        .where('run_id', '=', runId)
        .where('idx', '=', index)
        .$if(lease !== undefined, (q) => q.where('lease', '=', lease!)),
    );
    return changes === 1;
  }

  /** What an engine that was stopped left running is pending again. Returns the trajectories of those attempts. */
  releaseRunning(runId: string, reason: string): string[] {
    const running = this.#db.all(sqlFor.selectFrom('prompts').select(['idx', 'trajectory_id']).where('run_id', '=', runId).where('state', '=', 'running'));
    for (const { idx } of running) this.settle(runId, idx, { state: 'pending', reason });
    return running.flatMap((r) => (r.trajectory_id === null ? [] : [r.trajectory_id]));
  }

  /** Makes failed or discarded rollouts pending again, whatever their cause; those of removed rows stay. Returns which. */
  again(runId: string, state: 'failed' | 'discarded', indices?: readonly number[]): { index: number; cause: string | null }[] {
    const found = this.#db.all(
      sqlFor
        .selectFrom('prompts')
        .select(['idx', 'cause'])
        .where('run_id', '=', runId)
        .where('state', '=', state)
        .where('removed', '=', 0)
        .$if(indices !== undefined, (q) => q.where(sql<boolean>`idx IN (SELECT value FROM json_each(${JSON.stringify(indices)}))`))
        .orderBy('idx'),
    );
    for (const { idx } of found) this.settle(runId, idx, { state: 'pending', reason: null });
    // a person kept that attempt, not the next one
    const again = JSON.stringify(found.map((r) => r.idx));
    this.#db.run(sqlFor.updateTable('prompts').set({ kept_anyway: 0 }).where('run_id', '=', runId).where(sql<boolean>`idx IN (SELECT value FROM json_each(${again}))`));
    return found.map((r) => ({ index: r.idx, cause: r.cause }));
  }

  /** Keys of the dataset rows as they were stored, by row. Holds one short text per row. */
  keys(runId: string, rollouts: number): Map<string, { row: number; removed: boolean }> {
    const keys = new Map<string, { row: number; removed: boolean }>();
    const query = sqlFor.selectFrom('prompts').select(['idx', 'row_key']).where('run_id', '=', runId);
    for (const { idx, row_key } of this.#db.iterate(query)) if (idx % rollouts === 0) keys.set(row_key, { row: idx / rollouts, removed: false });
    const removed = sqlFor.selectFrom('prompts').select(['idx', 'row_key']).where('run_id', '=', runId).where(REMOVED);
    for (const { row_key } of this.#db.all(removed)) keys.get(row_key)!.removed = true;
    return keys;
  }

  /** Marks all rollouts of a dataset row as removed from it, or back in it. */
  mark(runId: string, row: number, rollouts: number, removed: boolean): void {
    this.#db.run(
      sqlFor
        .updateTable('prompts')
        .set({ removed: removed ? 1 : 0 })
        .where('run_id', '=', runId)
        .where('idx', '>=', row * rollouts)
        .where('idx', '<', (row + 1) * rollouts),
    );
  }

  /** Completed and partial rollouts with `from` ≤ index < `to`, by index. */
  kept(runId: string, from: number, to: number): KeptPrompt[] {
    return this.#db
      .all(
        sqlFor
          .selectFrom('prompts')
          .select(['idx', 'trajectory_id'])
          .where('run_id', '=', runId)
          .where('idx', '>=', from)
          .where('idx', '<', to)
          .where('state', 'in', ['completed', 'partial'])
          .orderBy('idx'),
      )
      .map((r) => ({ index: r.idx, trajectoryId: r.trajectory_id ?? '' }));
  }

  /** One page by index; long prompts are cut for display. */
  page(runId: string, rollouts: number, { after, limit, states, cause }: { after: number; limit: number; states?: readonly PromptState[] | undefined; cause?: string | undefined }): { items: PromptItem[]; more: boolean } {
    const found = states && cause === undefined ? this.#indicesOf(runId, states, after, limit + 1) : null;
    const rows = this.#db.all(
      sqlFor
        .selectFrom('prompts as p')
        .leftJoin('trajectories as t', 't.id', 'p.trajectory_id')
        .select(['p.idx', 'p.state', 'p.reason', 'p.cause', 'p.retryable', 'p.removed', 'p.trajectory_id', 't.reward', sql<string>`substr(p.prompt, 1, ${PROMPT_SHOWN_CHARS})`.as('prompt')])
        .where('p.run_id', '=', runId)
        .$if(found !== null, (q) => q.where(sql<boolean>`p.idx IN (SELECT value FROM json_each(${JSON.stringify(found)}))`))
        .$if(found === null, (q) => q.where('p.idx', '>', after))
        .$if(found === null && states !== undefined, (q) => q.where('p.state', 'in', [...states!]))
        .$if(cause !== undefined, (q) => q.where('p.cause', '=', cause!))
        .orderBy('p.idx')
        .limit(limit + 1),
    );
    const items = rows.slice(0, limit).map((r): PromptItem => {
      const state = r.state as PromptState;
      const open = state === 'pending' || state === 'cancelled' || (state === 'failed' && r.retryable === 1);
      return {
        index: r.idx,
        promptIndex: Math.floor(r.idx / rollouts),
        rollout: r.idx % rollouts,
        prompt: r.prompt,
        state,
        reason: r.reason,
        cause: r.cause,
        retryable: open && r.removed === 0,
        removed: r.removed === 1,
        reward: r.reward,
        trajectoryId: r.trajectory_id,
      };
    });
    return { items, more: rows.length > limit };
  }

  /** The first rollouts behind `after` in these states: one short look into the index for each, whatever the run's size. */
  #indicesOf(runId: string, states: readonly PromptState[], after: number, limit: number): number[] {
    const of = (state: PromptState) => this.#db.all(sqlFor.selectFrom('prompts').select('idx').where('run_id', '=', runId).where('state', '=', state).where('idx', '>', after).orderBy('idx').limit(limit));
    return [...new Set(states)].flatMap((s) => of(s).map((r) => r.idx)).sort((a, b) => a - b).slice(0, limit);
  }
}

/** Tokens of an attempt that a new one replaces. */
export interface LostColumns {
  prompt_tokens: number;
  completion_tokens: number;
  reasoning_tokens: number;
  cached_tokens: number;
}
