import { EXIT_REASONS } from '#shared/trajectory.ts';

/** How the engine words a reason → the key of its translation, and what varies in it. */
export type ReasonKey =
  | 'running' | 'scripted' | 'failed' | 'discarded' | 'partial' | 'empty' | 'noAnswer' | 'malformed' | 'unknownTool' | 'callWithoutResult' | 'resultWithoutCall' | 'endsWithout' | 'escaped' | 'secret';

const FIXED: Record<string, ReasonKey> = {
  'still running': 'running',
  'made by the scripted demo model': 'scripted',
  failed: 'failed',
  'no messages': 'empty',
  'no assistant turn': 'noAnswer',
  'malformed tool call': 'malformed',
  'calls a tool that was not offered': 'unknownTool',
  'tool call without a result': 'callWithoutResult',
  'tool result without a call': 'resultWithoutCall',
  'does not end with an assistant turn': 'endsWithout',
  'control tags in the text were escaped': 'escaped',
};

export interface Reason {
  key: ReasonKey;
  /** The exit reason, discard reason or kind of secret named in it. */
  detail: string;
}

/** Recognises a reason of the exporter; null for one that has no translation (it is shown as the engine worded it). */
export function recogniseReason(reason: string): Reason | null {
  const fixed = FIXED[reason];
  if (fixed) return { key: fixed, detail: '' };
  const partial = /^partial: (.+)$/.exec(reason)?.[1];
  if (partial !== undefined) return { key: 'partial', detail: partial };
  const discarded = /^discarded: (.+)$/.exec(reason)?.[1];
  if (discarded !== undefined) return { key: 'discarded', detail: discarded };
  const secret = /^may contain a secret \((.+)\)$/.exec(reason)?.[1];
  return secret === undefined ? null : { key: 'secret', detail: secret };
}

export const isExitReason = (text: string): text is (typeof EXIT_REASONS)[number] => (EXIT_REASONS as readonly string[]).includes(text);

/** What would help when nothing would be written: the box to tick, else none. */
export function whyNothing(leftOut: readonly { reason: string }[], now: { includePartial: boolean; includeScripted: boolean }): 'scripted' | 'partial' | 'other' {
  const has = (key: ReasonKey): boolean => leftOut.some((item) => recogniseReason(item.reason)?.key === key);
  if (!now.includeScripted && has('scripted')) return 'scripted';
  return !now.includePartial && has('partial') ? 'partial' : 'other';
}
