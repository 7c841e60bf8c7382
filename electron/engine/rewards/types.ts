import type { ScoreRule } from '#shared/scoring.ts';
import type { ScoreResult } from '../batch/queue/types.ts';
import type { Sandbox } from '../sandbox/types.ts';

/** What is scored: one finished attempt at a row of a dataset. */
export interface ScoreSubject {
  prompt: string;
  /** The row's columns by our names: `answer`, `tests`, `entry_point`, `language`, … */
  row: Readonly<Record<string, unknown>>;
  /** Null when the attempt ended without one. */
  finalAnswer: string | null;
  /** Assistant turns. */
  turns: number;
  toolErrors: number;
  /** A person's, 1 to 5; null before anybody rated it. */
  rating: number | null;
}

export interface ScoreContext {
  /** Where tests run; null when there is no place for that. */
  sandbox: Sandbox | null;
  /** The sandbox is not the rollout's own but a fresh one: its files are gone, only its answer can be tested. */
  fresh?: boolean;
  signal: AbortSignal;
}

/** `value` and what is to be told of it. */
export type Verdict = Pick<ScoreResult, 'value' | 'detail'>;

/** The rule of one kind. */
export type RuleOf<K extends ScoreRule['kind']> = Extract<ScoreRule, { kind: K }>;

/** A verdict that could not be given. */
export function unknown(why: { code: string; why: string } | string, detail: Record<string, unknown> = {}): Verdict {
  return { value: null, detail: { ...(typeof why === 'string' ? { why } : why), ...detail } };
}

/** The end of a text of any length for the detail of a score. */
export function shown(text: string, chars = 200): string {
  return text.length > chars ? `…${text.slice(-chars)}`.toWellFormed() : text.toWellFormed();
}
