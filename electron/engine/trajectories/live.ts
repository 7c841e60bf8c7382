import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail } from '#shared/trajectory.ts';

const DELTA_FLUSH_MS = 33;
const DELTA_FLUSH_CHARS = 2_048;
/** A subscriber this far behind is told to refetch. */
const MAX_QUEUE = 2_000;

type Channel = 'content' | 'reasoning' | 'tool';

interface Live {
  subscribers: Set<Subscriber>;
  /** Everything streamed since the last stored message, for those who join in the middle. */
  partial: { seq: number; channel: Channel; text: string }[];
  pending: { seq: number; channel: Channel; text: string } | null;
  timer: NodeJS.Timeout | null;
}

class Subscriber {
  queue: LiveEvent[] = [];
  wake: (() => void) | null = null;
  ended = false;

  push(event: LiveEvent): void {
    if (this.queue.length >= MAX_QUEUE) this.queue = [{ type: 'reset' }];
    else this.queue.push(event);
    this.wake?.();
  }
}

/**
 * Carries what happens in running trajectories to whoever watches. Deltas are merged (33 ms or 2 KiB) and never stored; a stored
 * message flushes the deltas before it.
 */
export class LiveHub {
  readonly #live = new Map<string, Live>();
  readonly #listWatchers = new Set<() => void>();

  begin(id: string): void {
    this.#live.set(id, { subscribers: new Set(), partial: [], pending: null, timer: null });
  }

  message(id: string, message: StoredMessage): void {
    const live = this.#live.get(id);
    if (!live) return;
    this.#flush(live);
    live.partial = [];
    for (const s of live.subscribers) s.push({ type: 'message', message });
  }

  delta(id: string, seq: number, channel: Channel, text: string): void {
    const live = this.#live.get(id);
    if (!live || text === '') return;
    const last = live.partial.at(-1);
    if (last && last.channel === channel && last.seq === seq) last.text += text;
    else live.partial.push({ seq, channel, text });
    if (live.subscribers.size === 0) return;
    if (live.pending && (live.pending.channel !== channel || live.pending.seq !== seq)) this.#flush(live);
    if (live.pending) live.pending.text += text;
    else live.pending = { seq, channel, text };
    if (live.pending.text.length >= DELTA_FLUSH_CHARS) this.#flush(live);
    else live.timer ??= setTimeout(() => this.#flush(live), DELTA_FLUSH_MS);
  }

  /** Streamed text since the last message is void. */
  discard(id: string): void {
    const live = this.#live.get(id);
    if (!live) return;
    live.pending = null;
    live.partial = [];
    for (const s of live.subscribers) s.push({ type: 'reset' });
  }

  end(id: string, detail: TrajectoryDetail): void {
    const live = this.#live.get(id);
    if (!live) return;
    this.#flush(live);
    this.#live.delete(id);
    for (const s of live.subscribers) {
      s.push({ type: 'header', detail });
      s.ended = true;
      s.wake?.();
    }
  }

  /** Calls `watcher` whenever trajectories were added, ended or removed. Returns how to stop. */
  onListChange(watcher: () => void): () => void {
    this.#listWatchers.add(watcher);
    return () => this.#listWatchers.delete(watcher);
  }

  listChanged(): void {
    for (const w of this.#listWatchers) w();
  }

  get running(): number {
    return this.#live.size;
  }

  /**
   * Stored messages after `since` (given by `stored`, read after joining so that nothing falls between), then what happens, until
   * the trajectory or `signal` ends.
   */
  async *subscribe(
    id: string,
    since: number,
    stored: () => Iterable<StoredMessage>,
    detail: () => TrajectoryDetail,
    signal?: AbortSignal,
  ): AsyncGenerator<LiveEvent> {
    const live = this.#live.get(id);
    const me = new Subscriber();
    if (live) {
      // what is pending goes to the others now: for this one it is part of `partial`
      this.#flush(live);
      live.subscribers.add(me);
    }
    const onAbort = () => {
      me.ended = true;
      me.wake?.();
    };
    signal?.addEventListener('abort', onAbort);
    try {
      const partial = (live?.partial ?? []).map((p) => ({ ...p }));
      let last = since;
      for (const message of stored()) {
        last = message.seq;
        yield { type: 'message', message };
      }
      if (!live) {
        yield { type: 'header', detail: detail() };
        return;
      }
      for (const p of partial) if (p.seq > last) yield { type: 'delta', ...p };
      for (;;) {
        const events = me.queue;
        me.queue = [];
        for (const e of events) {
          if (e.type === 'message') {
            if (e.message.seq <= last) continue;
            last = e.message.seq;
          } else if (e.type === 'delta' && e.seq <= last) continue;
          yield e;
        }
        if (me.queue.length > 0) continue;
        if (me.ended) return;
        await new Promise<void>((resolve) => {
          me.wake = resolve;
        });
        me.wake = null;
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      live?.subscribers.delete(me);
    }
  }

  #flush(live: Live): void {
    if (live.timer) clearTimeout(live.timer);
    live.timer = null;
    const pending = live.pending;
    live.pending = null;
    if (!pending) return;
    for (const s of live.subscribers) s.push({ type: 'delta', ...pending });
  }
}
