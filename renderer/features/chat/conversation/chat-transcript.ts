import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import type { Engine } from '../../../lib/client.ts';
import { follow } from '../../../lib/stream.ts';
import type { FrameClock } from '../../library/view/deltas.ts';
import { appendMessages, type Turn } from '../../library/view/turns.ts';
import { LiveBuffer, NOTHING_LIVE, type LiveState } from './live.ts';

/** What fills a screen or two; more would make opening slower. */
const TAIL_MESSAGES = 60;
const PAGE_MESSAGES = 300;
/** So many are fetched by themselves while nothing else is to be done; the ones before them as one scrolls. */
const BACKGROUND_MESSAGES = 20_000;

export interface ChatState {
  turns: readonly Turn[];
  /** Messages that are here, without gaps up to the newest. */
  loaded: number;
  /** Seq of the newest; -1 before there is one. */
  last: number;
  /** The first page is here. */
  ready: boolean;
  /** Nothing older is left to fetch. */
  complete: boolean;
  error: unknown;
  /** Fetching what is older failed. */
  olderError: unknown;
  /** Whole contents by seq, of messages that came cut. */
  wholes: ReadonlyMap<number, string>;
  /** How long was thought, ms by seq, as it was seen. */
  thoughts: ReadonlyMap<number, number>;
}

const EMPTY: ChatState = { turns: [], loaded: 0, last: -1, ready: false, complete: false, error: null, olderError: null, wholes: new Map(), thoughts: new Map() };

export interface Clocks {
  frames: FrameClock;
  now: () => number;
  /** Calls back when the page has nothing better to do; answers how to call it off. */
  idle: (run: () => void) => () => void;
}

/**
 * The messages of one branch: the newest first, older ones behind them, then what is streamed, over all turns to come. A gap or a
 * reset makes it read on from the last message it holds.
 */
export class ChatTranscript {
  readonly id: string;
  readonly state: StoreApi<ChatState> = createStore<ChatState>(() => EMPTY);
  /** Streamed text lives apart, so that it renders nothing but the rows it is in. */
  readonly live: StoreApi<LiveState> = createStore<LiveState>(() => NOTHING_LIVE);
  readonly #engine: Engine;
  readonly #clocks: Clocks;
  readonly #buffer: LiveBuffer;
  readonly #stop = new AbortController();
  #first = Infinity;
  #last = -1;
  #older: Promise<void> | null = null;
  #watching = false;
  #cancelIdle: (() => void) | null = null;

  constructor(engine: Engine, id: string, clocks: Clocks) {
    this.#engine = engine;
    this.id = id;
    this.#clocks = clocks;
    this.#buffer = new LiveBuffer(clocks.frames, clocks.now, (state) => this.live.setState(state));
  }

