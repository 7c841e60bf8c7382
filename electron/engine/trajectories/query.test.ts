import type { Compilable } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database, sqlFor } from '../store/database.ts';
import { branchTrajectory } from './branch.ts';
import { countMatching, countTrajectories, getDetail, getMessages, listTrajectories, pageMessages, walkTrajectories } from './query.ts';
import { TrajectoryRecorder } from './record.ts';
import { assistant, record, testStore, toolResult, user } from './testing.ts';

let t: ReturnType<typeof testStore>;
beforeEach(() => {
  t = testStore();
});
afterEach(() => t.close());

function session(id: string): string {
  t.store.db.run(sqlFor.insertInto('sessions').values({ id, provider: 'p', model: 'm', workspace: '/w', max_turns: 1, created_at: 1, updated_at: 1 }));
  return id;
}

test('the end of a long trajectory is read backwards in pages that meet without gaps', () => {
  const r = record(t, Array.from({ length: 25 }, (_, i) => user(`m${i}`)));
  const page = (before?: number) => pageMessages(t.store.db, r.n, { after: -1, before, limit: 10 });
  const last = page(1_000);
  expect(last.items.map((m) => m.seq)).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
  expect(last.more).toBe(true);
  const middle = page(15);
  const first = page(middle.items[0]!.seq);
  expect([...first.items, ...middle.items].map((m) => m.seq)).toEqual([...Array(15).keys()]);
  expect(first.more).toBe(false);
  expect(pageMessages(t.store.db, r.n, { after: 19, limit: 3 })).toMatchObject({ items: [{ seq: 20 }, { seq: 21 }, { seq: 22 }], more: true });
});

test('filters by session and kind hold for lists, counts and exports alike', () => {
  const own = record(t, [user('a')], { sessionId: session('s1') });
  record(t, [user('b')], { sessionId: session('s2') });
  record(t, [user('c')], { kind: 'batch' });
  const { db } = t.store;
  expect(listTrajectories(db, { sessionId: 's1' }, { limit: 10 }).items.map((d) => d.id)).toEqual([own.id]);
  expect(countTrajectories(db, { kinds: ['chat'] })).toMatchObject({ total: 3, matching: 2 });
  expect(countMatching(db, { kinds: ['batch'] })).toBe(1);
  expect(walkTrajectories(db, { kinds: ['chat'], sessionId: 's2' }, 0, 10)).toHaveLength(1);
});

test('a trajectory that goes on counts from what it had, and what was paid without an answer is not lost', () => {
  const first = record(t, [user('a'), assistant('b', { usage: { promptTokens: 5, completionTokens: 5, reasoningTokens: 0, cachedTokens: 0 } })], {}, false);
  first.end({ exitReason: 'completed', error: null, apiCalls: 3, usage: { promptTokens: 15, completionTokens: 9, reasoningTokens: 0, cachedTokens: 0 } });
  first.announceEnd();
  const again = TrajectoryRecorder.reopen(t.store.db, t.hub, Date.now, first.id, { model: 'other', provider: 'p', scripted: true }, getMessages(t.store.db, first.n, -1, 10, true));
  expect(t.hub.running).toBe(1);
  expect(again.append(user('c')).seq).toBe(2);
  again.end({ exitReason: 'interrupted', error: 'stopped', apiCalls: 1, usage: { promptTokens: 1, completionTokens: 1, reasoningTokens: 0, cachedTokens: 0 } });
  again.announceEnd();
  expect(getDetail(t.store.db, first.id)).toMatchObject({ model: 'other', scripted: true, messageCount: 3, turns: 1, apiCalls: 4, usage: { promptTokens: 16, completionTokens: 10 }, exitReason: 'interrupted' });
  expect(t.hub.running).toBe(0);
});

