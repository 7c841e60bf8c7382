import type { SessionSummary } from '#shared/contract/chats.ts';
import type { ChatChange } from '../feed.tsx';

/** What of all chats the list holds. */
export interface SessionPages {
  items: ReadonlyMap<string, SessionSummary>;
  /** Older ones are not here yet. */
  more: boolean;
  /** The last one of the newest page: where the next page begins. */
  before: { updatedAt: number; id: string } | null;
}

export interface SessionFilter {
  query: string;
  archived: boolean;
}

/** Adds a page. */
export function withPage(pages: SessionPages | null, page: { items: readonly SessionSummary[]; more: boolean }): SessionPages {
  const last = page.items.at(-1);
  const items = new Map(pages?.items);
  for (const item of page.items) items.set(item.id, item);
  return { items, more: page.more, before: last ? { updatedAt: last.updatedAt, id: last.id } : (pages?.before ?? null) };
}

/** Nothing was ever said in it and nothing is being written: lists leave it out. */
export function isEmpty(session: Pick<SessionSummary, 'messageCount' | 'hasDraft' | 'state'>): boolean {
  return session.messageCount === 0 && !session.hasDraft && session.state === 'idle';
}

/**
 * The list after changes. What matches a search is for the engine to say: while one searches, changes only touch what was found.
 * Older ones than the last page are left to their page, else a page would be skipped.
 */
export function withChange(pages: SessionPages, { changed, removed }: ChatChange, { query, archived }: SessionFilter): SessionPages {
  const items = new Map(pages.items);
  for (const id of removed) items.delete(id);
  for (const session of changed) {
    const here = items.has(session.id);
    const belongs = session.archived === archived && !isEmpty(session);
    if (!belongs) items.delete(session.id);
    else if (here || (query === '' && (!pages.more || session.pinned || pages.before === null || session.updatedAt >= pages.before.updatedAt))) items.set(session.id, session);
  }
  return { ...pages, items };
}

export type GroupKey = 'pinned' | 'running' | 'today' | 'yesterday' | 'week' | 'archived' | `month:${number}`;
export type ListRow = { kind: 'head'; key: GroupKey } | { kind: 'session'; session: SessionSummary };

const DAY_MS = 86_400_000;

function groupOf(session: SessionSummary, today: number): GroupKey {
  if (session.pinned) return 'pinned';
  if (session.state !== 'idle') return 'running';
  if (session.updatedAt >= today) return 'today';
  // A day of 23 or 25 hours must not move the border: half a day of slack, then the calendar day.
  const yesterday = new Date(today - DAY_MS / 2).setHours(0, 0, 0, 0);
  if (session.updatedAt >= yesterday) return 'yesterday';
  if (session.updatedAt >= yesterday - 5 * DAY_MS) return 'week';
  const at = new Date(session.updatedAt);
  return `month:${new Date(at.getFullYear(), at.getMonth(), 1).getTime()}`;
}

/** Pinned, running, then by day; within a group newest first. Running ones keep their order while they work, so that nothing jumps. */
export function rowsOf(sessions: Iterable<SessionSummary>, now: number): ListRow[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const groups = new Map<GroupKey, SessionSummary[]>();
  for (const session of sessions) {
    const key = groupOf(session, today);
    groups.set(key, [...(groups.get(key) ?? []), session]);
  }
  const FIRST: GroupKey[] = ['pinned', 'running', 'today', 'yesterday', 'week'];
  const months = [...groups.keys()].filter((key) => key.startsWith('month:')).toSorted((a, b) => Number(b.slice(6)) - Number(a.slice(6)));
  const byTime = (key: GroupKey) => (a: SessionSummary, b: SessionSummary) =>
    (key === 'running' || key === 'pinned' ? b.createdAt - a.createdAt : b.updatedAt - a.updatedAt) || (a.id < b.id ? 1 : -1);
  return [...FIRST, ...months].flatMap((key) => {
    const found = groups.get(key);
    return found ? [{ kind: 'head' as const, key }, ...found.toSorted(byTime(key)).map((session) => ({ kind: 'session' as const, session }))] : [];
  });
}
