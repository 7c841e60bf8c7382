import { sqlFor } from '../store/database.ts';
import type { ReviewDeps } from './deps.ts';
import { overSpend, pausedBecause } from './caps.ts';
import type { NudgeCounters } from './counters.ts';
import { CAPPED, CLOSED, gaveUp, STOPPED, WENT_ON, wasCapped } from './ends.ts';
import { ReviewError } from './errors.ts';
import { isAutomatic, joined, type ReviewKind, type ReviewTrigger, type Source } from './kinds.ts';
import { runReview } from './runner.ts';
import { sourceNow } from './snapshot.ts';
import type { ReviewRecord, ReviewStore } from './store.ts';

const START_DELAY_MS = 1_500;
/** More are refused, or left for the next occasion. */
const MAX_QUEUED = 20;

export interface Wanted {
  sessionId: string | null;
  sources: Source[];
  kind: ReviewKind;
  trigger: ReviewTrigger;
  focus: string;
}

/** Which review runs: one at a time, those of a chat made one, none while its chat is at work, none that nobody asked for beyond the caps. */
export class ReviewSchedule {
  readonly #deps: ReviewDeps;
  readonly #store: ReviewStore;
  readonly #counters: NudgeCounters;
  readonly #changed: (id: string) => void;
  readonly #busy = new Set<string>();
  /** From when on it may begin, by review; those without an entry at once. */
  readonly #from = new Map<string, number>();
  #running: { record: ReviewRecord; abort: AbortController; done: Promise<void> } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #open = false;

  constructor(deps: ReviewDeps, store: ReviewStore, counters: NudgeCounters, changed: (id: string) => void) {
    this.#deps = deps;
    this.#store = store;
    this.#counters = counters;
    this.#changed = changed;
  }

