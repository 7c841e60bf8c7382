import { Feed } from '../feed.ts';

const POLL_MS = 500;
const EVERY_MS = 250;

/** Tells whoever watches that the memory changed. Files are looked at while somebody does: that is two calls of the system, and works on every disk. */
export class MemoryFeed {
  readonly #stamp: () => string;
  readonly #feed = new Feed<void>(EVERY_MS);
  #timer: NodeJS.Timeout | null = null;
  #last = '';
  #generation = 0;

  /** @param stamp differs whenever what is watched does */
  constructor(stamp: () => string) {
    this.#stamp = stamp;
  }

  changed(): void {
    if (this.#timer) this.#last = this.#stamp();
    this.#generation++;
    this.#feed.changed();
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<{ generation: number }> {
    this.#look();
    try {
      yield* this.#feed.watch(() => ({ generation: this.#generation }), { signal });
    } finally {
      this.#lookNoMore();
    }
  }

  #look(): void {
    if (this.#timer) return;
    this.#last = this.#stamp();
    this.#timer = setInterval(() => {
      if (this.#stamp() !== this.#last) this.changed();
    }, POLL_MS);
    this.#timer.unref();
  }

  #lookNoMore(): void {
    if (this.#feed.watched() || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
