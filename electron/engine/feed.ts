/** What becomes of news, the weightier the larger: told when the interval is over, told at once, nothing more will come. */
const WEIGHT = { soon: 1, now: 2, over: 3 };

/** Called by what is watched: something changed (`now`: it cannot wait for the interval), or it is `over`. */
type Tell = (news?: keyof typeof WEIGHT) => void;

/**
 * `read()` at once, then after changes, those at most once per `everyMs`, until it is over or `signal` ends it. However slow the reader is and
 * however much changes, it costs one reading.
 * @param join begins to listen, before the first reading so that nothing falls between; returns how to stop, which is called in the end
 */
export async function* throttled<T>(everyMs: number, join: (tell: Tell) => () => void, read: () => T | Promise<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  let due = 0;
  let wake = (): void => undefined;
  const tell: Tell = (news = 'soon') => {
    due = Math.max(due, WEIGHT[news]);
    wake();
  };
  /** Waits for such news or weightier ones, at most so long. */
  const until = async (news: keyof typeof WEIGHT, ms?: number): Promise<void> => {
    if (due >= WEIGHT[news]) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = () => void (due >= WEIGHT[news] && resolve());
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  };
  const onAbort = (): void => tell('over');
  const leave = join(tell);
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    if (due < WEIGHT.over) yield read();
    for (;;) {
      await until('soon');
      if (due === WEIGHT.over) return;
      due = 0;
      yield read();
      await until('now', everyMs);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    leave();
  }
}

interface Watcher<C> {
  concerns: (change: C) => boolean;
  hear: (change: C) => void;
  end: () => void;
}

interface WatchOptions<C> {
  /** Which changes are this watcher's; all of them when absent. */
  concerns?: (change: C) => boolean;
  /** Which of those are told at once. */
  urgent?: (change: C) => boolean;
  signal?: AbortSignal | undefined;
}

/** Tells whoever watches what changed: merged, and to each at most once per interval. */
export class Feed<C> {
  readonly #everyMs: number;
  readonly #keyOf: (change: C) => unknown;
  readonly #watchers = new Set<Watcher<C>>();

  /** @param keyOf of changes with the same key that were not told yet, only the last is kept */
  constructor(everyMs: number, keyOf: (change: C) => unknown = (change) => change) {
    this.#everyMs = everyMs;
    this.#keyOf = keyOf;
  }

  changed(change: C): void {
    for (const watcher of this.#watchers) if (watcher.concerns(change)) watcher.hear(change);
  }

  /** What such a change would concern is gone: its watchers end. */
  ended(change: C): void {
    for (const watcher of this.#watchers) if (watcher.concerns(change)) watcher.end();
  }

  /** Whether anybody would be told of such a change. */
  watched(change: C): boolean {
    return [...this.#watchers].some((watcher) => watcher.concerns(change));
  }

  /** `read` at once with no changes, then with those that came since it was read last. */
  watch<T>(read: (changes: C[]) => T | Promise<T>, { concerns = () => true, urgent = () => false, signal }: WatchOptions<C> = {}): AsyncGenerator<T, void, undefined> {
    const untold = new Map<unknown, C>();
    const join = (tell: Tell): (() => void) => {
      const hear = (change: C): void => {
        untold.set(this.#keyOf(change), change);
        tell(urgent(change) ? 'now' : 'soon');
      };
      const me = { concerns, hear, end: () => tell('over') };
      this.#watchers.add(me);
      return () => this.#watchers.delete(me);
    };
    const take = (): T | Promise<T> => {
      const changes = [...untold.values()];
      untold.clear();
      return read(changes);
    };
    return throttled(this.#everyMs, join, take, signal);
  }
}
