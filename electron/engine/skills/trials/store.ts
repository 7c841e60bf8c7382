import { sql } from 'kysely';
import type { TrialArm, TrialSpec } from '#shared/contract/trials.ts';
import { type Database, sqlFor } from '../../store/database.ts';

export type TrialState = 'running' | 'done' | 'cancelled' | 'interrupted' | 'paused' | 'failed';
export type RunState = 'pending' | 'running' | 'ended';

/** What the column `spec` has besides what was asked for. */
export interface KeptSpec {
  spec: TrialSpec & { seed: number };
  /** The skill's name, and the hashes of its files, when the trial began. */
  name: string;
  tree: Record<string, string>;
  /** Spent on attempts that were made again. */
  lostUsd: number;
  /** What takes the decision back. */
  undo: { enabled: boolean; versionId: number | null } | null;
}

export interface TrialRecord extends KeptSpec {
  id: string;
  skill: string;
  state: TrialState;
  decision: 'keep' | 'discard' | null;
  error: string | null;
  createdAt: number;
  endedAt: number | null;
}

export interface RunRecord {
  index: number;
  arm: TrialArm;
  state: RunState;
  trajectoryId: string | null;
}

/** Trials and their attempts as rows. */
export class TrialStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** In the order in which attempts are made: both arms of a prompt one after the other. */
  add(id: string, kept: KeptSpec): void {
    this.#db.transaction(() => {
      this.#db.run(sqlFor.insertInto('trials').values({ id, skill: kept.spec.skillId, spec: JSON.stringify(kept), state: 'running', decision: null, error: null, created_at: this.#now(), ended_at: null }));
      for (const idx of kept.spec.prompts.keys()) for (const arm of ['with', 'without'] as const) this.#db.run(sqlFor.insertInto('trial_runs').values({ trial_id: id, idx, arm, trajectory_id: null, state: 'pending' }));
    });
  }

  get(id: string): TrialRecord | null {
    const row = this.#db.get(sqlFor.selectFrom('trials').selectAll().where('id', '=', id));
    return row ? recordOf(row) : null;
  }

  /** Newest first. */
  of(skill: string): TrialRecord[] {
    return this.#db.all(sqlFor.selectFrom('trials').selectAll().where('skill', '=', skill).orderBy('created_at', 'desc').orderBy('id')).map(recordOf);
  }

  runs(id: string): RunRecord[] {
    return this.#db
      .all(sqlFor.selectFrom('trial_runs').selectAll().where('trial_id', '=', id).orderBy('idx').orderBy('arm'))
      .map((row) => ({ index: row.idx, arm: row.arm as TrialArm, state: row.state as RunState, trajectoryId: row.trajectory_id }));
  }

  setRun(id: string, { index, arm }: Pick<RunRecord, 'index' | 'arm'>, values: { state: RunState; trajectoryId?: string | null }): void {
    const { state, trajectoryId } = values;
    this.#db.run(
      sqlFor
        .updateTable('trial_runs')
        .set({ state, ...(trajectoryId === undefined ? {} : { trajectory_id: trajectoryId }) })
        .where('trial_id', '=', id)
        .where('idx', '=', index)
        .where('arm', '=', arm),
    );
  }

  setState(id: string, state: TrialState, error: string | null): void {
    this.#db.run(sqlFor.updateTable('trials').set({ state, error, ended_at: state === 'running' ? null : this.#now() }).where('id', '=', id));
  }

  decide(id: string, decision: 'keep' | 'discard' | null, kept: KeptSpec): void {
    this.#db.run(sqlFor.updateTable('trials').set({ decision, spec: JSON.stringify(kept) }).where('id', '=', id));
  }

  keep(id: string, kept: KeptSpec): void {
    this.#db.run(sqlFor.updateTable('trials').set({ spec: JSON.stringify(kept) }).where('id', '=', id));
  }

  /** USD of the attempts as they are now. */
  spentUsd(id: string): number {
    return this.#db.get(sqlFor.selectFrom('trial_runs').innerJoin('trajectories', 'trajectories.id', 'trial_runs.trajectory_id').select(sql<number>`coalesce(sum(trajectories.cost_usd), 0)`.as('usd')).where('trial_runs.trial_id', '=', id))?.usd ?? 0;
  }

  /** The trial with the trajectories of its attempts. */
  remove(id: string): void {
    this.#db.transaction(() => {
      const ids = this.runs(id).flatMap(({ trajectoryId }) => trajectoryId ?? []);
      for (const trajectoryId of ids) this.#db.run(sqlFor.deleteFrom('trajectories').where('id', '=', trajectoryId));
      this.#db.run(sqlFor.deleteFrom('trials').where('id', '=', id));
    });
  }

  /** Trials that a killed engine left running are `interrupted`; attempts that ran are to be made again. */
  recover(): number {
    return this.#db.transaction(() => {
      const running = this.#db.all(sqlFor.selectFrom('trials').select('id').where('state', '=', 'running'));
      for (const { id } of running) {
        this.#db.run(sqlFor.updateTable('trial_runs').set({ state: 'pending' }).where('trial_id', '=', id).where('state', '=', 'running'));
        this.setState(id, 'interrupted', 'Talaria was closed while this trial ran. Go on with it to run what is missing.');
      }
      return running.length;
    });
  }
}

function recordOf(row: { id: string; skill: string; spec: string; state: string; decision: string | null; error: string | null; created_at: number; ended_at: number | null }): TrialRecord {
  const kept = JSON.parse(row.spec) as KeptSpec;
  return { ...kept, id: row.id, skill: row.skill, state: row.state as TrialState, decision: row.decision as TrialRecord['decision'], error: row.error, createdAt: row.created_at, endedAt: row.ended_at };
}
