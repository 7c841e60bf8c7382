import type { PromptState } from '#shared/contract/runs.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { FilterHit } from './types.ts';

/** States of rollouts that filters decide on. */
export const JUDGED_STATES: readonly PromptState[] = ['completed', 'partial', 'discarded'];

/** How an ended rollout stands. */
export interface Disposed {
  state: string;
  cause: string | null;
  reason: string | null;
}

/**
 * Gives an ended rollout the disposition that its filters say, in the tables of prompts and trajectories. Returns whether anything
 * changed. Call it in a transaction.
 */
export function dispose(db: Database, at: { runId: string; index: number }, before: Disposed, hit: FilterHit | null, now: number): boolean {
  if (hit === null && before.state !== 'discarded') return false;
  const trajectory = db.get(
    sqlFor
      .selectFrom('prompts as p')
      .innerJoin('trajectories as t', 't.id', 'p.trajectory_id')
      .select(['t.n', 't.exit_reason', 't.error'])
      .where('p.run_id', '=', at.runId)
      .where('p.idx', '=', at.index),
  );
  if (!trajectory) return false;
  const discardReason = hit?.cause ?? null;
  const reason = [hit?.reason, trajectory.error].filter(Boolean).join(' ') || null;
  if (before.state === 'discarded' && before.cause === discardReason && before.reason === reason) return false;
  const outcome = outcomeOf({ state: 'ended', exitReason: trajectory.exit_reason as ExitReason, discardReason });
  db.run(sqlFor.updateTable('trajectories').set({ discard_reason: discardReason, outcome }).where('n', '=', trajectory.n));
  db.run(
    sqlFor
      .updateTable('prompts')
      .set({ state: outcome === 'discarded' || outcome === 'completed' ? outcome : 'partial', cause: discardReason, reason, retryable: 0, updated_at: now })
      .where('run_id', '=', at.runId)
      .where('idx', '=', at.index),
  );
  return true;
}
