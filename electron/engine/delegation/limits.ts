/** Timers of more than 2^31-1 ms fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long an agent may take to end after it was told to, before it is left behind. Shorter than what a parent's call is given. */
const END_GRACE_MS = 500;
/** A tool may be silent so many times longer than a model (Hermes: 1200 s to 450 s). */
const IN_TOOL = 8 / 3;

/** Why an agent was told to end. */
export type Ended = 'stopped' | 'timeout' | 'stalled';

/** Watches over one agent: somebody stops it, its time is up, or it shows no sign of life. */
export class Limits {
  readonly #inner = new AbortController();
  readonly #overdue = Promise.withResolvers<'overdue'>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stallMs: number;
  readonly #outer: AbortSignal;
  readonly #onAbort = (): void => this.#end('stopped');
  #quietUntil = Infinity;
  #watching: NodeJS.Timeout | null = null;
  #cause: Ended | null = null;

  /** @param limits.timeoutMs null: none. @param limits.stallMs 0: silence is never too long. */
  constructor(outer: AbortSignal, { timeoutMs, stallMs }: { timeoutMs: number | null; stallMs: number }) {
    this.#outer = outer;
    this.#stallMs = stallMs;
    if (outer.aborted) this.#end('stopped');
    else outer.addEventListener('abort', this.#onAbort, { once: true });
    if (timeoutMs !== null) this.#in(timeoutMs, () => this.#end('timeout'));
    this.alive({ inTool: false });
  }

  /** For the agent. */
  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  /** Null while nobody told it to end. */
  get cause(): Ended | null {
    return this.#cause;
  }

  /** Resolves when the agent had been told to end and did not. */
  get overdue(): Promise<'overdue'> {
    return this.#overdue.promise;
  }

  /** A sign of life. `waitMs`: a pause that it announced. */
  alive({ inTool, waitMs = 0 }: { inTool: boolean; waitMs?: number }): void {
    if (this.#stallMs === 0 || this.#cause !== null) return;
    this.#quietUntil = performance.now() + waitMs + this.#stallMs * (inTool ? IN_TOOL : 1);
    this.#watching ??= this.#in(this.#stallMs, () => this.#look());
  }

  dispose(): void {
    this.#outer.removeEventListener('abort', this.#onAbort);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #look(): void {
    const left = this.#quietUntil - performance.now();
    if (left <= 0) this.#end('stalled');
    else this.#watching = this.#in(Math.min(left, this.#stallMs), () => this.#look());
  }

  #end(cause: Ended): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#inner.abort();
    this.#in(END_GRACE_MS, () => this.#overdue.resolve('overdue'));
  }

  #in(ms: number, then: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, Math.min(Math.max(1, ms), MAX_TIMER_MS));
    this.#timers.add(timer);
    return timer;
  }
}
