import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import { PieceSplitter, type Piece } from '../../../ui/markdown-pieces.ts';
import type { FrameClock } from '../../library/view/deltas.ts';
import { runsAfter, type Runs } from '../../library/view/runs.ts';

/** What has been streamed of the message that is being written. */
export interface LiveAnswer {
  /** The seq it will have. */
  seq: number;
  reasoning: string;
  /** Epoch ms of the first reasoning; null while there is none. */
  thinkingSince: number | null;
  /** How long it thought; null while it still does, or has not. */
  thoughtMs: number | null;
  pieces: readonly Piece[];
  /** The end of what is written of tool arguments. */
  args: string;
  /** Characters of tool arguments so far. */
  argsChars: number;
}

export interface LiveState {
  answer: LiveAnswer | null;
  runs: Runs;
}

export const NOTHING_LIVE: LiveState = { answer: null, runs: new Map() };

/** What the buffer knew of a message when it was stored. */
export interface Streamed {
  content: string;
  thoughtMs: number | null;
}

const ARGS_TAIL_CHARS = 2_000;

interface Draft {
  seq: number;
  content: string;
  added: string;
  splitter: PieceSplitter;
  reasoning: string;
  thinkingSince: number | null;
  thoughtMs: number | null;
  args: string;
  argsChars: number;
}

/** Collects what is streamed and tells of it at most once per frame; each character is read once. */
export class LiveBuffer {
  readonly #clock: FrameClock;
  readonly #now: () => number;
  readonly #onFlush: (state: LiveState) => void;
  #draft: Draft | null = null;
  #runs: Runs = NOTHING_LIVE.runs;
  #cancel: (() => void) | null = null;

  constructor(clock: FrameClock, now: () => number, onFlush: (state: LiveState) => void) {
    this.#clock = clock;
    this.#now = now;
    this.#onFlush = onFlush;
  }

  add(event: LiveEvent): void {
    if (event.type === 'delta') this.#delta(event);
    else this.#runs = runsAfter(this.#runs, event);
    this.#cancel ??= this.#clock.schedule(() => {
      this.#cancel = null;
      this.#onFlush(this.state());
    });
  }

  /** A message was stored: what was streamed for it is void at once, so that nothing shows twice. Answers what that was. */
  stored(message: StoredMessage): Streamed | null {
    this.#runs = runsAfter(this.#runs, { type: 'message', message });
    const draft = this.#draft;
    if (draft === null || draft.seq > message.seq) return null;
    this.#draft = null;
    this.#stop();
    if (draft.seq !== message.seq || message.role !== 'assistant') return null;
    return { content: draft.content, thoughtMs: draft.thoughtMs ?? (draft.thinkingSince === null ? null : this.#now() - draft.thinkingSince) };
  }

  clear(): void {
    this.#stop();
    this.#draft = null;
    this.#runs = NOTHING_LIVE.runs;
  }

  state(): LiveState {
    const draft = this.#draft;
    if (!draft) return { answer: null, runs: this.#runs };
    if (draft.added !== '') draft.splitter.add(draft.added);
    draft.added = '';
    const { seq, reasoning, thinkingSince, thoughtMs, args, argsChars } = draft;
    return { answer: { seq, reasoning, thinkingSince, thoughtMs, pieces: draft.splitter.pieces(), args, argsChars }, runs: this.#runs };
  }

  #delta({ seq, channel, text }: Extract<LiveEvent, { type: 'delta' }>): void {
    if (this.#draft !== null && seq < this.#draft.seq) return;
    if (this.#draft === null || seq > this.#draft.seq) {
      this.#draft = { seq, content: '', added: '', splitter: new PieceSplitter(), reasoning: '', thinkingSince: null, thoughtMs: null, args: '', argsChars: 0 };
    }
    const draft = this.#draft;
    if (channel === 'reasoning') {
      draft.thinkingSince ??= this.#now();
      draft.reasoning += text;
      return;
    }
    if (draft.thinkingSince !== null) draft.thoughtMs ??= this.#now() - draft.thinkingSince;
    if (channel === 'content') {
      draft.content += text;
      draft.added += text;
    } else {
      draft.args = (draft.args + text).slice(-ARGS_TAIL_CHARS);
      draft.argsChars += text.length;
    }
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
