import type { Message } from '#shared/trajectory.ts';
import type { RolloutActivity, RolloutHeader, RolloutSink } from '../queue/types.ts';

/** A sink that remembers its failure, so that it is told from a defect of the rollout: after the first one nothing is handed on. */
export class SinkGuard implements RolloutSink {
  readonly #sink: RolloutSink;
  #failure: { error: unknown } | null = null;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
  }

  get failed(): boolean {
    return this.#failure !== null;
  }

  /** What the sink threw. */
  get error(): unknown {
    return this.#failure?.error;
  }

  begin(header: RolloutHeader): Promise<{ trajectoryId: string }> {
    return this.#watch(() => this.#sink.begin(header));
  }

  message(message: Message): Promise<void> {
    return this.#watch(() => this.#sink.message(message));
  }

  spend(call: Parameters<RolloutSink['spend']>[0]): Promise<void> {
    return this.#watch(() => this.#sink.spend(call));
  }

  activity(activity: RolloutActivity): void {
    if (this.#failure === null) this.#sink.activity(activity);
  }

  overBudget(): string | null {
    return this.#sink.overBudget();
  }

  async #watch<T>(call: () => Promise<T>): Promise<T> {
    if (this.#failure !== null) throw this.#failure.error;
    try {
      return await call();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
