import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail } from '#shared/trajectory.ts';

const DELTA_FLUSH_MS = 33;
const DELTA_FLUSH_CHARS = 2_048;
/** A subscriber this far behind is told to refetch. */
const MAX_QUEUE = 2_000;
/** The end of a running call's output that is kept for those who join in the middle. */
const OUTPUT_TAIL_CHARS = 16 * 1024;

type Channel = 'content' | 'reasoning' | 'tool';

interface Streamed {
  seq: number;
  channel: Channel;
  text: string;
}

interface RunningCall {
  start: Extract<LiveEvent, { type: 'tool_start' }>;
  output: string;
}

interface Live {
  /** False between the turns of a chat: then only subscribers keep the channel. */
  running: boolean;
  subscribers: Set<Subscriber>;
  /** Everything streamed since the last stored message, for those who join in the middle. */
  partial: Streamed[];
  /** Calls without a stored result, by call id. */
  calls: Map<string, RunningCall>;
  /** What waits to be merged and sent: deltas, and output by call id. */
  pending: Streamed | null;
  pendingOutput: Map<string, string>;
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

  end(): void {
    this.ended = true;
    this.wake?.();
  }
}

/**
 * Carries what happens in running trajectories to whoever watches. Deltas and output of tools are merged (33 ms or 2 KiB) and never
 * stored; a stored message flushes the deltas before it. The channel of a chat stays open between its turns.
 */
export class LiveHub {
  readonly #live = new Map<string, Live>();
  readonly #listWatchers = new Set<() => void>();

  /** A turn begins; `detail` is told to those who wait for it since the last one. */
  begin(id: string, detail?: TrajectoryDetail): void {
    const live = this.#channel(id);
    live.running = true;
    if (detail) for (const s of live.subscribers) s.push({ type: 'header', detail });
  }

  message(id: string, message: StoredMessage): void {
    const live = this.#live.get(id);
    if (!live) return;
    this.#flush(live);
    live.partial = [];
    if (message.toolCallId !== undefined) live.calls.delete(message.toolCallId);
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
    this.#flushSoon(live, live.pending.text.length);
  }

  /** A call of the last assistant message begins. */
  toolStart(id: string, call: { callId: string; name: string; summary: string; startedAt: number }): void {
    const live = this.#live.get(id);
    if (!live) return;
    this.#flush(live);
    const start = { type: 'tool_start', ...call } as const;
    live.calls.set(call.callId, { start, output: '' });
    for (const s of live.subscribers) s.push(start);
  }

  /** Output of a running call, for display. */
  toolOutput(id: string, callId: string, text: string): void {
    const live = this.#live.get(id);
    const call = live?.calls.get(callId);
    if (!live || !call || text === '') return;
    call.output += text;
    // cut rarely: cutting at each piece would copy the tail for every line
    if (call.output.length > 2 * OUTPUT_TAIL_CHARS) call.output = tail(call.output);
    if (live.subscribers.size === 0) return;
    // a command that prints faster than a page can read is shown by its end
    const waiting = tail((live.pendingOutput.get(callId) ?? '') + tail(text));
    live.pendingOutput.set(callId, waiting);
    this.#flushSoon(live, 0);
  }

  /** Streamed text since the last message is void. */
  discard(id: string): void {
    const live = this.#live.get(id);
    if (!live || (live.partial.length === 0 && !live.pending)) return;
    live.pending = null;
    live.partial = [];
    for (const s of live.subscribers) s.push({ type: 'reset' });
  }

  /** A turn has ended; `stored` is asked when somebody watches. Subscribers of a batch trajectory end with it; those of a chat wait for its next turn. */
  end(id: string, stored: () => TrajectoryDetail): void {
    const live = this.#live.get(id);
    if (!live) return;
    this.#flush(live);
    live.running = false;
    live.partial = [];
    live.calls.clear();
    if (live.subscribers.size > 0) {
      const detail = stored();
      const over = !staysOpen(detail);
      for (const s of live.subscribers) {
        s.push({ type: 'header', detail });
        if (over) s.end();
      }
    }
    this.#forgetIdle(id, live);
  }

  /** The trajectory is gone: its subscribers end. */
  drop(id: string): void {
    const live = this.#live.get(id);
    if (!live) return;
    if (live.timer) clearTimeout(live.timer);
    this.#live.delete(id);
    for (const s of live.subscribers) s.end();
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
    let count = 0;
    for (const live of this.#live.values()) if (live.running) count++;
    return count;
  }

  /**
   * Stored messages after `since` (given by `stored`, read after joining so that nothing falls between), then what happens, until
   * the trajectory or `signal` ends. That of a chat begins with its header after the stored messages and ends only when it is deleted.
   */
  async *subscribe(
    id: string,
    since: number,
    stored: () => Iterable<StoredMessage>,
    detail: () => TrajectoryDetail,
    signal?: AbortSignal,
  ): AsyncGenerator<LiveEvent> {
    const chat = staysOpen(detail());
    const live = chat ? this.#channel(id) : this.#live.get(id);
    const me = new Subscriber();
    if (live) {
      // what is pending goes to the others now: for this one it is part of `partial`
      this.#flush(live);
      live.subscribers.add(me);
    }
    const onAbort = () => me.end();
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    try {
      const partial = (live?.partial ?? []).map((p) => ({ ...p }));
      const calls = [...(live?.calls.values() ?? [])].map((c) => ({ ...c }));
      let last = since;
      for (const message of stored()) {
        last = message.seq;
        yield { type: 'message', message };
      }
      if (!live || chat) yield { type: 'header', detail: detail() };
      if (!live) return;
      for (const p of partial) if (p.seq > last) yield { type: 'delta', ...p };
      for (const { start, output } of calls) {
        yield start;
        if (output !== '') yield { type: 'tool_output', callId: start.callId, text: tail(output) };
      }
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
      if (live) this.#forgetIdle(id, live);
    }
  }

  #channel(id: string): Live {
    let live = this.#live.get(id);
    if (!live) {
      live = { running: false, subscribers: new Set(), partial: [], calls: new Map(), pending: null, pendingOutput: new Map(), timer: null };
      this.#live.set(id, live);
    }
    return live;
  }

  #forgetIdle(id: string, live: Live): void {
    if (!live.running && live.subscribers.size === 0 && this.#live.get(id) === live) this.#live.delete(id);
  }

  #flushSoon(live: Live, chars: number): void {
    if (chars >= DELTA_FLUSH_CHARS) this.#flush(live);
    else live.timer ??= setTimeout(() => this.#flush(live), DELTA_FLUSH_MS);
  }

  #flush(live: Live): void {
    if (live.timer) clearTimeout(live.timer);
    live.timer = null;
    const { pending, pendingOutput } = live;
    live.pending = null;
    live.pendingOutput = new Map();
    for (const s of live.subscribers) {
      if (pending) s.push({ type: 'delta', ...pending });
      for (const [callId, text] of pendingOutput) s.push({ type: 'tool_output', callId, text });
    }
  }
}

/** Of a session: it may go on after it has ended. */
export function staysOpen({ kind }: Pick<TrajectoryDetail, 'kind'>): boolean {
  return kind === 'chat' || kind === 'background';
}

function tail(text: string): string {
  return text.length > OUTPUT_TAIL_CHARS ? text.slice(-OUTPUT_TAIL_CHARS).replace(/^[\udc00-\udfff]/, '') : text;
}
