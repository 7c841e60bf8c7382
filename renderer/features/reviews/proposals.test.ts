import { describe, expect, it } from 'vitest';
import type { Proposal } from '#shared/contract/reviews.ts';
import { choicesOf, nextWaiting, tally } from './proposals.ts';

function proposal(id: string, state: Proposal['state'], kind: Proposal['kind'] = 'skill_new'): Proposal {
  return { id, reviewId: 'r', kind, target: 't', title: id, reason: '', evidence: [], changes: [], findings: [], state, error: null, createdAt: 0, decidedAt: null };
}

describe('proposals', () => {
  it('offers undo for what was done, and accept for what was not (bug: a rejected proposal is lost for good)', () => {
    expect(choicesOf(proposal('a', 'applied'))).toEqual({ accept: false, reject: false, undo: true });
    expect(choicesOf(proposal('a', 'rejected'))).toEqual({ accept: true, reject: false, undo: false });
    expect(choicesOf(proposal('a', 'undone'))).toEqual({ accept: false, reject: false, undo: false });
  });

  it('goes on to the next that waits, round the end (bug: earlier ones are skipped after the last one was decided)', () => {
    const all = [proposal('a', 'waiting'), proposal('b', 'applied'), proposal('c', 'accepted')];
    expect(nextWaiting(all, 'c')?.id).toBe('a');
    expect(nextWaiting(all, 'a')).toBeNull();
  });

  it('counts only what was kept (bug: the line under the reply speaks of memory that was rejected)', () => {
    expect(tally({ proposals: [proposal('a', 'applied', 'memory_add'), proposal('b', 'rejected', 'memory_add'), proposal('c', 'accepted'), proposal('d', 'waiting')] })).toEqual({ memory: 1, skills: ['c'], waiting: 1, undone: 1 });
  });
});
