import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sqlFor } from '../store/database.ts';
import { openStore, type Store } from '../store/store.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { NudgeCounters } from './counters.ts';

let dir: string;
let store: Store;
let intervals: { skill: number; memory: number };
let counters: NudgeCounters;
const S = 'session';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'talaria-counters-'));
  store = openStore(dir, { resources: RESOURCES, reader: READER });
  intervals = { skill: 3, memory: 2 };
  counters = new NudgeCounters(store.db, () => intervals);
  store.db.run(sqlFor.insertInto('sessions').values({ id: S, provider: 'p', model: 'm', workspace: '/w', sandbox: 'host', toolsets: '[]', max_turns: 9, created_at: 1, updated_at: 1 } as never));
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const calls = (n: number) => {
  for (let i = 0; i < n; i++) counters.modelCalled(S);
};
const end = (answered = true, skillOffered = true) => counters.turnEnded(S, { skillOffered, answered });

describe('counters of the nudge', () => {
  // Bug: the skill counter fires in the middle of a turn, or one call too early or too late.
  test('model calls are counted, checked after the turn, and begin anew when they came to the interval', () => {
    calls(2);
    expect(end()).toBeNull();
    expect(counters.of(S)).toMatchObject({ iters: 2 });
    calls(1);
    expect(end()).toBe('skill');
    expect(counters.of(S)).toEqual({ iters: 0, turns: 0, due: '' });
    expect(end()).toBeNull();
  });

  // Bug: an agent that has just written a skill is asked for one.
  test('using skill_manage sets the skill counter back, using the memory tool the memory counter', () => {
    calls(5);
    counters.skillManaged(S);
    expect(end()).toBeNull();
    counters.personSpoke(S);
    counters.memoryUsed(S);
    counters.personSpoke(S);
    expect(end()).toBeNull();
    expect(counters.of(S)).toMatchObject({ iters: 0, turns: 1 });
  });

  // Bug: the memory counter is checked at the end, so that a memory tool used in the very turn hides what earlier turns had.
  test('turns of the person are checked when the turn begins: the review is due then, and the counter begins anew', () => {
    counters.personSpoke(S);
    expect(end()).toBeNull();
    counters.personSpoke(S);
    expect(counters.of(S)).toEqual({ iters: 0, turns: 0, due: 'memory' });
    counters.memoryUsed(S);
    expect(end()).toBe('memory');
  });

  // #13075 #13092: the counter was lost when a turn was interrupted, or the review came twice.
  test('an interrupted turn loses nothing and fires nothing; the next one that ends with an answer fires once, for both', () => {
    counters.personSpoke(S);
    counters.personSpoke(S);
    calls(4);
    expect(end(false)).toBeNull();
    expect(counters.of(S)).toEqual({ iters: 0, turns: 0, due: 'combined' });
    // a restart: another object on the same store
    counters = new NudgeCounters(store.db, () => intervals);
    expect(end()).toBe('combined');
    expect(end()).toBeNull();
  });

  // Bug: 0 means "every time".
  test('an interval of 0 is off', () => {
    intervals = { skill: 0, memory: 0 };
    for (let i = 0; i < 30; i++) counters.personSpoke(S);
    calls(30);
    expect(end()).toBeNull();
  });

  // Bug: a chat without skills is reviewed for skills.
  test('nothing fires for a tool that the turn does not offer', () => {
    calls(5);
    expect(end(true, false)).toBeNull();
    expect(end()).toBe('skill');
  });

  // Bug: a session that is gone makes the end of its turn fail.
  test('a session that is gone has no counters', () => {
    counters.personSpoke('nobody');
    counters.modelCalled('nobody');
    expect(counters.turnEnded('nobody', { skillOffered: true, answered: true })).toBeNull();
  });
});
