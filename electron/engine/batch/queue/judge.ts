import type { PromptState } from '#shared/contract/runs.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import type { RolloutResult } from './types.ts';

/** Failures of the provider that the same request would meet again. */
const HOPELESS = ['bad_request', 'context_overflow'];
/** Others would meet it too: the run waits until there is room. */
export const DISK_FULL = 'disk_full';
/** Ends that are no fault of the rollout: it is run again. */
const GOES_ON: readonly ExitReason[] = ['interrupted', 'budget_exceeded'];

export interface Verdict {
  state: Exclude<PromptState, 'running'>;
  cause: string | null;
  reason: string | null;
  retryable: boolean;
  /** How the trajectory ends. */
  exit: { exitReason: ExitReason; error: string | null };
}

/**
 * What becomes of a rollout by how its attempt ended, before its filters are asked.
 * @param interrupted what an attempt becomes that was told to stop
 * @param turns answers of the model in its trajectory
 */
export function judge(result: RolloutResult, interrupted: 'cancelled' | 'pending', turns: number): Verdict {
  const { exitReason, defect, modelError } = result;
  if (defect?.cause === DISK_FULL) return { state: interrupted, cause: null, reason: defect.reason, retryable: true, exit: { exitReason: 'interrupted', error: defect.reason } };
  if (defect || exitReason === null) {
    const { cause, reason, retryable } = defect ?? { cause: 'defect', reason: 'It ended without a reason.', retryable: true };
    return { state: 'failed', cause, reason, retryable, exit: { exitReason: 'error', error: reason } };
  }
  const exit = { exitReason, error: result.error };
  const reason = sentenceOf(result);
  if (GOES_ON.includes(exitReason)) return { state: interrupted, cause: null, reason, retryable: true, exit };
  // a conversation without an answer is nothing to keep, and nothing for filters to judge
  if (exitReason === 'timeout' && turns === 0) return { state: 'failed', cause: exitReason, reason, retryable: true, exit: { exitReason: 'error', error: reason } };
  const outcome = outcomeOf({ state: 'ended', exitReason, discardReason: null });
  if (outcome === 'completed' || outcome === 'partial') return { state: outcome, cause: null, reason, retryable: false, exit };
  const cause = modelError?.code ?? exitReason;
  return { state: 'failed', cause, reason, retryable: !HOPELESS.includes(cause), exit };
}

/** The verdict on a rollout that a filter leaves out of the files. */
export function discarded({ exit }: Verdict, { cause, reason }: { cause: string; reason: string }): Verdict {
  return { state: 'discarded', cause, reason: [reason, exit.error].filter(Boolean).join(' '), retryable: false, exit };
}

/** Whether the trajectory belongs in the files. */
export function isKept({ state }: { state: PromptState }): boolean {
  return state === 'completed' || state === 'partial';
}

/** Why, with the provider's own words when it was the provider. */
function sentenceOf({ error, modelError }: RolloutResult): string | null {
  const said = modelError?.providerMessage;
  return said && !error?.includes(said) ? `${error ?? ''} The provider said: “${said}”`.trim() : error;
}
