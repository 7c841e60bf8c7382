import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { type Database, sqlFor } from '../store/database.ts';
import { KILLED } from './ends.ts';
import type { ProposalRecord } from './proposal-store.ts';
import type { ReviewRecord, ReviewStore } from './store.ts';

/**
 * Mends what a killed engine left: reviews that ran have ended, and are not made again for the same content; what was done of a proposal
 * without being noted counts as done. Call once, after skills and memory have been recovered and before any review begins. Answers with
 * how many reviews had been running.
 */
export function recoverReviews(db: Database, store: ReviewStore, now: () => number): number {
  return store.transaction(() => {
    const running = store.inState('running');
    const killed = new Set(running.map((r) => r.id));
    for (const { id } of running) store.update(id, { state: 'failed', error: KILLED, endedAt: now() });
    for (const proposal of store.proposals.waiting()) {
      const done = doneOf(db, store, proposal);
      if (done) store.proposals.settle(proposal.id, killed.has(proposal.reviewId) ? 'applied' : 'accepted', { done });
    }
    // the last of several changes of one skill may be known to the skill only
    for (const proposal of running.flatMap(({ id }) => store.proposals.ofReview(id))) {
      const done = proposal.state === 'applied' && proposal.operation.what === 'skill' ? doneOf(db, store, proposal) : null;
      if (done && done.versions?.length !== proposal.done?.versions?.length) store.proposals.settle(proposal.id, 'applied', { done });
    }
    dropOrphans(store, store.inState('queued'), db, now);
    return running.length;
  });
}

/** What skills and memory themselves know of it. */
function doneOf(db: Database, store: ReviewStore, { id, reviewId, operation, target }: ProposalRecord): ProposalRecord['done'] {
  const others = store.proposals.ofReview(reviewId).filter((p) => p.id !== id && p.done !== null);
  if (operation.what === 'skill') {
    const taken = new Set(others.flatMap((p) => p.done?.versions ?? []));
    const versions = db
      .all(sqlFor.selectFrom('skill_versions').select('id').where('review_id', '=', reviewId).where('skill', '=', target).where('author', '=', 'review').where(sql<boolean>`state <> 'pending'`).orderBy('id'))
      .map((row) => row.id)
      .filter((version) => !taken.has(version));
    return versions.length > 0 ? { versions } : null;
  }
  const taken = new Set(others.map((p) => p.done?.changeId));
  const change = db
    .all(sqlFor.selectFrom('memory_changes').select(['id', 'operations']).where('review_id', '=', reviewId).where('target', '=', operation.target).where('undone_at', 'is', null).where('state', '<>', 'pending').orderBy('id'))
    .find((row) => !taken.has(row.id) && isDeepStrictEqual(JSON.parse(row.operations), operation.operations));
  return change ? { changeId: change.id } : null;
}

/** A chat that was thrown away meanwhile is not read any more. */
function dropOrphans(store: ReviewStore, queued: readonly ReviewRecord[], db: Database, now: () => number): void {
  for (const { id, sessionId } of queued) {
    if (sessionId === null) continue;
    const session = db.get(sqlFor.selectFrom('sessions').select('deleted_at').where('id', '=', sessionId));
    if (session?.deleted_at !== null) store.update(id, { state: 'cancelled', error: 'The chat was deleted.', endedAt: now() });
  }
}
