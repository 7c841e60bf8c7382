/** By then the next rollout waits for its model: what is done now costs nobody's time. */
const LATER_MS = 10;

/**
 * Clears up behind rollouts that have ended, while those after them wait for their model. Never more than `most` are left to be cleared, so
 * that slow removals hold up the work and not the disk.
 */
export class Clearing {
  readonly #most: number;
  readonly #left = new Map<number, Promise<void>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Puts `clear` off for a moment. @param clear must not throw. */
  later(index: number, clear: () => Promise<void>): void {
    const done = new Promise((begin) => setTimeout(begin, LATER_MS)).then(clear).finally(() => {
      if (this.#left.get(index) === done) this.#left.delete(index);
    });
    this.#left.set(index, done);
  }

  /** Resolves when what an earlier attempt at this rollout left is cleared, and there is room for what this one will leave. */
  async room(index: number): Promise<void> {
    await this.#left.get(index);
    while (this.#left.size >= this.#most) await Promise.race(this.#left.values());
  }

  /** Resolves when nothing is left. */
  async done(): Promise<void> {
    await Promise.all(this.#left.values());
  }
}
