/** At most so often is a watcher told. */
const EVERY_MS = 250;

interface Watcher {
  concerns: (of: Changed) => boolean;
  dirty: boolean;
  ended: boolean;
  wake: () => void;
}

/** What changed belongs to this session and was asked for by this trajectory. */
export interface Changed {
  sessionId: string | null;
  trajectoryId: string;
}

/** Who watches which delegations. */
export class DelegationFeed {
  readonly #watchers = new Set<Watcher>();

  changed(of: Changed): void {
    for (const w of this.#watchers) {
      if (!w.concerns(of)) continue;
      w.dirty = true;
      w.wake();
    }
  }

  /** `state()` now and after changes, at most 4 times a second, until `signal` ends it. */
  async *watch<T>(concerns: Watcher['concerns'], state: () => T, signal?: AbortSignal): AsyncGenerator<T> {
    const me: Watcher = { concerns, dirty: true, ended: false, wake: () => undefined };
    const onAbort = (): void => {
      me.ended = true;
      me.wake();
    };
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    this.#watchers.add(me);
    try {
      while (!me.ended) {
        if (me.dirty) {
          me.dirty = false;
          yield state();
          await wait(me, EVERY_MS, () => me.ended);
        } else await wait(me, null, () => me.ended || me.dirty);
      }
    } finally {
      this.#watchers.delete(me);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** Until it is woken and `over` holds, or so long. */
async function wait(me: Watcher, ms: number | null, over: () => boolean): Promise<void> {
  if (over()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = ms === null ? null : setTimeout(resolve, ms);
  me.wake = () => void (over() && resolve());
  await promise;
  if (timer) clearTimeout(timer);
  me.wake = () => undefined;
}
