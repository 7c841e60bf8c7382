interface Waiting {
  begin: () => void;
}

/** A place among the children at work. */
export interface Slot {
  /** Gives the place up; once. */
  release(): void;
}

/** Who works at the same time, for each session: first come, first served. The limit is asked for each time, so that a changed setting holds at once. */
export class Slots {
  readonly #limit: () => number;
  readonly #sessions = new Map<string, { working: number; queue: Waiting[] }>();

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Waits for a place. Rejects with the signal's reason when it is aborted before there is one. */
  async take(key: string, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const room = this.#sessions.get(key) ?? { working: 0, queue: [] };
    this.#sessions.set(key, room);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { begin: resolve };
    const onAbort = (): void => {
      room.queue = room.queue.filter((one) => one !== waiting);
      reject(signal.reason as Error);
      this.#next(key);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    room.queue.push(waiting);
    this.#next(key);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        room.working--;
        this.#next(key);
      },
    };
  }

  #next(key: string): void {
    const room = this.#sessions.get(key);
    if (!room) return;
    while (room.queue.length > 0 && room.working < this.#limit()) {
      room.working++;
      room.queue.shift()!.begin();
    }
    if (room.working === 0 && room.queue.length === 0) this.#sessions.delete(key);
  }
}
