import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ListPlace } from '#shared/contract/trajectories.ts';
import { sqlFor } from '../store/database.ts';
import { countTrajectories, getContent, getDetail, getMessages, listTrajectories } from './query.ts';
import { recoverTrajectories } from './record.ts';
import { PREVIEW_CHARS } from './rows.ts';
import { assistant, record, testStore, toolResult, user } from './testing.ts';

let t: ReturnType<typeof testStore>;
beforeEach(() => {
  t = testStore();
});
afterEach(() => t.close());

describe('recording', () => {
  test('every field of a message comes back as it went in', () => {
    const messages = [
      user('count 日志'),
      assistant('on it', {
        reasoning: 'hm',
        reasoningDetails: [{ type: 'reasoning.encrypted', data: 'x' }],
        toolCalls: [{ id: 'c1', name: 'terminal', arguments: '{"n": 1.0}' }],
        finishReason: 'tool_calls',
        usage: { promptTokens: 5, completionTokens: 6, reasoningTokens: 2, cachedTokens: 1 },
        durationMs: 12,
      }),
      toolResult('c1', 'terminal', '{"error": "no"}', { isError: true }),
      { role: 'user' as const, content: 'go on', synthetic: true, createdAt: 4 },
      assistant('done'),
    ];
    const r = record(t, messages);
    expect(getMessages(t.store.db, r.n, -1, 100)).toEqual(messages.map((m, seq) => ({ ...m, seq })));
    expect(getDetail(t.store.db, r.id)).toMatchObject({
      turns: 2,
      toolCalls: 1,
      toolErrors: 1,
      usage: { promptTokens: 5, completionTokens: 6 },
      toolStats: { terminal: { count: 1, success: 0, failure: 1 } },
      exitReason: 'completed',
    });
  });

  test('a large content is cut in lists, whole on demand, and gone with its trajectory', () => {
    const big = `${'界'.repeat(PREVIEW_CHARS)}😀`.repeat(4);
    const r = record(t, [user('x'), toolResult('c', 'read_file', big)]);
    const cut = getMessages(t.store.db, r.n, 0, 1)[0]!;
    expect(cut.content.length).toBeLessThanOrEqual(PREVIEW_CHARS);
    expect(cut.contentBytes).toBe(Buffer.byteLength(big));
    expect(cut.content.isWellFormed()).toBe(true);
    expect(getContent(t.store.db, r.n, 1)).toBe(big);
    t.store.db.run(sqlFor.deleteFrom('trajectories').where('n', '=', r.n));
    expect(t.store.db.all(sqlFor.selectFrom('blobs').select('id'))).toEqual([]);
    expect(listTrajectories(t.store.db, { query: 'x' }, { limit: 10 }).items).toEqual([]);
  });

  test('what a killed engine left running ends as interrupted, with its counters and findable by its text', () => {
    const r = record(t, [user('first'), assistant('needle', { toolCalls: [{ id: 'c', name: 'terminal', arguments: '{}' }] })], {}, false);
    expect(recoverTrajectories(t.store.db)).toBe(1);
    expect(getDetail(t.store.db, r.id)).toMatchObject({ state: 'ended', exitReason: 'interrupted', turns: 1, toolCalls: 1, messageCount: 2 });
    expect(listTrajectories(t.store.db, { query: 'needle' }, { limit: 10 }).items).toHaveLength(1);
    expect(recoverTrajectories(t.store.db)).toBe(0);
  });

  // hours of duration for a run that was killed in the evening and found in the morning
  test('what was interrupted ended with its last message, or when it began', () => {
    const at = Date.now() + 5_000;
    const spoke = record(t, [user('first'), { ...assistant('last'), createdAt: at }], {}, false);
    const silent = record(t, [], {}, false);
    recoverTrajectories(t.store.db);
    expect(getDetail(t.store.db, spoke.id)?.endedAt).toBe(at);
    const { createdAt, endedAt } = getDetail(t.store.db, silent.id) ?? {};
    expect(endedAt).toBe(createdAt);
  });
});

describe('lists', () => {
  test('pages neither repeat nor lose a row, also when rows are added between pages', () => {
    for (let i = 0; i < 25; i++) record(t, [user(`prompt ${i}`), assistant('ok')]);
    const seen: string[] = [];
    let after: ListPlace | undefined;
    do {
      const page = listTrajectories(t.store.db, {}, { after, limit: 10 });
      seen.push(...page.items.map((i) => i.title));
      after = page.more ? page.items.at(-1) : undefined;
      record(t, [user('late'), assistant('ok')]);
    } while (after !== undefined);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `prompt ${24 - i}`));
  });

  test('filters combine, and each facet counts without its own condition', () => {
    record(t, [user('alpha'), assistant('ok')], { model: 'a' });
    record(t, [user('alpha beta'), assistant('ok')], { model: 'b' });
    record(t, [user('beta'), assistant('ok')], { model: 'b' }, false);
    const counts = countTrajectories(t.store.db, { models: ['b'], outcomes: ['completed'] });
    expect(counts).toMatchObject({ total: 3, matching: 1, outcomes: { completed: 1, running: 1 } });
    expect(counts.models).toEqual(expect.arrayContaining([{ model: 'a', count: 1 }, { model: 'b', count: 1 }]));
    expect(listTrajectories(t.store.db, { query: 'alpha', models: ['b'] }, { limit: 10 }).items.map((i) => i.title)).toEqual(['alpha beta']);
  });

  test('the reader worker answers the same as the writer, and its errors come back', async () => {
    record(t, [user('gamma'), assistant('ok')]);
    const input = { filter: { query: 'gamma' }, limit: 10 };
    expect(await t.store.readers.run('list', input)).toEqual(listTrajectories(t.store.db, input.filter, { limit: 10 }));
    await expect(t.store.readers.run('list', { filter: {}, limit: Number.NaN })).rejects.toThrow();
    expect((await t.store.readers.run('counts', { filter: {} })).total).toBe(1);
  });
});
