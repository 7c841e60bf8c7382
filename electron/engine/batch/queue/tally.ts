import type { ActiveRollout, PromptState } from '#shared/contract/runs.ts';
import type { Database } from '../../store/database.ts';
import type { RunRecord, RunStore } from '../run-store.ts';
import { moveRollout, parseTotals, Rate, type Totals } from '../totals.ts';

/** Rollouts that are never run again by themselves. */
const DONE: readonly PromptState[] = ['completed', 'partial', 'discarded'];

/** What became of a rollout. */
export interface Move {
  index: number;
  from: Standing;
  to: Standing;
}

interface Standing {
  state: PromptState;
  cause: string | null;
}

/**
 * What is known of a run while a pass goes over it, so that nobody need count in the store: states, sums, who works on what. Its sums are
 * stored in the same transactions as what they count.
 */
export class RunTally {
  readonly rate: Rate;
  /** Done before this pass began, by index. */
  readonly doneBefore: ReadonlySet<number>;
  readonly #db: Database;
  readonly #store: RunStore;
  readonly #runId: string;
  readonly #states: PromptState[];
  readonly #removed: ReadonlySet<number>;
  /** 1: this pass may still begin it. */
  readonly #open: Uint8Array;
  readonly #active = new Map<number, ActiveRollout>();
  readonly #onChange: (index: number | null) => void;
  #totals: Totals;
  #stored: string;
  #left = 0;
  /** Nothing before it is open. */
  #cursor = 0;

  /** @param onChange is told of every rollout that changed, or with null of the run. */
  constructor(db: Database, store: RunStore, run: RunRecord, now: () => number, onChange: (index: number | null) => void) {
    this.#db = db;
    this.#store = store;
    this.#runId = run.id;
    this.#onChange = onChange;
    this.rate = new Rate(now);
    this.#states = store.prompts.states(run.id, run.total);
    this.#open = Uint8Array.from(this.#states, (s) => (DONE.includes(s) ? 0 : 1));
    this.#removed = new Set(store.prompts.removedOnes(run.id));
    for (const index of [...this.#removed, ...store.prompts.hopeless(run.id)]) this.#open[index] = 0;
    for (const open of this.#open) this.#left += open;
    this.doneBefore = new Set([...this.#states.keys()].filter((i) => DONE.includes(this.#states[i]!)));
    this.#totals = store.totals(run.id);
    this.#stored = JSON.stringify(this.#totals);
    store.setTotals(run.id, this.#stored);
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

  /** Rollouts that are to be run or run now. */
  get remaining(): number {
    return this.#left + (this.#totals.counts.running ?? 0);
  }

  /** Whether a resume would have something to do besides failures. */
  get unfinished(): boolean {
    return this.#states.some((s, index) => (s === 'pending' || s === 'running' || s === 'cancelled') && !this.#removed.has(index));
  }

  /** Takes the next rollout that is to be run, in order; null when there is none. */
  take(): number | null {
    while (this.#cursor < this.#open.length && this.#open[this.#cursor] === 0) this.#cursor += 1;
    if (this.#cursor >= this.#open.length) return null;
    this.#open[this.#cursor] = 0;
    this.#left -= 1;
    return this.#cursor;
  }

  /**
   * Changes rollouts and the sums in one transaction: both are stored, or neither. Rejects with what `work` or the store throws.
   * @param work changes the store, and the sums but for their counts; returns what became of which rollouts.
   */
  commit(work: (totals: Totals) => readonly Move[]): void {
    let moves: readonly Move[] = [];
    let json = '';
    try {
      this.#db.transaction(() => {
        this.#takeIn(this.#store.storedTotals(this.#runId));
        moves = work(this.#totals);
        for (const { from, to } of moves) moveRollout(this.#totals, from, to);
        json = JSON.stringify(this.#totals);
        this.#store.setTotals(this.#runId, json);
      });
    } catch (error) {
      this.#totals = parseTotals(this.#stored)!;
      throw error;
    }
    this.#stored = json;
    for (const { index, to } of moves) {
      this.#states[index] = to.state;
      this.#onChange(index);
    }
  }

  /** A person's rating, or a new rule, may have changed rewards meanwhile. */
  #takeIn(stored: string): void {
    if (stored === this.#stored) return;
    this.#stored = stored;
    this.#totals = parseTotals(stored)!;
  }

  /** Lets this pass run rollouts that `work` makes pending again. */
  again(work: () => readonly { index: number; cause: string | null }[], from: PromptState): void {
    let found: readonly { index: number; cause: string | null }[] = [];
    this.commit(() => {
      found = work();
      return found.map(({ index, cause }) => ({ index, from: { state: from, cause }, to: { state: 'pending', cause: null } }));
    });
    for (const { index } of found) {
      if (this.#open[index] === 1) continue;
      this.#open[index] = 1;
      this.#left += 1;
      this.#cursor = Math.min(this.#cursor, index);
    }
  }

  began(rollout: ActiveRollout): void {
    this.#active.set(rollout.index, rollout);
  }

  /** What a rollout is doing, for people who watch. */
  doing(index: number, { turn, activity }: { turn?: number; activity: string }): void {
    const a = this.#active.get(index);
    if (!a || (a.activity === activity && turn === undefined)) return;
    a.activity = activity;
    if (turn !== undefined) a.turn = turn;
    this.#onChange(null);
  }

  ended(index: number): void {
    this.#active.delete(index);
  }

  /** Reads the store again after rollouts were changed in another way than by `commit`. */
  refresh(): void {
    this.#totals = this.#store.totals(this.#runId);
    this.#stored = JSON.stringify(this.#totals);
    this.#store.prompts.states(this.#runId, this.#states.length).forEach((state, index) => {
      if (this.#states[index] === state) return;
      this.#states[index] = state;
      this.#onChange(index);
    });
  }
}
