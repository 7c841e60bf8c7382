const POLL_MS = 500;
const EVERY_MS = 250;

interface Watcher {
  dirty: boolean;
  wake: () => void;
}

/** Tells whoever watches that the memory changed. Files are looked at while somebody does: that is two calls of the system, and works on every disk. */
export class MemoryFeed {
  readonly #stamp: () => string;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | null = null;
  #last = '';
  #generation = 0;

  /** @param stamp differs whenever what is watched does */
  constructor(stamp: () => string) {
    this.#stamp = stamp;
  }

  changed(): void {
    this.#last = this.#watchers.size > 0 ? this.#stamp() : this.#last;
    this.#generation++;
    for (const watcher of this.#watchers) {
      watcher.dirty = true;
      watcher.wake();
    }
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<{ generation: number }> {
    const me: Watcher = { dirty: true, wake: () => undefined };
    const ended = (): boolean => signal?.aborted ?? false;
    const onAbort = (): void => me.wake();
    signal?.addEventListener('abort', onAbort);
    this.#join(me);
    try {
      while (!ended()) {
        if (me.dirty) {
          me.dirty = false;
          yield { generation: this.#generation };
          await pause(EVERY_MS, me, ended);
        } else {
          await new Promise<void>((resolve) => {
            me.wake = resolve;
            if (ended()) resolve();
          });
        }
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#leave(me);
    }
  }

  #join(me: Watcher): void {
    this.#watchers.add(me);
    if (this.#timer) return;
    this.#last = this.#stamp();
    this.#timer = setInterval(() => {
      if (this.#stamp() !== this.#last) this.changed();
    }, POLL_MS);
    this.#timer.unref();
  }

  #leave(me: Watcher): void {
    this.#watchers.delete(me);
    if (this.#watchers.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Waits, but not when the watcher has left. */
async function pause(ms: number, me: Watcher, ended: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  me.wake = () => {
    if (ended()) resolve();
  };
  if (ended()) resolve();
  await promise;
  clearTimeout(timer);
}
