import { ZERO_USAGE } from '#shared/trajectory.ts';
import { type Lease, LeaseLostError, QueueUnavailableError, type RolloutResult, type RolloutSink, type RolloutTask, type WorkQueue } from './types.ts';

const REASON_CHARS = 2_000;

export interface WorkersDeps {
  queue: WorkQueue;
  /** Makes one rollout. What it throws but LeaseLostError and QueueUnavailableError is a defect of that rollout alone. */
  work: (task: RolloutTask, sink: RolloutSink, signal: AbortSignal) => Promise<RolloutResult>;
  count: number;
  /** Stops rollouts that run. */
  signal: AbortSignal;
  /** Signs of life are given this often. */
  renewMs: number;
  now: () => number;
  /** The queue is not available: no worker goes on. */
  onUnavailable: (cause: unknown) => void;
  /** None of them works any more: there is nothing left, or they take no more. */
  onIdle: () => void;
}

/** So many workers at once, each of which takes the next rollout as soon as it has handed in one. Knows nothing but the queue. */
export class Workers {
  readonly #deps: WorkersDeps;
  readonly #leases = new Set<Lease>();
  #working = 0;
  #taking = false;
  #renewedAt: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: WorkersDeps) {
    this.#deps = deps;
    this.#renewedAt = deps.now();
  }

  get busy(): boolean {
    return this.#working > 0;
  }

  /** Lets all of them take work; also after `takeNoMore`, or when there is more work than before. */
  take(): void {
    this.#taking = true;
    this.#timer ??= setInterval(() => void this.#renew(), this.#deps.renewMs);
    while (this.#working < this.#deps.count) void this.#loop();
  }

  /** What runs goes on. */
  takeNoMore(): void {
    this.#taking = false;
  }

  async #loop(): Promise<void> {
    this.#working += 1;
    try {
      while (this.#taking) {
        // after a sleep of the machine all leases have lapsed: they must be renewed before they can be claimed
        if (this.#deps.now() - this.#renewedAt >= this.#deps.renewMs) await this.#renew();
        const claimed = await this.#deps.queue.claim();
        if (!claimed) break;
        await this.#one(claimed);
      }
    } catch (error) {
      this.#taking = false;
      this.#deps.onUnavailable(error instanceof QueueUnavailableError ? error.cause : error);
    } finally {
      this.#working -= 1;
      if (this.#working === 0) {
        if (this.#timer) clearInterval(this.#timer);
        this.#timer = null;
        this.#deps.onIdle();
      }
    }
  }

  async #one({ lease, sink }: { lease: Lease; sink: RolloutSink }): Promise<void> {
    const { queue, work, signal } = this.#deps;
    this.#leases.add(lease);
    try {
      await queue.settle(lease, await work(lease.task, sink, signal).catch(defectOf));
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
    } finally {
      this.#leases.delete(lease);
    }
  }

  async #renew(): Promise<void> {
    this.#renewedAt = this.#deps.now();
    for (const lease of [...this.#leases]) {
      try {
        await this.#deps.queue.renew(lease);
      } catch (error) {
        if (!(error instanceof LeaseLostError)) this.#deps.onUnavailable(error instanceof QueueUnavailableError ? error.cause : error);
      }
    }
  }
}

function defectOf(error: unknown): RolloutResult {
  if (error instanceof LeaseLostError || error instanceof QueueUnavailableError) throw error;
  const reason = (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, REASON_CHARS).toWellFormed();
  return { exitReason: null, error: null, defect: { cause: 'defect', reason, retryable: true }, modelError: null, overBudget: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE, scores: [] };
}
