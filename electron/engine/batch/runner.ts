import type { ActiveRollout, PromptState, RunState } from '#shared/contract/runs.ts';
import { addUsage } from '#shared/trajectory.ts';
import type { ModelError } from '../model/types.ts';
import { cut } from './dataset.ts';
import { BatchError, systemCode } from './errors.ts';
import { DONE_STATES, type RunOutputs } from './outputs.ts';
import { type RolloutDeps, type RolloutEnd, runRollout } from './rollout.ts';
import { addAttempt, Rate, type Totals } from './totals.ts';

const TICK_MS = 1_000;
/** So many failures in a row with the same words mean that the rest would fail too. */
const SAME_FAILURES = 10;
const ROW_FAULTS: readonly ModelError['code'][] = ['bad_request', 'context_overflow', 'aborted'];
const PROMPT_SHOWN_CHARS = 300;

/** How a run stands after a pass. */
export interface PassOutcome {
  state: RunState;
  message: string | null;
}

type Stop = { kind: 'pause' } | { kind: 'cancel' } | { kind: 'close' } | { kind: 'fail'; message: string };

export interface PassDeps extends Omit<RolloutDeps, 'interruptedState' | 'onBegin' | 'onActivity'> {
  outputs: RunOutputs;
  /** A prompt changed, or the run as a whole. */
  onChange: (index: number | null) => void;
}

/**
 * One pass over what is left of a run: `numWorkers` rollouts at once, the next prompt begins as soon as one ends. Ends when nothing is
 * left, or when it was paused, cancelled, closed or had to stop; then the files agree with the store and the run has its state.
 */
export class BatchPass {
  readonly #deps: PassDeps;
  readonly #states: PromptState[];
  readonly #doneBefore: ReadonlySet<number>;
  readonly #counts: Partial<Record<PromptState, number>> = {};
  readonly #queue: number[];
  readonly #active = new Map<number, ActiveRollout>();
  readonly #abort = new AbortController();
  readonly #totals: Totals;
  readonly #rate: Rate;
  readonly #startedAt: number;
  readonly #done = Promise.withResolvers<void>();
  #working = 0;
  #next = 0;
  #stop: Stop | null = null;
  #finishing = false;
  #sameFailure: { message: string; count: number } = { message: '', count: 0 };
  #timer: NodeJS.Timeout | null = null;
  #unstoredEnd: PassOutcome | null = null;

  constructor(deps: PassDeps) {
    this.#deps = deps;
    const { store, run, now } = deps;
    this.#states = store.states(run.id);
    for (const s of this.#states) this.#counts[s] = (this.#counts[s] ?? 0) + 1;
    const indices = [...this.#states.keys()];
    this.#doneBefore = new Set(indices.filter((i) => DONE_STATES.includes(this.#states[i]!)));
    this.#queue = indices.filter((i) => !this.#doneBefore.has(i));
    this.#totals = store.computeTotals(run.id);
    this.#rate = new Rate(now);
    this.#startedAt = now();
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
    return this.#stop === null ? 'running' : this.#stop.kind === 'pause' ? 'pausing' : 'running';
  }

  get counts(): Readonly<Partial<Record<PromptState, number>>> {
    return this.#counts;
  }

  get states(): readonly PromptState[] {
    return this.#states;
  }

  get totals(): Readonly<Totals> {
    return this.#totals;
  }

  get active(): ActiveRollout[] {
    return [...this.#active.values()].map((a) => ({ ...a })).sort((a, b) => a.index - b.index);
  }

  get elapsedMs(): number {
    return this.#deps.run.elapsedMs + this.#deps.now() - this.#startedAt;
  }

  get ratePerSecond(): number | null {
    return this.#rate.perSecond();
  }

  get remaining(): number {
    return this.#queue.length - this.#next + this.#active.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#fill();
  }

  /** Lets running prompts end and takes no new ones. */
  pause(): void {
    if (this.#stop !== null || this.#finishing) return;
    this.#stop = { kind: 'pause' };
    this.#deps.store.setState(this.#deps.run.id, 'pausing', null);
    this.#deps.onChange(null);
    this.#fill();
  }

  /** Takes a pause back while the last prompts still run. False when it is too late for that. */
  unpause(): boolean {
    if (this.#stop?.kind !== 'pause' || this.#finishing) return false;
    this.#stop = null;
    this.#deps.store.setState(this.#deps.run.id, 'running', null);
    this.#deps.onChange(null);
    this.#fill();
    return true;
  }

  /** Stops running prompts now; they become `cancelled`. */
  cancel(): Promise<void> {
    return this.#halt({ kind: 'cancel' });
  }

  /** Stops now because the program ends; running prompts become pending again. */
  close(): Promise<void> {
    return this.#halt({ kind: 'close' });
  }

  #halt(stop: Stop): Promise<void> {
    if (this.#stop === null || this.#stop.kind === 'pause') this.#stop = stop;
    this.#abort.abort();
    this.#fill();
    return this.done;
  }

  #fill(): void {
    while (this.#stop === null && this.#working < this.#deps.run.spec.numWorkers && this.#next < this.#queue.length) {
      const index = this.#queue[this.#next++]!;
      this.#working += 1;
      void this.#work(index).finally(() => {
        this.#working -= 1;
        this.#fill();
      });
    }
    if (this.#working === 0 && !this.#finishing) {
      this.#finishing = true;
      void this.#finish().finally(() => this.#done.resolve());
    }
  }

  async #work(index: number): Promise<void> {
    try {
      const end = await runRollout(this.#rolloutDeps, index, this.#abort.signal);
      this.#active.delete(index);
      this.#ended(index, end);
    } catch (error) {
      this.#active.delete(index);
      this.#fail(stopSentence(error), error);
    }
  }

  get #rolloutDeps(): RolloutDeps {
    return {
      ...this.#deps,
      interruptedState: () => (this.#stop?.kind === 'cancel' ? 'cancelled' : 'pending'),
      onBegin: ({ index, prompt, trajectoryId, lost }) => {
        if (lost) this.#totals.lost = addUsage(this.#totals.lost, lost);
        this.#active.set(index, { index, prompt: cut(prompt, PROMPT_SHOWN_CHARS), trajectoryId, turn: 0, activity: 'starting', startedAt: this.#deps.now() });
        this.#setState(index, 'running');
      },
      onActivity: (index, { turn, activity }) => {
        const a = this.#active.get(index);
        if (!a || (a.activity === activity && turn === undefined)) return;
        a.activity = activity;
        if (turn !== undefined) a.turn = turn;
        this.#deps.onChange(null);
      },
    };
  }

  #ended(index: number, end: RolloutEnd): void {
    if (end.totals) addAttempt(this.#totals, end.totals);
    this.#setState(index, end.state);
    if (end.state !== 'cancelled' && end.state !== 'pending') this.#rate.ended();
    if ((end.state === 'completed' || end.state === 'partial') && end.trajectoryId) this.#deps.outputs.append(index, end.trajectoryId);
    this.#watchFailures(end);
  }

  #watchFailures({ state, modelError }: RolloutEnd): void {
    if (state !== 'failed' || !modelError) {
      if (DONE_STATES.includes(state)) this.#sameFailure = { message: '', count: 0 };
      return;
    }
    const said = modelError.providerMessage ? ` The provider said: “${modelError.providerMessage}”` : '';
    if (modelError.stopsRun) return this.#fail(`${modelError.message}${said} Resume the run when that is mended.`);
    if (ROW_FAULTS.includes(modelError.code)) return;
    const same = this.#sameFailure.message === modelError.message;
    this.#sameFailure = { message: modelError.message, count: same ? this.#sameFailure.count + 1 : 1 };
    if (this.#sameFailure.count >= SAME_FAILURES) {
      this.#fail(`${SAME_FAILURES} prompts in a row failed for the same reason: ${modelError.message}${said} Resume the run when that is mended.`);
    }
  }

  #fail(message: string, error?: unknown): void {
    if (this.#stop !== null && this.#stop.kind !== 'pause') return;
    this.#deps.log.error(`Run ${this.#deps.run.name} had to stop: ${message}`, error);
    void this.#halt({ kind: 'fail', message });
  }

  #setState(index: number, state: PromptState): void {
    const before = this.#states[index]!;
    this.#counts[before] = (this.#counts[before] ?? 0) - 1;
    this.#counts[state] = (this.#counts[state] ?? 0) + 1;
    this.#states[index] = state;
    this.#deps.onChange(index);
  }

