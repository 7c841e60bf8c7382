import type { REVIEW_KINDS, REVIEW_STATES, REVIEW_TRIGGERS } from '#shared/contract/reviews.ts';

export type ReviewKind = (typeof REVIEW_KINDS)[number];
export type ReviewTrigger = (typeof REVIEW_TRIGGERS)[number];
export type ReviewState = (typeof REVIEW_STATES)[number];

/** Up to which message (seq, inclusive) a trajectory is read. */
export interface Source {
  trajectoryId: string;
  through: number;
}

/** One review for what two would have looked at. */
export function joined(a: ReviewKind | '', b: ReviewKind | ''): ReviewKind | '' {
  if (a === '' || b === '') return a || b;
  return a === b ? a : 'combined';
}

export const asksOf = (kind: ReviewKind): { memory: boolean; skills: boolean } => ({ memory: kind !== 'skill', skills: kind !== 'memory' });
/** Asked for by nobody: bounded by the caps of a day, and given up when the person goes on. */
export const isAutomatic = (trigger: ReviewTrigger): boolean => trigger === 'nudge' || trigger === 'session_end';
