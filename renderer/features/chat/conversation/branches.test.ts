import { describe, expect, it } from 'vitest';
import type { Branch } from '#shared/contract/chats.ts';
import { forksOf } from './branches.ts';

let clock = 0;
const branch = (trajectoryId: string, parentId: string | null = null, parentSeq: number | null = null): Branch => ({ trajectoryId, parentId, parentSeq, model: 'm', createdAt: clock++ });

describe('forksOf', () => {
  it('counts the original and its edits at the edited message (catches a switcher that cannot go back)', () => {
    const branches = [branch('a'), branch('b', 'a', 3), branch('c', 'a', 3)];
    expect(forksOf(branches, 'a')).toEqual([{ seq: 3, ways: ['a', 'b', 'c'], at: 0 }]);
    expect(forksOf(branches, 'c')).toEqual([{ seq: 3, ways: ['a', 'b', 'c'], at: 2 }]);
  });

  it('takes an edit of an edit as one more way at the same place (catches 1/2 inside 2/2)', () => {
    const branches = [branch('a'), branch('b', 'a', 3), branch('c', 'b', 3)];
    expect(forksOf(branches, 'c')).toEqual([{ seq: 3, ways: ['a', 'b', 'c'], at: 2 }]);
  });

  it('finds a fork before the one that was taken, made from a later branch (catches branches nobody can reach)', () => {
    const branches = [branch('a'), branch('b', 'a', 5), branch('c', 'b', 2)];
    expect(forksOf(branches, 'b')).toEqual([{ seq: 2, ways: ['b', 'c'], at: 0 }, { seq: 5, ways: ['a', 'b'], at: 1 }]);
    expect(forksOf(branches, 'c')).toEqual([{ seq: 2, ways: ['b', 'c'], at: 1 }]);
  });

  it('is no fork where the conversation only went on under a newer system prompt (catches 2/2 beside a message said once)', () => {
    const a = branch('a');
    const goesOn = { ...branch('b', 'a', 5), continues: true };
    expect(forksOf([a, goesOn], 'b')).toEqual([]);
    expect(forksOf([a, goesOn, branch('c', 'b', 5)], 'c')).toEqual([{ seq: 5, ways: ['b', 'c'], at: 1 }]);
    expect(forksOf([a, goesOn, branch('d', 'a', 2)], 'b')).toEqual([{ seq: 2, ways: ['b', 'd'], at: 0 }]);
  });

  it('goes to the newest branch of a way (catches a switch that lands on an abandoned answer)', () => {
    const branches = [branch('a'), branch('b', 'a', 3), branch('c', 'b', 7)];
    expect(forksOf(branches, 'a')[0]?.ways).toEqual(['a', 'c']);
  });

  it('survives parents that are lost or their own (catches an endless loop)', () => {
    expect(forksOf([branch('a', 'gone', 2)], 'a')).toEqual([]);
    expect(forksOf([branch('a', 'b', 2), branch('b', 'a', 2)], 'a').length).toBeLessThan(3);
    expect(forksOf([], 'a')).toEqual([]);
  });
});
