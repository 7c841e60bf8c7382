import { EXIT_REASONS } from '#shared/trajectory.ts';

/** How the engine words a reason → the key of its translation, and what varies in it. */
export type ReasonKey =
  | 'running' | 'scripted' | 'failed' | 'discarded' | 'partial' | 'empty' | 'noAnswer' | 'malformed' | 'unknownTool' | 'callWithoutResult' | 'resultWithoutCall' | 'endsWithout' | 'escaped' | 'interruptedAnswer' | 'callsLeftOut' | 'secret'
  | 'kind' | 'notRollout' | 'beyondSize' | 'noneFit' | 'oneUnfit' | 'sameScores' | 'nearScores' | 'fewer' | 'ofGroup' | 'noScore' | 'noScoreNamed' | 'notFinite'
  | 'moreTokens' | 'rewrites' | 'border' | 'noToken' | 'noMarkers' | 'templateRefuses' | 'noTools' | 'noReasoning' | 'control' | 'sizes';

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
  'holds an answer that was interrupted': 'interruptedAnswer',
  'calls whose result was lost were left out': 'callsLeftOut',
  'not a rollout of a run': 'notRollout',
  'beyond the group size': 'beyondSize',
  'no rollout is fit': 'noneFit',
  'a rollout is unfit': 'oneUnfit',
  'all scores are the same': 'sameScores',
  'no score': 'noScore',
  'a score that is not a finite number': 'notFinite',
  'the chat template rewrites earlier turns': 'rewrites',
  'a token reaches over the border of what the model wrote': 'border',
  'no token to train on': 'noToken',
  'the chat template has no generation markers': 'noMarkers',
  'the chat template does not show the tools': 'noTools',
  'the chat template leaves out reasoning': 'noReasoning',
  'text that becomes control tokens': 'control',
  'groups are of different sizes': 'sizes',
};

/** Reasons with something that varies: how they are worded around it. */
const VARYING: readonly [ReasonKey, RegExp][] = [
  ['kind', /^of a kind that is written only when it is chosen: (.+)$/s],
  ['partial', /^partial: (.+)$/s],
  ['discarded', /^discarded: (.+)$/s],
  ['ofGroup', /^of a group that was left out: (.+)$/s],
  ['fewer', /^fewer than (.+) rollouts$/],
  ['nearScores', /^scores differ by less than (.+)$/],
  ['noScoreNamed', /^no score named (.+)$/s],
  ['moreTokens', /^more than (.+) tokens$/],
  ['templateRefuses', /^the chat template refuses it: (.+)$/s],
  ['secret', /^may contain a secret \((.+)\)$/],
];

export interface Reason {
  key: ReasonKey;
  /** What varies in it: an exit reason, a number, the reason of its group, … */
  detail: string;
}

/** Recognises a reason of the exporter; null for one that has no translation (it is shown as the engine worded it). */
export function recogniseReason(reason: string): Reason | null {
  const fixed = FIXED[reason];
  if (fixed) return { key: fixed, detail: '' };
  for (const [key, pattern] of VARYING) {
    const detail = pattern.exec(reason)?.[1];
    if (detail !== undefined) return { key, detail };
  }
  return null;
}

export const isExitReason = (text: string): text is (typeof EXIT_REASONS)[number] => (EXIT_REASONS as readonly string[]).includes(text);

/** What would help when nothing would be written: the box to tick, else none. */
export function whyNothing(leftOut: readonly { reason: string }[], now: { includePartial: boolean; includeScripted: boolean }): 'scripted' | 'partial' | 'other' {
  const has = (key: ReasonKey): boolean => leftOut.some((item) => recogniseReason(item.reason)?.key === key);
  if (!now.includeScripted && has('scripted')) return 'scripted';
  return !now.includePartial && has('partial') ? 'partial' : 'other';
}