  /** Reads the newest page, then follows what happens. Failures end up in `state.error`. */
  async open(): Promise<void> {
    this.state.setState({ error: null });
    try {
      await this.#page(TAIL_MESSAGES);
      if (this.#stop.signal.aborted) return;
      this.state.setState({ ready: true });
      this.#inBackground();
      await this.watch();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.state.setState({ error });
    }
  }

  close(): void {
    this.#stop.abort();
    this.#buffer.clear();
    this.#cancelIdle?.();
  }

  /** Fetches what is older, one page. Failures end up in `state.olderError`. */
  older(): Promise<void> {
    if (!this.state.getState().ready || this.state.getState().complete) return Promise.resolve();
    const loading = (this.#older ??= this.#page(PAGE_MESSAGES)
      .then(
        () => this.state.setState({ olderError: null }),
        (olderError: unknown) => {
          if (!this.#stop.signal.aborted) this.state.setState({ olderError });
        },
      )
      .finally(() => {
        this.#older = null;
      }));
    return loading;
  }

  /** Fetches everything that is older. Rejects when that fails. */
  async all(): Promise<void> {
    while (!this.state.getState().complete && !this.#stop.signal.aborted) {
      await this.older();
      const { olderError } = this.state.getState();
      if (olderError !== null) throw olderError instanceof Error ? olderError : new Error(String(olderError));
    }
  }

  /** The whole content of a message, which then stays. */
  async whole(seq: number): Promise<string> {
    const known = this.state.getState().wholes.get(seq);
    if (known !== undefined) return known;
    const { content } = await this.#engine.client.trajectories.content({ id: this.id, seq }, { signal: this.#stop.signal });
    this.state.setState((s) => ({ wholes: new Map(s.wholes).set(seq, content) }));
    return content;
  }

  /** Follows what happens; once only, and again when that had ended (a turn began after the engine had closed the stream). */
  async watch(): Promise<void> {
    if (this.#watching || !this.state.getState().ready) return;
    this.#watching = true;
    try {
      let again = true;
      while (again && !this.#stop.signal.aborted) {
        again = false;
        const inner = new AbortController();
        await follow<LiveEvent>({
          connection: this.#engine.connection,
          open: (signal) => {
            this.#clearLive();
            return this.#engine.client.trajectories.subscribe({ id: this.id, since: this.#last }, { signal });
          },
          onEvent: (event) => {
            if (this.#on(event)) return;
            again = true;
            inner.abort();
          },
          signal: AbortSignal.any([this.#stop.signal, inner.signal]),
        });
        this.#clearLive();
      }
    } finally {
      this.#watching = false;
    }
  }

  /** False when events were missed and the stream must be opened anew. */
  #on(event: LiveEvent): boolean {
    switch (event.type) {
      case 'delta':
        if (event.seq > this.#last) this.#buffer.add(event);
        return true;
      case 'tool_start':
      case 'tool_output':
        this.#buffer.add(event);
        return true;
      case 'message':
        if (event.message.seq <= this.#last) return true;
        if (event.message.seq > this.#last + 1) return false;
        this.#append(event.message);
        return true;
      case 'header':
        return true;
      case 'reset':
        return false;
    }
  }

  #append(message: StoredMessage): void {
    const streamed = this.#buffer.stored(message);
    this.#last = message.seq;
    this.#first = Math.min(this.#first, message.seq);
    this.state.setState((s) => ({
      turns: appendMessages(s.turns, [message]),
      loaded: s.loaded + 1,
      last: message.seq,
      // What was streamed is here already: cutting it would take away what is being read.
      wholes: streamed && message.contentBytes !== undefined && new TextEncoder().encode(streamed.content).length === message.contentBytes ? new Map(s.wholes).set(message.seq, streamed.content) : s.wholes,
      thoughts: streamed?.thoughtMs != null ? new Map(s.thoughts).set(message.seq, streamed.thoughtMs) : s.thoughts,
    }));
    this.live.setState(this.#buffer.state());
  }

  async #page(limit: number): Promise<void> {
    const before = this.#first === Infinity ? Number.MAX_SAFE_INTEGER : this.#first;
    const { items, more } = await this.#engine.client.trajectories.messages({ id: this.id, before, limit }, { signal: this.#stop.signal });
    if (this.#stop.signal.aborted) return;
    this.#first = items[0]?.seq ?? this.#first;
    this.#last = Math.max(this.#last, items.at(-1)?.seq ?? -1);
    this.state.setState((s) => ({ turns: putBefore(items, s.turns), loaded: s.loaded + items.length, last: this.#last, complete: !more || items.length === 0 }));
  }

  #inBackground(): void {
    const { complete, loaded, olderError } = this.state.getState();
    if (complete || olderError !== null || loaded >= BACKGROUND_MESSAGES || this.#stop.signal.aborted) return;
    this.#cancelIdle = this.#clocks.idle(() => void this.older().then(() => this.#inBackground()));
  }

  #clearLive(): void {
    this.#buffer.clear();
    this.live.setState(NOTHING_LIVE);
  }
}

/** Turns of older messages in front of those that are here; results that came without their call find it. */
export function putBefore(messages: readonly StoredMessage[], turns: readonly Turn[]): Turn[] {
  const lost = turns.findIndex((turn) => turn.kind !== 'orphan');
  const orphans = turns.slice(0, lost < 0 ? turns.length : lost).map((turn) => turn.message);
  return [...appendMessages([], [...messages, ...orphans]), ...turns.slice(orphans.length)];
}

/** The clocks of a browser. */
export function browserIdle(page: Window): Clocks['idle'] {
  return (run) => {
    const handle = page.requestIdleCallback(run, { timeout: 1_000 });
    return () => page.cancelIdleCallback(handle);
  };
}
