import type { Slot, Slots } from './slots.ts';

/** The place of one child among those at work. It is given up while the child waits for children of its own: else they could wait for it. */
export class Place {
  readonly #slots: Slots;
  readonly #key: string;
  readonly #signal: AbortSignal;
  #slot: Slot | null = null;
  #away = 0;
  #ended = false;

  constructor(slots: Slots, key: string, signal: AbortSignal) {
    this.#slots = slots;
    this.#key = key;
    this.#signal = signal;
  }

  /** Waits for the place. Rejects when the signal is aborted before. */
  async take(): Promise<void> {
    const slot = await this.#slots.take(this.#key, this.#signal);
    if (this.#ended || this.#slot !== null || this.#away > 0) slot.release();
    else this.#slot = slot;
  }

  /** Does `work` without the place, and waits for one again behind it. */
  async away<T>(work: () => Promise<T>): Promise<T> {
    if (this.#away++ === 0) {
      this.#slot?.release();
      this.#slot = null;
    }
    try {
      return await work();
    } finally {
      // one that is stopped meanwhile needs no place to end
      if (--this.#away === 0) await this.take().catch(() => undefined);
    }
  }

  release(): void {
    this.#ended = true;
    this.#slot?.release();
    this.#slot = null;
  }
}
