import type { RunSpec } from '#shared/contract/runs.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { rolloutsOf } from './dashboard.ts';
import { durations, type EndedRollouts, readEnded } from './ended.ts';

/** One of two compared runs, by row of its dataset. */
export class Side {
  readonly runId: string;
  readonly rollouts: number;
  /** Rows that its dataset still has. */
  readonly rows: number;
  readonly removed: ReadonlySet<number>;
  /** Whether any of its rollouts has a reward. */
  readonly rewards: boolean;
  readonly meanReward: number | null;
  readonly durations: Float64Array;
  readonly exitReasons: ReadonlyMap<string, number>;
  /** Rollouts that have come to an end, and those of them that solved their row; see `count`. */
  readonly ended: Uint16Array;
  readonly solved: Uint16Array;
  readonly #trajectories: EndedRollouts;
  readonly #completed: Int32Array;

  constructor(init: { runId: string; rollouts: number; highest: number; removed: ReadonlySet<number>; endedIndexes: readonly number[]; completed: readonly number[]; trajectories: EndedRollouts }) {
    const { trajectories } = init;
    this.runId = init.runId;
    this.rollouts = init.rollouts;
    this.removed = init.removed;
    const size = Math.floor(init.highest / init.rollouts) + 1;
    this.rows = size - init.removed.size;
    this.ended = new Uint16Array(size);
    this.solved = new Uint16Array(size);
    for (const index of init.endedIndexes) this.ended[Math.floor(index / init.rollouts)]! += 1;
    this.#completed = Int32Array.from(init.completed, (index) => Math.floor(index / init.rollouts));
    this.#trajectories = trajectories;
    const rewards = trajectories.reward.filter((r) => !Number.isNaN(r));
    this.rewards = rewards.length > 0;
    this.meanReward = this.rewards ? rewards.reduce((sum, r) => sum + r, 0) / rewards.length : null;
    this.durations = durations(trajectories);
    this.exitReasons = trajectories.exitReasons;
  }

  /** Fills `solved`. A row has never more solved than ended rollouts. */
  count(by: 'reward' | 'completed', threshold: number | undefined): void {
    this.solved.fill(0);
    if (by === 'completed') for (const row of this.#completed) this.solved[row]! += 1;
    else {
      const { promptIndex, reward, count } = this.#trajectories;
      for (let i = 0; i < count; i += 1) {
        const value = reward[i]!;
        const row = promptIndex[i]!;
        if ((threshold === undefined ? value > 0 : value >= threshold) && row < this.solved.length && this.solved[row]! < this.ended[row]!) this.solved[row]! += 1;
      }
    }
  }
}

const ENDED_STATES = ['completed', 'partial', 'failed', 'discarded'];

export function readSide(db: Database, runId: string): Side | null {
  const run = db.get(sqlFor.selectFrom('runs').select('spec').where('id', '=', runId));
  if (!run) return null;
  const rollouts = rolloutsOf(JSON.parse(run.spec) as RunSpec);
  const indexes = (state: string): number[] => db.connection.prepare('SELECT idx FROM prompts WHERE run_id = ? AND state = ?').pluck().all(runId, state) as number[];
  const completed = indexes('completed');
  const highest = db.connection.prepare('SELECT max(idx) FROM prompts WHERE run_id = ?').pluck().get(runId) as number | null;
  const removed = db.connection.prepare('SELECT DISTINCT idx / ? FROM prompts WHERE run_id = ? AND removed = 1').pluck().all(rollouts, runId) as number[];
  return new Side({
    runId,
    rollouts,
    highest: highest ?? -1,
    removed: new Set(removed),
    endedIndexes: ENDED_STATES.flatMap((state) => (state === 'completed' ? completed : indexes(state))),
    completed,
    trajectories: readEnded(db, runId),
  });
}

/** The rollout of a row that shows best what the run can do: the highest reward, then a completed one, then the first. */
export function bestRollout(db: Database, runId: string, row: number): { reward: number | null; trajectoryId: string | null } {
  const best = db.get(
    sqlFor
      .selectFrom('trajectories')
      .select(['id', 'reward'])
      .where('run_id', '=', runId)
      .where('prompt_index', '=', row)
      .orderBy((eb) => eb(eb.fn.coalesce('reward', eb.lit(-1e308)), '*', eb.lit(-1)))
      .orderBy((eb) => eb.case().when('outcome', '=', 'completed').then(0).else(1).end())
      .orderBy('rollout')
      .limit(1),
  );
  return { reward: best?.reward ?? null, trajectoryId: best?.id ?? null };
}
