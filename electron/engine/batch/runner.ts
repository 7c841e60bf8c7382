import type { ActiveRollout, PromptState, RunState } from '#shared/contract/runs.ts';
import { parseFilters } from '#shared/filters.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import type { LiveHub } from '../trajectories/live.ts';
import { storeSentence } from './errors.ts';
import { settleDuplicates } from './filters/judge.ts';
import type { RunOutputs } from './outputs.ts';
import { FailureWatch } from './queue/failures.ts';
import { DISK_FULL } from './queue/judge.ts';
import { LEASE_MS, type Settled, StoreQueue } from './queue/store-queue.ts';
import { RunTally } from './queue/tally.ts';
import { Workers, type WorkersDeps } from './queue/workers.ts';
import type { RunRecord, RunStore } from './run-store.ts';
import type { Totals } from './totals.ts';

const TICK_MS = 1_000;
/** Rows wait so long for their file: by then the worker that handed in the rollout has gone on. */
const APPEND_MS = 10;

/** How a run stands after a pass. */
export interface PassOutcome {
  state: RunState;
  message: string | null;
}

/** `cap`, `disk`: it pauses. */
type Stop = { kind: 'pause' } | { kind: 'cancel' } | { kind: 'close' } | { kind: 'cap' | 'disk' | 'fail'; message: string };

export interface PassDeps {
  db: Database;
  store: RunStore;
  hub: LiveHub;
  spend: SpendLedger;
  now: () => number;
  log: Logger;
  run: RunRecord;
  outputs: RunOutputs;
  /** Makes one rollout. */
  work: WorkersDeps['work'];
  /** Resolves when what ended rollouts left is cleared up. */
  cleared: () => Promise<void>;
  /** A rollout changed, or the run as a whole. */
  onChange: (change: { index: number; state: PromptState } | null) => void;
}

/**
 * One pass over what is left of a run: `numWorkers` rollouts at once, the next begins as soon as one ends. Ends when nothing is left, or
 * when it was paused, cancelled, closed or had to stop; then the files agree with the store and the run has its state.
 */
export class BatchPass {
  readonly #deps: PassDeps;
  readonly #failures: FailureWatch;
  readonly #abort = new AbortController();
  readonly #workers: Workers;
  readonly #startedAt: number;
  readonly #done = Promise.withResolvers<void>();
  readonly #tally: RunTally;
  #stop: Stop | null = null;
  #finishing = false;
  #timer: NodeJS.Timeout | null = null;
  /** Kept rollouts whose row is not in its file yet. */
  #rows: { index: number; trajectoryId: string }[] = [];
  #appending: NodeJS.Timeout | null = null;
  #unstoredEnd: PassOutcome | null = null;

