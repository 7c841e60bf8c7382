import type { Proposal, Review } from '#shared/contract/reviews.ts';

/** What can be done with a proposal now. `failed` ones may be tried again: what stood in the way may be gone. */
export function choicesOf({ state }: Pick<Proposal, 'state'>): { accept: boolean; reject: boolean; undo: boolean } {
  return { accept: state === 'waiting' || state === 'failed' || state === 'rejected', reject: state === 'waiting' || state === 'failed', undo: state === 'applied' || state === 'accepted' };
}

/** Proposals that wait for the person. */
export function waitingIn(review: Pick<Review, 'proposals'>): Proposal[] {
  return review.proposals.filter((p) => p.state === 'waiting');
}

/** The next one to decide after `id`, wrapping round; null when none waits. */
export function nextWaiting(proposals: readonly Proposal[], id: string): Proposal | null {
  const at = proposals.findIndex((p) => p.id === id);
  const order = [...proposals.slice(at + 1), ...proposals.slice(0, Math.max(0, at))];
  return order.find((p) => p.state === 'waiting') ?? null;
}

/** What a review came to, for one line: kinds of proposals with what became of them, in the order of the proposals. */
export function tally(review: Pick<Review, 'proposals'>): { memory: number; skills: readonly string[]; waiting: number; undone: number } {
  const kept = review.proposals.filter((p) => p.state === 'applied' || p.state === 'accepted');
  return {
    memory: kept.filter((p) => p.kind.startsWith('memory')).length,
    skills: [...new Set(kept.filter((p) => p.kind.startsWith('skill')).map((p) => p.title))],
    waiting: waitingIn(review).length,
    undone: review.proposals.filter((p) => p.state === 'undone' || p.state === 'rejected').length,
  };
}