  #tick(): void {
    try {
      this.#deps.store.setProgress(this.#deps.run.id, this.elapsedMs, this.#totals);
      this.#deps.outputs.checkpoint(this.#view).catch((error: unknown) => this.#fail(messageOf(error), error));
    } catch (error) {
      this.#fail(stopSentence(error), error);
    }
  }

  get #view() {
    return { states: this.#states, doneBefore: this.#doneBefore };
  }

  async #finish(): Promise<void> {
    const { store, run, outputs, log } = this.#deps;
    if (this.#timer) clearInterval(this.#timer);
    const elapsedMs = this.elapsedMs;
    let { state, message } = this.#endState();
    try {
      // prompts whose end could not be stored are run again
      this.#states.forEach((s, index) => {
        if (s !== 'running') return;
        store.setPrompt(run.id, index, 'pending', null);
        this.#setState(index, 'pending');
      });
      store.setProgress(run.id, elapsedMs, this.#totals);
      try {
        // a closing program must be quick: the next pass writes the files anew from the store
        if (this.#stop?.kind === 'close') await outputs.checkpoint(this.#view, true);
        else await outputs.finish(this.#view, { counts: this.#counts, totals: this.#totals, elapsedMs });
      } catch (error) {
        log.error(`The output files of run ${run.name} could not be written`, error);
        if (state !== 'failed') ({ state, message } = { state: 'failed', message: messageOf(error) });
      }
      store.setState(run.id, state, message);
    } catch (error) {
      log.error(`The end of run ${run.name} could not be stored`, error);
      this.#unstoredEnd = this.#stop?.kind === 'fail' ? { state, message } : { state: 'failed', message: stopSentence(error) };
    }
  }

  #endState(): PassOutcome {
    const left = this.#states.some((s) => s === 'pending' || s === 'running' || s === 'cancelled');
    switch (this.#stop?.kind) {
      case 'fail':
        return { state: 'failed', message: this.#stop.message };
      case 'cancel':
        return left ? { state: 'cancelled', message: null } : { state: 'completed', message: null };
      case 'close':
        return left ? { state: 'interrupted', message: 'Talaria was closed while this run was going on. Resume goes on where it stopped.' } : { state: 'completed', message: null };
      case 'pause':
        return left ? { state: 'paused', message: null } : { state: 'completed', message: null };
      default:
        return { state: 'completed', message: null };
    }
  }
}

function stopSentence(error: unknown): string {
  if (error instanceof BatchError) return error.message;
  const what = systemCode(error).startsWith('SQLITE') ? 'The store could not be written' : 'Something unexpected happened';
  return `${what}: ${messageOf(error)}. Resume the run when that is mended.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
