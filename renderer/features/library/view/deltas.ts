import type { LiveEvent } from '#shared/contract/trajectories.ts';

type Delta = Extract<LiveEvent, { type: 'delta' }>;

/** What has been streamed of messages that are not stored yet. */
export interface LiveText {
  /** The seq of the message being written. */
  seq: number;
  content: string;
  reasoning: string;
  /** Argument text or live output of tools; the end of it when it is long. */
  tool: string;
}

/** Tool output is only glanced at while it runs: this much of its end is kept, characters. */
export const LIVE_TOOL_MAX = 20_000;
/** Animation frames stop in hidden windows; then this clock flushes, ms. */
export const HIDDEN_FLUSH_MS = 50;

export interface FrameClock {
  /** Calls back once, at the next frame or after HIDDEN_FLUSH_MS; answers how to call it off. */
  schedule(flush: () => void): () => void;
}

/** The browser's frames, with a timer beside for hidden windows. */
export function browserFrames(page: Window): FrameClock {
  return {
    schedule(flush) {
      let done = false;
      const once = (): void => {
        if (done) return;
        done = true;
        cancel();
        flush();
      };
      const frame = page.requestAnimationFrame(once);
      const timer = page.setTimeout(once, HIDDEN_FLUSH_MS);
      const cancel = (): void => {
        done = true;
        page.cancelAnimationFrame(frame);
        page.clearTimeout(timer);
      };
      return cancel;
    },
  };
}

/**
 * Collects streamed text and tells of it at most once per frame. A stored message voids what was streamed for it (and before);
 * text for a later seq replaces text for an earlier one.
 */
export class DeltaBuffer {
  private readonly clock: FrameClock;
  private readonly onFlush: (live: LiveText | null) => void;
  private live: LiveText | null = null;
  private cancel: (() => void) | null = null;

  constructor(clock: FrameClock, onFlush: (live: LiveText | null) => void) {
    this.clock = clock;
    this.onFlush = onFlush;
  }

  add(delta: Delta): void {
    if (this.live !== null && delta.seq < this.live.seq) return;
    if (this.live === null || delta.seq > this.live.seq) this.live = { seq: delta.seq, content: '', reasoning: '', tool: '' };
    const text = this.live[delta.channel] + delta.text;
    this.live = { ...this.live, [delta.channel]: delta.channel === 'tool' ? text.slice(-LIVE_TOOL_MAX) : text };
    this.cancel ??= this.clock.schedule(() => {
      this.cancel = null;
      this.onFlush(this.live);
    });
  }

  /** A message was stored: its deltas are void at once, so that text never shows twice. Answers what is left. */
  stored(seq: number): LiveText | null {
    if (this.live !== null && this.live.seq <= seq) this.clear();
    return this.live;
  }

  clear(): void {
    this.cancel?.();
    this.cancel = null;
    this.live = null;
  }
}
