import type { Message, Usage } from '#shared/trajectory.ts';
import type { ChatModel } from '../../model/types.ts';
import type { CompressionSettings } from '../types.ts';

export interface CompactionJob {
  /** All stored messages of the trajectory; the index is the seq. Not changed. */
  messages: readonly Message[];
  settings: CompressionSettings;
  /** Of the model that the conversation is for, tokens. */
  contextLength: number;
  /** Writes the summary. */
  model: ChatModel;
  /** Of the model that writes the summary, where it is another one; default `contextLength`. */
  summaryContextLength?: number | null;
  /** What must survive besides the messages, e.g. the open todos. */
  carryOver?: () => string | null;
  /** What the person wants the summary to keep above all. */
  focus?: string;
  now: () => number;
  /** A person or a provider's refusal asked for it: keeps less of the end where that is needed to gain anything. */
  force?: boolean;
  /** For each call to the model; default 120 s. */
  timeoutMs?: number;
}

/** One call that was paid for. */
export interface CompactionCall {
  provider: string;
  model: string;
  usage: Usage;
  costUsd: number | null;
}

export interface CompactionResult {
  /** To be stored as the next message; `contextOf` then shows it in place of what it covers. */
  message: Message | null;
  /** Why there is none, or why the summary was written without the model; a sentence. */
  reason: string | null;
  calls: CompactionCall[];
}