test('a branch is at rest with the counters of what it took over, is found by its words, and costs nothing yet', () => {
  const calls = [{ id: 'c', name: 'terminal', arguments: '{}' }];
  const from = record(t, [user('walnut'), assistant('', { toolCalls: calls }), toolResult('c', 'terminal', 'x', { isError: true }), assistant('done'), user('later'), assistant('pistachio')], { sessionId: session('s') });
  t.store.db.run(sqlFor.updateTable('trajectories').set({ cost_usd: 3 }).where('n', '=', from.n));
  const { db } = t.store;
  const whole = branchTrajectory(db, Date.now, from.id, 4, { sessionId: 's' });
  expect(getDetail(db, whole)).toMatchObject({ state: 'ended', exitReason: 'completed', turns: 2, toolCalls: 1, toolErrors: 1, messageCount: 4, parentId: from.id, parentSeq: 4, costUsd: null });
  const open = branchTrajectory(db, Date.now, from.id, 2, { sessionId: 's' });
  expect(getDetail(db, open)?.exitReason).toBe('interrupted');
  expect(listTrajectories(db, { query: 'walnut' }, { limit: 10 }).items).toHaveLength(3);
  expect(listTrajectories(db, { query: 'pistachio' }, { limit: 10 }).items.map((d) => d.id)).toEqual([from.id]);
});

// Bug: pages by reward lose or repeat rows where rewards are equal, put those without one first, or follow what came later.
test('by reward, either way, pages make one list: what has none is last, what is equal newest first, later rows stay out', () => {
  const { db } = t.store;
  const reward = (n: number, value: number | null): void => void db.run(sqlFor.updateTable('trajectories').set({ reward: value }).where('n', '=', n));
  const rewards = [1, null, -0.5, 1, 0.1 + 0.2, null, 0, 1, null, -0.5];
  const numbers = rewards.map((value, i) => {
    const { n } = record(t, [user(`p${i}`)]);
    reward(n, value);
    return n;
  });
  for (const [sort, order] of [['reward_high', [7, 3, 0, 4, 6, 9, 2, 8, 5, 1]], ['reward_low', [9, 2, 6, 4, 7, 3, 0, 8, 5, 1]]] as const) {
    for (const limit of [1, 3, 4]) {
      const seen: number[] = [];
      let page = listTrajectories(db, {}, { sort, limit });
      const upTo = page.newest;
      expect(upTo).toBeGreaterThanOrEqual(numbers.at(-1)!);
      for (;;) {
        seen.push(...page.items.map((i) => i.n));
        reward(record(t, [user('late')]).n, seen.length % 2);
        if (!page.more) break;
        page = listTrajectories(db, {}, { sort, after: page.items.at(-1), upTo, limit });
      }
      expect(seen.filter((n) => numbers.includes(n))).toEqual(order.map((i) => numbers[i]));
      expect(seen.every((n) => n <= upTo)).toBe(true);
      expect(new Set(seen).size).toBe(seen.length);
    }
  }
  expect(listTrajectories(db, { minReward: 0.9, query: 'p3' }, { sort: 'reward_high', limit: 5 }).items.map((i) => i.n)).toEqual([numbers[3]]);
});

// Bug: each page by reward reads every trajectory, 47 ms of 10,000.
test('a page by reward is read from its index', () => {
  const plans: string[] = [];
  class Explaining extends Database {
    override all<T>(query: Compilable<T>): T[] {
      const { sql, parameters } = query.compile();
      plans.push(JSON.stringify(this.connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)));
      return super.all(query);
    }
  }
  const db = new Explaining(t.store.db.connection.name);
  const after = { n: 3, reward: 0.5 };
  for (const sort of ['reward_high', 'reward_low'] as const) for (const page of [{}, { after, upTo: 9 }]) listTrajectories(db, {}, { sort, limit: 5, ...page });
  db.close();
  expect(plans).toHaveLength(4);
  for (const plan of plans) expect(plan).toContain('SCAN t USING INDEX trajectories_by_reward');
});
