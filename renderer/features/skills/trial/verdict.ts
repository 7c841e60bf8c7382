import type { Trial } from '#shared/contract/trials.ts';

/** Fewer pairs than this say nothing, however they came out: a sign test could not fall below 5 % with five. */
const FEW = 6;
const UNLIKELY = 0.05;

export type Verdict = 'none' | 'hint' | 'better' | 'worse' | 'unclear' | 'equal';

/** What a trial may be taken to say. */
export function verdictOf({ pairs, better, worse, chance }: Trial['totals']): Verdict {
  if (pairs === 0) return 'none';
  if (pairs < FEW) return 'hint';
  if (chance === null) return 'equal';
  if (chance >= UNLIKELY) return 'unclear';
  return better > worse ? 'better' : 'worse';
}

export interface TotalLine {
  key: 'completed' | 'score' | 'turns' | 'toolCalls' | 'toolErrors' | 'tokens' | 'costUsd' | 'durationMs' | 'usedSkill';
  with: number | null;
  without: number | null;
  /** With, less without. */
  difference: number | null;
  /** Whether more is better; null where it is neither. */
  more: boolean | null;
}

/** The totals as lines of a table; what nobody knows is left out. */
export function linesOf({ with: a, without: b }: Trial['totals']): TotalLine[] {
  const line = (key: TotalLine['key'], more: boolean | null): TotalLine => ({ key, with: a[key], without: b[key], difference: a[key] === null || b[key] === null ? null : a[key] - b[key], more });
  return [line('completed', true), line('score', true), line('turns', false), line('toolCalls', null), line('toolErrors', false), line('tokens', false), line('costUsd', false), line('durationMs', false)].filter(({ key, with: left, without: right }) => (key !== 'score' && key !== 'costUsd') || left !== null || right !== null);
}
