import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail } from '#shared/trajectory.ts';
import type { Engine } from '../../../lib/client.ts';
import { follow } from '../../../lib/stream.ts';
import { DeltaBuffer, type FrameClock, type LiveText } from './deltas.ts';
import { runsAfter, type Runs } from './runs.ts';
import { appendMessages, type Turn } from './turns.ts';

/** Messages per request; large contents come cut, so a page stays small. */
const PAGE_MESSAGES = 200;
/** While it runs, the numbers of the header are read anew at most this often, ms. */
const HEADER_REFRESH_MS = 1_000;

export interface TranscriptState {
  detail: TrajectoryDetail | null;
  turns: readonly Turn[];
  /** Messages held; they are numbered without gaps from 0. */
  loaded: number;
  /** Everything that is stored has arrived. */
  complete: boolean;
  error: unknown;
}

/** What is streamed and not stored. */
interface LiveState {
  text: LiveText | null;
  runs: Runs;
}

const NOTHING: LiveState = { text: null, runs: new Map() };
const EMPTY: TranscriptState = { detail: null, turns: [], loaded: 0, complete: false, error: null };

/**
 * One trajectory as it is read: header and messages in pages, then, while it runs, what is streamed. A gap or a reset makes it
 * read on from the last message it holds, never guess.
 */
export class Transcript {
  readonly id: string;
  readonly state: StoreApi<TranscriptState> = createStore<TranscriptState>(() => EMPTY);
  /** Streamed text lives apart, so that a delta renders nothing but the line it grows. */
  readonly live: StoreApi<LiveState> = createStore<LiveState>(() => NOTHING);
  private readonly engine: Engine;
  private readonly deltas: DeltaBuffer;
  private readonly stop = new AbortController();
  private lastSeq = -1;
  private headerTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(engine: Engine, id: string, clock: FrameClock) {
    this.engine = engine;
    this.id = id;
    this.deltas = new DeltaBuffer(clock, (text) => this.live.setState({ text }));
  }

  /** Reads until everything is here (and, for a running one, until it ends). Failures end up in `state.error`. */
  async open(): Promise<void> {
    this.state.setState({ error: null });
    try {
      const [detail] = await Promise.all([this.readHeader(), this.readPages()]);
      if (detail.state === 'running') await this.watch();
    } catch (error) {
      if (!this.stop.signal.aborted) this.state.setState({ error });
    }
  }

  close(): void {
    this.stop.abort();
    this.deltas.clear();
    if (this.headerTimer) clearTimeout(this.headerTimer);
  }

  private async readHeader(): Promise<TrajectoryDetail> {
    const detail = await this.engine.client.trajectories.get({ id: this.id }, { signal: this.stop.signal });
    if (!this.stop.signal.aborted) this.state.setState({ detail });
    return detail;
  }

  private async readPages(): Promise<void> {
    for (;;) {
      const { signal } = this.stop;
      const { items, more } = await this.engine.client.trajectories.messages({ id: this.id, after: this.lastSeq, limit: PAGE_MESSAGES }, { signal });
      if (signal.aborted) return;
      this.take(items, !more || items.length === 0);
      if (!more || items.length === 0) return;
      // Painting and keys come first; the next page can wait a moment.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  private take(messages: readonly StoredMessage[], complete: boolean): void {
    const fresh = messages.filter((m) => m.seq > this.lastSeq);
    this.lastSeq = fresh.at(-1)?.seq ?? this.lastSeq;
    this.state.setState((s) => ({
      turns: fresh.length > 0 ? appendMessages(s.turns, fresh) : s.turns,
      loaded: s.loaded + fresh.length,
      complete,
    }));
  }

  private async watch(): Promise<void> {
    let again = true;
    while (again && !this.stop.signal.aborted) {
      again = false;
      const inner = new AbortController();
      await follow<LiveEvent>({
        connection: this.engine.connection,
        open: (signal) => {
          this.clearLive();
          return this.engine.client.trajectories.subscribe({ id: this.id, since: this.lastSeq }, { signal });
        },
        onEvent: (event) => {
          if (this.onLive(event)) return;
          again = true;
          inner.abort();
        },
        signal: AbortSignal.any([this.stop.signal, inner.signal]),
      });
      this.clearLive();
    }
    if (!this.stop.signal.aborted) await this.readHeader();
  }

  /** False when events were missed and the stream must be opened anew. */
  private onLive(event: LiveEvent): boolean {
    switch (event.type) {
      case 'delta':
        if (event.seq > this.lastSeq) this.deltas.add(event);
        return true;
      case 'message':
        if (event.message.seq > this.lastSeq + 1) return false;
        this.live.setState((s) => ({ text: this.deltas.stored(event.message.seq), runs: runsAfter(s.runs, event) }));
        this.take([event.message], true);
        this.headerTimer ??= setTimeout(() => {
          this.headerTimer = null;
          this.readHeader().catch(() => undefined);
        }, HEADER_REFRESH_MS);
        return true;
      case 'tool_start':
      case 'tool_output':
        this.live.setState((s) => ({ runs: runsAfter(s.runs, event) }));
        return true;
      case 'header':
        this.state.setState({ detail: event.detail });
        return true;
      case 'reset':
        return false;
    }
  }

  private clearLive(): void {
    this.deltas.clear();
    this.live.setState(NOTHING);
  }
}
