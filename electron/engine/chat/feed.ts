/** A stream of what changed, merged so that a watcher is told at most once per `everyMs`. */
interface Watcher {
  dirty: boolean;
  ended: boolean;
  ids: Set<string>;
  wake: () => void;
}

const STATE_MS = 100;
const LIST_MS = 250;

/** Who watches which session, and who watches the list. */
export class SessionFeed {
  readonly #sessions = new Map<string, Set<Watcher>>();
  readonly #lists = new Set<Watcher>();

  /** Something that is shown of the session changed; `list` also in its summary. */
  changed(id: string, { list = true }: { list?: boolean } = {}): void {
    for (const w of this.#sessions.get(id) ?? []) nudge(w);
    if (!list) return;
    for (const w of this.#lists) {
      w.ids.add(id);
      nudge(w);
    }
  }

  /** The session is gone: its watchers end. */
  ended(id: string): void {
    for (const w of this.#sessions.get(id) ?? []) {
      w.ended = true;
      w.wake();
    }
  }

  watched(id: string): boolean {
    return (this.#sessions.get(id)?.size ?? 0) > 0;
  }

  /** `state()` now and after changes, at most 10 times a second, until it is null, the session is gone or `signal` ends it. */
  async *watch<T>(id: string, state: () => T | null, signal?: AbortSignal): AsyncGenerator<T> {
    const me = watcher();
    const all = this.#sessions.get(id) ?? new Set();
    this.#sessions.set(id, all);
    all.add(me);
    try {
      me.dirty = true;
      for await (const _ of ticks(me, STATE_MS, signal)) {
        const now = state();
        if (now === null) return;
        yield now;
      }
    } finally {
      all.delete(me);
      if (all.size === 0) this.#sessions.delete(id);
    }
  }

  /** Ids of sessions that changed, at most 4 times a second. */
  async *changes(signal?: AbortSignal): AsyncGenerator<string[]> {
    const me = watcher();
    this.#lists.add(me);
    try {
      for await (const _ of ticks(me, LIST_MS, signal)) {
        const ids = [...me.ids];
        me.ids.clear();
        yield ids;
      }
    } finally {
      this.#lists.delete(me);
    }
  }
}

function watcher(): Watcher {
  return { dirty: false, ended: false, ids: new Set(), wake: () => {} };
}

function nudge(w: Watcher): void {
  w.dirty = true;
  w.wake();
}

async function* ticks(me: Watcher, everyMs: number, signal?: AbortSignal): AsyncGenerator<void> {
  const onAbort = (): void => {
    me.ended = true;
    me.wake();
  };
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    while (!me.ended) {
      if (!me.dirty) {
        await new Promise<void>((resolve) => {
          me.wake = resolve;
        });
        continue;
      }
      me.dirty = false;
      yield;
      await pause(everyMs, me);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Waits, but not once the watcher has ended. */
async function pause(ms: number, me: Watcher): Promise<void> {
  if (me.ended) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  me.wake = () => {
    if (me.ended) resolve();
  };
  await promise;
  clearTimeout(timer);
}