  /** From now on reviews begin. */
  begin(): void {
    this.#open = true;
    const now = this.#deps.now();
    for (const { id } of this.#store.inState('queued')) this.#from.set(id, now + this.#delay);
    this.#pump();
  }

  /** Puts a review in line, or adds to the one of its chat that waits there. Answers with null for an unasked one when there are too many. */
  add(wanted: Wanted): ReviewRecord | null {
    const record = this.#joinedWith(wanted) ?? this.#created(wanted);
    if (!record) return null;
    if (isAutomatic(record.trigger)) this.#from.set(record.id, this.#deps.now() + this.#delay);
    else this.#from.delete(record.id);
    this.#changed(record.id);
    this.#pump();
    return this.#store.get(record.id)!;
  }

  /** The person goes on in a chat: what reads it unasked is given up. */
  turnBegins(sessionId: string): void {
    this.#busy.add(sessionId);
    const running = this.#running;
    if (running?.record.sessionId === sessionId && isAutomatic(running.record.trigger)) running.abort.abort(WENT_ON);
  }

  turnEnded(sessionId: string): void {
    this.#busy.delete(sessionId);
    this.#pump();
  }

  isBusy(sessionId: string): boolean {
    return this.#busy.has(sessionId);
  }

  /** A chat is gone. */
  drop(sessionId: string): void {
    for (const record of this.#store.inState('queued')) if (record.sessionId === sessionId) this.#endQueued(record, STOPPED);
    if (this.#running?.record.sessionId === sessionId) this.#running.abort.abort(STOPPED);
  }

  /** Resolves when it has ended. One that has ended stays as it is. */
  async cancel(record: ReviewRecord): Promise<void> {
    if (record.state === 'queued') this.#endQueued(record, STOPPED);
    const running = this.#running;
    if (running?.record.id !== record.id) return;
    running.abort.abort(STOPPED);
    await running.done;
  }

  /** What runs is given up; what waits goes on at the next start. */
  async close(): Promise<void> {
    this.#open = false;
    if (this.#timer) clearTimeout(this.#timer);
    this.#running?.abort.abort(CLOSED);
    await this.#running?.done;
  }

  get #delay(): number {
    return this.#deps.startDelayMs ?? START_DELAY_MS;
  }

  #joinedWith(wanted: Wanted): ReviewRecord | undefined {
    const { sessionId, trigger, kind, sources, focus } = wanted;
    if (sessionId === null || trigger === 'learn') return undefined;
    const [newest, ...older] = this.#store.ofSession(sessionId);
    const queued = [newest, ...older].find((r) => r?.state === 'queued' && r.trigger !== 'learn');
    // one that a cap held back is taken up again, so that there is one row however often it is held back
    const held = newest && wasCapped(newest) && isAutomatic(trigger) ? newest : undefined;
    const record = queued ?? held;
    if (!record || (focus !== record.focus && !isAutomatic(trigger) && !isAutomatic(record.trigger))) return undefined;
    const asked = isAutomatic(trigger) ? record.trigger : trigger;
    this.#store.update(record.id, { kind: joined(record.kind, kind) as ReviewKind, sources, trigger: asked, state: 'queued', error: null, endedAt: null, ...(isAutomatic(trigger) ? {} : { focus }) });
    return this.#store.get(record.id);
  }

  #created(wanted: Wanted): ReviewRecord | null {
    if (this.#store.inState('queued').length >= MAX_QUEUED) {
      if (isAutomatic(wanted.trigger)) return null;
      throw new ReviewError('conflict', `${MAX_QUEUED} reviews are in line already. Wait for some of them, or cancel some.`);
    }
    return this.#store.create(wanted);
  }

  /** Begins the next one that may, or sees to it that this is asked again. */
  #pump(): void {
    if (!this.#open || this.#running) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const now = this.#deps.now();
    let wait = Infinity;
    for (const record of this.#store.inState('queued')) {
      const from = this.#from.get(record.id) ?? 0;
      if (isAutomatic(record.trigger) && record.sessionId !== null && this.#busy.has(record.sessionId)) continue;
      if (from > now) wait = Math.min(wait, from - now);
      else if (this.#start(record)) return;
    }
    if (wait < Infinity) this.#timer = setTimeout(() => this.#pump(), wait).unref();
  }

  #start(record: ReviewRecord): boolean {
    const { now, log } = this.#deps;
    this.#from.delete(record.id);
    const paused = isAutomatic(record.trigger) ? pausedBecause(this.#store, this.#deps) : null;
    if (paused !== null) {
      this.#endQueued(record, `${CAPPED}${paused}`);
      return false;
    }
    this.#store.update(record.id, { state: 'running', startedAt: now(), ...this.#grown(record) });
    const abort = new AbortController();
    const started = this.#store.get(record.id)!;
    const changed = (): void => this.#changed(record.id);
    changed();
    const done = runReview({ record: started, store: this.#store, overBudget: () => overSpend(this.#store, this.#deps), changed }, this.#deps, abort.signal)
      .catch((error: unknown) => log.error(`The end of the review ${record.id} could not be stored`, error))
      .then(() => this.#ended(record.id));
    this.#running = { record: started, abort, done };
    return true;
  }

  /** What was said in the chat while the review waited is read too. */
  #grown({ sessionId, trigger }: ReviewRecord): { sources?: Source[] } {
    if (sessionId === null || trigger === 'learn' || this.#busy.has(sessionId)) return {};
    const tip = this.#deps.db.get(sqlFor.selectFrom('sessions').select('tip').where('id', '=', sessionId))?.tip ?? null;
    const source = tip === null ? null : sourceNow(this.#deps.db, tip);
    return source ? { sources: [source] } : {};
  }

  #ended(id: string): void {
    this.#running = null;
    try {
      this.#oweWhatWasGivenUp(id);
    } catch (error) {
      this.#deps.log.error(`The review ${id} could not be noted as due`, error);
    }
    this.#changed(id);
    this.#pump();
  }

  /** One that was given up is made up for after the next turn; if that one is given up too, the end of the session does. */
  #oweWhatWasGivenUp(id: string): void {
    const record = this.#store.get(id);
    if (!record || record.sessionId === null || !gaveUp(record) || !isAutomatic(record.trigger)) return;
    const before = this.#store.ofSession(record.sessionId).filter((r) => isAutomatic(r.trigger) && r.id !== id)[0];
    if (!before || !gaveUp(before)) this.#counters.owe(record.sessionId, record.kind);
  }

  #endQueued(record: ReviewRecord, error: string): void {
    this.#from.delete(record.id);
    this.#store.update(record.id, { state: 'cancelled', error, endedAt: this.#deps.now() });
    this.#changed(record.id);
  }
}
