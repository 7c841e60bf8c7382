import type { ReviewDeps } from './deps.ts';
import { settingsOf } from './settings.ts';
import type { ReviewStore } from './store.ts';

/** Proposals that wait, beyond which nothing is reviewed unasked. */
const MAX_WAITING = 50;

/** Why no review may make another call now, by what it costs, in a sentence; null when it may. */
export function overSpend(store: ReviewStore, deps: Pick<ReviewDeps, 'config' | 'spend'>): string | null {
  const { dayUsd } = settingsOf(deps.config.read());
  if (dayUsd !== null) {
    const spent = store.spentToday();
    if (spent >= dayUsd) return `Reviews have cost $${spent.toFixed(2)} today, and $${dayUsd.toFixed(2)} is the most they may (review.day_usd). They go on tomorrow, or when the cap is raised.`;
  }
  return deps.spend.overBudget({});
}

/** Why nothing is reviewed unasked now, in a sentence; null when it is. */
export function pausedBecause(store: ReviewStore, deps: Pick<ReviewDeps, 'config' | 'spend'>): string | null {
  const { enabled, dayReviews } = settingsOf(deps.config.read());
  if (!enabled) return 'Reviews are switched off (review.enabled).';
  if (store.startedToday() >= dayReviews) return `${dayReviews} reviews were made today, the most there may be (review.day_reviews). They go on tomorrow.`;
  const waiting = store.proposals.waitingCount();
  if (waiting >= MAX_WAITING) return `${waiting} proposals wait for you. Accept or reject some, then reviews go on.`;
  return overSpend(store, deps);
}