  constructor(deps: PassDeps) {
    this.#deps = deps;
    const { run, now, log } = deps;
    this.#tally = new RunTally(deps.db, deps.store, run, now, (index) => deps.onChange(index === null ? null : { index, state: this.#tally.states[index]! }));
    this.#failures = new FailureWatch(run.spec.maxFailures);
    this.#startedAt = now();
    const queue = new StoreQueue({
      ...deps,
      tally: this.#tally,
      overBudget: () => this.#overBudget(),
      interruptedState: () => (this.#stop?.kind === 'cancel' ? 'cancelled' : 'pending'),
      onSettled: (settled) => this.#settled(settled),
    });
    this.#workers = new Workers({
      queue,
      work: deps.work,
      count: run.spec.numWorkers,
      signal: this.#abort.signal,
      renewMs: LEASE_MS / 3,
      now,
      onUnavailable: (cause) => this.#halt({ kind: 'disk', message: storeSentence(cause) }, cause),
      onIdle: () => {
        if (this.#finishing) return;
        this.#finishing = true;
        void this.#finish()
          .catch((error: unknown) => log.error(`The end of run ${run.name} failed unexpectedly`, error))
          .finally(() => this.#done.resolve());
      },
    });
  }

  /** Resolves when the pass is over. Never rejects. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** The end of the pass when the store could not take it, as on a full disk: the store still says that the run is going on. */
  get unstoredEnd(): PassOutcome | null {
    return this.#unstoredEnd;
  }

  get state(): RunState {
    return this.#stop?.kind === 'pause' ? 'pausing' : 'running';
  }

  get states(): readonly PromptState[] {
    return this.#tally.states;
  }

  get totals(): Readonly<Totals> {
    return this.#tally.totals;
  }

  get active(): ActiveRollout[] {
    return this.#tally.active;
  }

  get elapsedMs(): number {
    return this.#deps.run.elapsedMs + this.#deps.now() - this.#startedAt;
  }

  get ratePerSecond(): number | null {
    return this.#tally.rate.perSecond();
  }

  get remaining(): number {
    return this.#tally.remaining;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#workers.take();
  }

  /** Lets running rollouts end and takes no new ones. */
  pause(): void {
    if (this.#stop !== null || this.#finishing) return;
    this.#stop = { kind: 'pause' };
    this.#workers.takeNoMore();
    this.#deps.store.setState(this.#deps.run.id, 'pausing', null);
    this.#deps.onChange(null);
  }

  /** Takes a pause back while the last rollouts still run. False when it is too late for that. */
  unpause(): boolean {
    if (this.#stop?.kind !== 'pause' || this.#finishing) return false;
    this.#stop = null;
    this.#deps.store.setState(this.#deps.run.id, 'running', null);
    this.#deps.onChange(null);
    this.#workers.take();
    return true;
  }

  /** Runs failed or discarded rollouts in this pass too. False when it takes no more. */
  again(what: 'failed' | 'discarded', indices?: readonly number[]): boolean {
    if (this.#stop !== null || this.#finishing) return false;
    const { store, run } = this.#deps;
    this.#tally.again(() => store.prompts.again(run.id, what, indices), what);
    this.#workers.take();
    return true;
  }

  /** Stops running rollouts now; they become `cancelled`. */
  cancel(): Promise<void> {
    this.#halt({ kind: 'cancel' });
    return this.done;
  }

  /** Stops now because the program ends; running rollouts become pending again. */
  close(): Promise<void> {
    this.#halt({ kind: 'close' });
    return this.done;
  }

  #halt(stop: Stop, error?: unknown): void {
    if (this.#stop === null || this.#stop.kind === 'pause') {
      this.#stop = stop;
      if ('message' in stop && stop.kind !== 'cap') this.#deps.log.error(`Run ${this.#deps.run.name} had to stop: ${stop.message}`, error);
    }
    this.#workers.takeNoMore();
    this.#abort.abort();
  }

  #overBudget(): string | null {
    const { spend, store, run } = this.#deps;
    const { budgetUsd } = run.spec;
    if (budgetUsd !== undefined) {
      const spent = store.costUsd(run.id);
      if (spent >= budgetUsd) return budgetSentence(spent, budgetUsd);
    }
    return spend.overBudget({ runId: run.id });
  }

  #settled({ index, disposition, result }: Settled): void {
    const { state, trajectoryId } = disposition;
    if ((state === 'completed' || state === 'partial') && trajectoryId !== null) {
      this.#rows.push({ index, trajectoryId });
      this.#appending ??= setTimeout(() => this.#append(), APPEND_MS);
    }
    // rollouts that run come to the same end before their next call
    if (result.overBudget !== null && (this.#stop === null || this.#stop.kind === 'pause')) {
      this.#stop = { kind: 'cap', message: result.overBudget };
      this.#workers.takeNoMore();
    }
    if (result.defect?.cause === DISK_FULL) this.#halt({ kind: 'disk', message: result.defect.reason });
    const message = this.#failures.see(disposition, result);
    if (message !== null) this.#halt({ kind: 'fail', message });
  }

  #append(): void {
    this.#appending = null;
    for (const { index, trajectoryId } of this.#rows.splice(0)) {
      try {
        this.#deps.outputs.append(index, trajectoryId);
      } catch (error) {
        this.#halt({ kind: 'disk', message: storeSentence(error) }, error);
      }
    }
  }

  #tick(): void {
    try {
      this.#deps.store.setElapsed(this.#deps.run.id, this.elapsedMs);
      this.#deps.outputs.checkpoint(this.#tally).catch((error: unknown) => this.#halt({ kind: 'disk', message: storeSentence(error) }, error));
    } catch (error) {
      this.#halt({ kind: 'disk', message: storeSentence(error) }, error);
    }
  }

  async #finish(): Promise<void> {
    const { store, run, outputs, log, db, now, hub } = this.#deps;
    if (this.#timer) clearInterval(this.#timer);
    const { elapsedMs } = this;
    if (this.#appending) clearTimeout(this.#appending);
    this.#append();
    await this.#deps.cleared();
    let end = this.#end();
    // nobody will end those whose end could not be stored
    for (const { index, trajectoryId } of this.#tally.active) {
      hub.drop(trajectoryId);
      this.#tally.ended(index);
    }
    try {
      store.setElapsed(run.id, elapsedMs);
      // rollouts whose end could not be stored are run again
      if (store.release(run.id)) this.#tally.refresh();
      const filters = parseFilters(run.spec.filters);
      if (this.#stop?.kind !== 'close' && (await settleDuplicates(db, filters, { runId: run.id, rollouts: run.spec.rollouts }, now)) > 0) {
        store.recount(run.id);
        this.#tally.refresh();
      }
      try {
        // a closing program must be quick: the next pass writes the files anew from the store
        if (this.#stop?.kind === 'close') await outputs.checkpoint(this.#tally, true);
        else await outputs.finish(this.#tally, { totals: this.#tally.totals, elapsedMs });
      } catch (error) {
        log.error(`The output files of run ${run.name} could not be written`, error);
        if (end.state !== 'failed' && end.message === null) end = { state: 'paused', message: storeSentence(error) };
      }
      store.setState(run.id, end.state, end.message);
    } catch (error) {
      log.error(`The end of run ${run.name} could not be stored`, error);
      this.#unstoredEnd = end.message !== null ? end : { state: 'paused', message: storeSentence(error) };
    }
  }

  #end(): PassOutcome {
    const stop = this.#stop;
    if (stop?.kind === 'fail') return { state: 'failed', message: stop.message };
    if (stop === null || !this.#tally.unfinished) return { state: 'completed', message: null };
    switch (stop.kind) {
      case 'cancel':
        return { state: 'cancelled', message: null };
      case 'close':
        return { state: 'interrupted', message: 'Talaria was closed while this run was going on. Resume goes on where it stopped.' };
      case 'cap':
      case 'disk':
        return { state: 'paused', message: stop.message };
      case 'pause':
        return { state: 'paused', message: null };
    }
  }
}

/** Said when a run has spent what it may. */
export function budgetSentence(spent: number, budgetUsd: number): string {
  return `The budget of this run is used up: $${spent.toFixed(2)} of $${budgetUsd.toFixed(2)}. Resume it with a higher budget.`;
}
