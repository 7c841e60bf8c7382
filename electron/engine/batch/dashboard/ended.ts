import type { Database } from '../../store/connection.ts';

/** What is counted over the ended rollouts of a run: one entry per rollout, ordered by prompt and rollout. */
export interface EndedRollouts {
  count: number;
  promptIndex: Int32Array;
  /** NaN without one. */
  reward: Float64Array;
  /** Epoch ms. */
  startedAt: Float64Array;
  endedAt: Float64Array;
  /** 1: a turn has reasoning. */
  reasoning: Uint8Array;
  exitReasons: Map<string, number>;
}

type Row = [promptIndex: number | null, reward: number | null, startedAt: number, endedAt: number | null, turnsWithReasoning: number, exitReason: string | null];

/** Reads nothing but the index `trajectories_ended`: 100,000 rollouts in a fraction of a second. What was interrupted will be run again and does not count. */
export function readEnded(db: Database, runId: string): EndedRollouts {
  // written by hand, as only a literal condition lets SQLite take the partial index; columns by place, as names cost as much as the values
  const rows = db.connection
    .prepare(
      `SELECT prompt_index, reward, created_at, ended_at, turns_with_reasoning, exit_reason FROM trajectories INDEXED BY trajectories_ended
       WHERE state = 'ended' AND run_id = ? AND exit_reason <> 'interrupted' ORDER BY prompt_index, rollout`,
    )
    .raw()
    .all(runId) as Row[];
  const ended: EndedRollouts = {
    count: rows.length,
    promptIndex: new Int32Array(rows.length),
    reward: new Float64Array(rows.length),
    startedAt: new Float64Array(rows.length),
    endedAt: new Float64Array(rows.length),
    reasoning: new Uint8Array(rows.length),
    exitReasons: new Map(),
  };
  for (const [i, row] of rows.entries()) {
    ended.promptIndex[i] = row[0] ?? 0;
    ended.reward[i] = row[1] ?? Number.NaN;
    ended.startedAt[i] = row[2];
    ended.endedAt[i] = row[3] ?? row[2];
    ended.reasoning[i] = row[4] > 0 ? 1 : 0;
    const reason = row[5] ?? 'error';
    ended.exitReasons.set(reason, (ended.exitReasons.get(reason) ?? 0) + 1);
  }
  return ended;
}

/** How long each rollout took, ms. */
export function durations(ended: EndedRollouts): Float64Array {
  return ended.endedAt.map((end, i) => Math.max(0, end - ended.startedAt[i]!));
}

export function exitReasonCounts(reasons: ReadonlyMap<string, number>): { reason: string; count: number }[] {
  return [...reasons].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}
