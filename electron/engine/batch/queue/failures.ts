import type { RolloutModelError, RolloutResult } from './types.ts';
import type { Disposition } from './types.ts';

/** So many failures in a row with the same words mean that the rest would fail too. */
const SAME_FAILURES = 10;
const ROW_FAULTS: readonly RolloutModelError['code'][] = ['bad_request', 'context_overflow', 'aborted'];
const REASON_CHARS = 500;

/** Finds out when failures of rollouts mean that the run should stop. */
export class FailureWatch {
  readonly #maxFailures: number | undefined;
  #inARow = 0;
  #same = { message: '', count: 0 };

  /** @param maxFailures so many failures in a row, whatever their reasons */
  constructor(maxFailures: number | undefined) {
    this.#maxFailures = maxFailures;
  }

  /** Takes an end into account. Returns why the run should stop, as a sentence, or null. */
  see({ state, reason }: Disposition, { modelError }: RolloutResult): string | null {
    if (state === 'completed' || state === 'partial' || state === 'discarded') {
      this.#inARow = 0;
      this.#same = { message: '', count: 0 };
    }
    if (state !== 'failed') return null;
    this.#inARow += 1;
    if (modelError?.stopsRun) return `${told(modelError)} Resume the run when that is mended.`;
    if (modelError && !ROW_FAULTS.includes(modelError.code)) {
      const { message } = modelError;
      this.#same = { message, count: this.#same.message === message ? this.#same.count + 1 : 1 };
      if (this.#same.count >= SAME_FAILURES) return `${SAME_FAILURES} prompts in a row failed for the same reason: ${told(modelError)} Resume the run when that is mended.`;
    }
    if (this.#maxFailures !== undefined && this.#inARow >= this.#maxFailures) {
      const rollouts = this.#inARow === 1 ? 'A rollout failed' : `${this.#inARow} rollouts in a row failed`;
      return `${rollouts}, which is what this run allows. The last one: ${sentence(reason ?? 'No reason was given')} Resume the run when that is mended.`;
    }
    return null;
  }
}

function told({ message, providerMessage }: RolloutModelError): string {
  return providerMessage ? `${message} The provider said: “${providerMessage}”` : message;
}

/** The first line of a reason, with the full stop that not everybody's words have. */
function sentence(reason: string): string {
  const line = reason.split('\n', 1)[0]!.slice(0, REASON_CHARS).toWellFormed().trimEnd();
  return /[.!?。！？”"]$/.test(line) ? line : `${line}.`;
}
