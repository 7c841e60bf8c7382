import type { ContextMeter } from '#shared/contract/chats.ts';
import type { Message } from '#shared/trajectory.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { Questions } from './questions.ts';

/** A turn that runs, or a compression between turns. */
export interface RunningTurn {
  readonly startedAt: number;
  readonly abort: AbortController;
  /** Where its tools work; null for a compression. */
  readonly sandbox: Sandbox | null;
  /** Resolves when it is over in every way; never rejects. */
  done: Promise<void>;
}

/** A message that waits to steer the running turn, ready for the model. */
export interface Steering {
  itemId: string;
  /** What the person said, and what the harness puts behind it. */
  messages: readonly Message[];
}

/** What is known of a session only while the engine runs. */
export class LiveSession {
  readonly id: string;
  turn: RunningTurn | null = null;
  /** A turn is being prepared; aborted when it shall not begin. */
  starting: AbortController | null = null;
  activity: string | null = null;
  readonly questions: Questions;
  steering: Steering[] = [];
  meter: ContextMeter | null = null;
  tokensPerSecond: number | null = null;
  retry: { at: number; message: string } | null = null;
  compressing = false;
  /** Why the next turn could not begin. */
  startError: string | null = null;
  /** Why the last checkpoint could not be made. */
  checkpointsOff: string | null = null;
  /** What the person allowed for this session. */
  readonly allowed = new Set<string>();
  /** What tools remember between calls of this session. */
  readonly toolState = new Map<string, unknown>();
  #lock: Promise<unknown> = Promise.resolve();

  constructor(id: string, onQuestion: () => void) {
    this.id = id;
    this.questions = new Questions(onQuestion);
  }

  /** Runs what changes the conversation one after the other. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(work);
    this.#lock = result.catch(() => undefined);
    return result;
  }
}
