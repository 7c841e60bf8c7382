import { expect, test } from 'vitest';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { rowsOf, withChange, withPage } from './sessions.ts';

const NOW = new Date(2026, 10, 30, 15, 0).getTime();

function session(id: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id, title: id, provider: 'offline', model: 'demo', state: 'idle', activity: null, exitReason: 'completed', error: null, unread: false,
    pinned: false, archived: false, hasDraft: false, messageCount: 2, costUsd: null, createdAt: NOW, updatedAt: NOW, ...more,
  };
}

const keys = (sessions: SessionSummary[]): string[] => rowsOf(sessions, NOW).map((row) => (row.kind === 'head' ? `[${row.key}]` : row.session.id));

// Bug: "yesterday" is counted in hours, so that a chat of last evening stands under today, or one of midnight under the wrong day.
test('groups follow the calendar of the person', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 0).getTime();
  expect(keys([session('old', { updatedAt: new Date(2026, 8, 3).getTime() }), session('y', { updatedAt: at(29, 23) }), session('t', { updatedAt: at(30, 0) }), session('w', { updatedAt: at(26, 9) })])).toEqual([
    '[today]', 't', '[yesterday]', 'y', '[week]', 'w', `[month:${new Date(2026, 8, 1).getTime()}]`, 'old',
  ]);
});

// Bug: every message of a running chat moves it to the top, so that the row under the pointer is another one.
test('running chats keep their places while they work', () => {
  const a = session('a', { state: 'running', createdAt: 1, updatedAt: NOW });
  const b = session('b', { state: 'running', createdAt: 2, updatedAt: NOW - 1 });
  expect(keys([a, b])).toEqual(['[running]', 'b', 'a']);
});

// Bug: a change of an old chat puts it into the list, and the page that it belongs to is asked from the wrong place.
test('a change of a chat that is not loaded yet waits for its page', () => {
  const pages = withPage(null, { items: [session('a')], more: true });
  const after = withChange(pages, { changed: [session('z', { updatedAt: NOW - 1_000 })], removed: [] }, { query: '', archived: false });
  expect([...after.items.keys()]).toEqual(['a']);
});

// Bug: archiving, deleting or emptying a chat leaves a dead row.
test('what no longer belongs leaves the list', () => {
  const pages = withPage(null, { items: [session('a'), session('b'), session('c')], more: false });
  const after = withChange(pages, { changed: [session('a', { archived: true }), session('b', { messageCount: 0 })], removed: ['c'] }, { query: '', archived: false });
  expect(after.items.size).toBe(0);
});

// Bug: while one searches, every chat that runs comes into the results.
test('a search takes in nothing that the engine did not find', () => {
  const pages = withPage(null, { items: [session('a')], more: false });
  const after = withChange(pages, { changed: [session('new'), session('a', { title: 'A' })], removed: [] }, { query: 'x', archived: false });
  expect([...after.items.values()].map((s) => s.title)).toEqual(['A']);
});
