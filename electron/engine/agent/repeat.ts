import type { Message } from '#shared/trajectory.ts';
import { callKey, type CheckedCall } from './calls.ts';

/** Same call, same result, so many times in a row: the model is told. */
const NOTE_AT = 3;
/** After so many times the call is not run any more. */
const REFUSE_AFTER = 5;
/** The time at which the run ends. */
const END_AT = 8;

/**
 * Notices a model that goes round in circles. What counts is a turn whose calls are those of the turn before, with the same arguments,
 * and whose results were the same too (two errors count as the same: some tools number them). The third time the model is told; after
 * the fifth the calls are answered with an error instead of being run; the eighth ends the run. Any other turn with calls begins anew,
 * so that polling beside other work, or repeating after a change, is never stopped.
 */
export class RepeatGuard {
  #calls = '';
  #results = '';
  #times = 0;

  /** What is to be done with the calls of a turn. */
  verdict(calls: readonly CheckedCall[]): 'run' | 'refuse' | 'end' {
    if (keysOf(calls) !== this.#calls || this.#times < REFUSE_AFTER) return 'run';
    return this.#times + 1 >= END_AT ? 'end' : 'refuse';
  }

  /** Takes note of a turn whose calls were refused. */
  refused(): void {
    this.#times++;
  }

  /** Takes note of a turn that was run; answers whether the model should be told. */
  ran(calls: readonly CheckedCall[], results: readonly Message[]): boolean {
    const keys = keysOf(calls);
    const outcome = JSON.stringify(results.map((result) => (result.isError ? null : result.content)));
    const same = keys === this.#calls && outcome === this.#results;
    this.#times = same ? this.#times + 1 : 1;
    this.#calls = keys;
    this.#results = outcome;
    return this.#times === NOTE_AT;
  }

  /** A turn without calls that were run: whatever comes next is no repetition. */
  forget(): void {
    this.#calls = '';
    this.#times = 0;
  }

  get times(): number {
    return this.#times;
  }
}

function keysOf(calls: readonly CheckedCall[]): string {
  return calls.map(({ call }) => callKey(call)).join('\u0001');
}
