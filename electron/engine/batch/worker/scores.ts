import { parseScoreRules, rulesOfRow } from '#shared/scoring.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import type { RolloutTask, ScoreResult } from '../queue/types.ts';
import type { ScoreHook } from './deps.ts';

/** Ends whose prompt is run again as if nothing had been. */
const GOES_ON: readonly ExitReason[] = ['interrupted', 'budget_exceeded'];

/** The scores of a rollout that has something to be scored. A scorer that fails gives each rule the value null and its reason. */
export async function scoresOf(score: ScoreHook | undefined, exitReason: ExitReason, rollout: Parameters<ScoreHook>[0]): Promise<ScoreResult[]> {
  const outcome = outcomeOf({ state: 'ended', exitReason, discardReason: null });
  if (!score || GOES_ON.includes(exitReason) || outcome === 'failed' || rollout.signal.aborted) return [];
  try {
    return await score(rollout);
  } catch (error) {
    const why = `Scoring failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`;
    return rulesOf(rollout.task).map((rule) => ({ ...rule, value: null, detail: { why } }));
  }
}

/** A row's own rules take the place of the run's. */
function rulesOf({ row, spec }: RolloutTask): Pick<ScoreResult, 'name' | 'rule' | 'weight'>[] {
  try {
    return (rulesOfRow(row['scoring']) ?? parseScoreRules(spec.scoring)).map(({ name, text, weight }) => ({ name, rule: text, weight }));
  } catch {
    return [{ name: 'scoring', rule: '', weight: 1 }];
  }
}
