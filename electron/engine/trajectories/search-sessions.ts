import { sql } from 'kysely';
import { type Database, sqlFor } from '../store/database.ts';
import { toMatchExpression } from '../store/segment.ts';
import type { SessionHit } from '../tools/types.ts';
import { fromMessageRow } from './rows.ts';

export interface SessionSearch {
  /** Empty: the latest sessions. */
  query: string;
  limit: number;
  /** Only what these said; null = everybody but the system. */
  roles: readonly string[] | null;
  /** The session that asks. */
  without: string | null;
}

/** Trajectories that are looked into, best first, until enough of them have a passage to show. */
const CANDIDATES = 60;
const MAX_EXCERPTS = 3;
const EXCERPT_CHARS = 600;
const OWN_NAME = 'session_search';
/** Of one message so much is looked through. */
const SCAN_CHARS = 200_000;
const MAX_BLOB_BYTES = 4 * 1024 * 1024;

interface Candidate {
  n: number;
  id: string;
  session_id: string | null;
  title: string;
  at: number;
}

/**
 * Earlier chats for `session_search`: those with all words first, then those with some; of each session the branch that fits best,
 * with the passages around the words. Deleted ones, batch trajectories, what the harness wrote and texts of skills are left out.
 */
export function searchSessions(db: Database, { query, limit, roles, without }: SessionSearch): SessionHit[] {
  const needles = needlesOf(query);
  if (needles.length === 0) return latest(db, limit, roles, without);
  const hits = new Map<string, SessionHit>();
  for (const match of expressionsOf(query)) {
    for (const candidate of candidates(db, match, without)) {
      if (hits.size >= limit) break;
      const key = candidate.session_id ?? candidate.id;
      if (hits.has(key)) continue;
      const excerpts = excerptsOf(db, candidate.n, needles, roles);
      const inTitle = roles === null && excerpts.length === 0 && needles.some((needle) => fold(candidate.title).includes(needle));
      if (excerpts.length > 0) hits.set(key, hit(candidate, excerpts));
      else if (inTitle) hits.set(key, hit(candidate, opening(db, candidate.n, roles)));
    }
  }
  return [...hits.values()];
}

function hit(candidate: Candidate, excerpts: SessionHit['excerpts']): SessionHit {
  return { sessionId: candidate.session_id, trajectoryId: candidate.id, title: candidate.title, when: candidate.at, excerpts };
}

/** Chats that may be found, with the title and time of their session. */
function chats(without: string | null) {
  return sqlFor
    .selectFrom('trajectories as t')
    .leftJoin('sessions as s', 's.id', 't.session_id')
    .select(['t.n', 't.id', 't.session_id', sql<string>`coalesce(nullif(s.title, ''), t.title)`.as('title'), sql<number>`coalesce(t.ended_at, t.created_at)`.as('at')])
    .where('t.kind', 'in', ['chat', 'background'])
    .where('t.deleted_at', 'is', null)
    .where('s.deleted_at', 'is', null)
    .$if(without !== null, (q) => q.where((e) => e.or([e('t.session_id', 'is', null), e('t.session_id', '!=', without)])));
}

function candidates(db: Database, match: string, without: string | null): Candidate[] {
  const query = chats(without)
    .innerJoin('trajectory_text as x', 'x.rowid', 't.n')
    .where(sql<boolean>`x.trajectory_text MATCH ${match}`)
    .orderBy(sql`x.rank`)
    .orderBy('t.n', 'desc')
    .limit(CANDIDATES);
  return db.all(query) as Candidate[];
}

/** The latest sessions, each by the branch that is shown. */
function latest(db: Database, limit: number, roles: readonly string[] | null, without: string | null): SessionHit[] {
  const query = chats(without)
    .where((e) => e.or([e('s.id', 'is', null), e('s.tip', '=', e.ref('t.id'))]))
    .orderBy(sql`coalesce(s.updated_at, t.ended_at, t.created_at)`, 'desc')
    .orderBy('t.n', 'desc')
    .limit(limit);
  return (db.all(query) as Candidate[]).map((candidate) => hit(candidate, opening(db, candidate.n, roles)));
}

/** How a chat began and where it is: its first request and its last answer. */
function opening(db: Database, n: number, roles: readonly string[] | null): SessionHit['excerpts'] {
  const one = (role: string, order: 'asc' | 'desc') =>
    db.get(
      sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('role', '=', role).where('synthetic', '=', 0).where('content', '!=', '').orderBy('seq', order).limit(1),
    );
  return [one('user', 'asc'), one('assistant', 'desc')]
    .filter((row) => row !== undefined)
    .filter((row) => roles === null || roles.includes(row.role))
    .map((row) => ({ role: row.role, seq: row.seq, text: around(row.content, 0, 0) }));
}

/** Passages with the most different words first, then in the order they were said. */
function excerptsOf(db: Database, n: number, needles: readonly string[], roles: readonly string[] | null): SessionHit['excerpts'] {
  const wanted = roles ?? ['user', 'assistant', 'tool'];
  const rows = db.iterate(
    sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('role', 'in', [...wanted]).where('synthetic', '=', 0).where(sql<boolean>`note IS NOT 'skill'`).orderBy('seq'),
  );
  const found: { words: number; excerpt: SessionHit['excerpts'][number] }[] = [];
  for (const row of rows) {
    // an earlier search holds the words it looked for, and what it found is found by itself
    if (row.tool_name === OWN_NAME) continue;
    // the whole value of a large message only when it is not beyond reason
    const message = fromMessageRow(row, (row.content_bytes ?? 0) <= MAX_BLOB_BYTES ? db : undefined);
    const texts = [message.content, ...(message.toolCalls ?? []).filter((call) => call.name !== OWN_NAME).map((call) => `${call.name} ${call.arguments}`), message.reasoning ?? ''];
    for (const text of texts) {
      const spot = bestSpot(text.slice(0, SCAN_CHARS), needles);
      if (!spot) continue;
      found.push({ words: spot.words, excerpt: { role: row.role, seq: row.seq, text: around(text, spot.from, spot.to) } });
      break;
    }
  }
  const best = found.sort((a, b) => b.words - a.words || a.excerpt.seq - b.excerpt.seq).slice(0, MAX_EXCERPTS);
  return best.map(({ excerpt }) => excerpt).sort((a, b) => a.seq - b.seq);
}

/** Where a word stands first, and how many of the words are in the text at all. */
function bestSpot(text: string, needles: readonly string[]): { from: number; to: number; words: number } | null {
  const folded = fold(text);
  const spots = needles.map((needle) => ({ at: folded.indexOf(needle), length: needle.length })).filter(({ at }) => at >= 0);
  // the longest word is the one that says most
  const spot = spots.sort((a, b) => b.length - a.length)[0];
  if (!spot) return null;
  // folding changes lengths only where there are compatibility forms: near enough for a passage
  const scale = folded.length === 0 ? 1 : text.length / folded.length;
  const from = Math.floor(spot.at * scale);
  return { from, to: Math.min(text.length, from + spot.length), words: spots.length };
}

/** About EXCERPT_CHARS of the text around a place, at word borders where there are any. */
function around(text: string, from: number, to: number): string {
  if (text.length <= EXCERPT_CHARS) return text.trim().toWellFormed();
  const room = EXCERPT_CHARS - (to - from);
  let start = Math.max(0, Math.min(from - Math.floor(room / 3), text.length - EXCERPT_CHARS));
  let end = Math.min(text.length, start + EXCERPT_CHARS);
  if (start > 0) start = Math.max(start, Math.min(from, text.indexOf(' ', start) + 1 || start));
  if (end < text.length) end = Math.max(to, Math.max(text.lastIndexOf(' ', end), end - 40));
  return `${start > 0 ? '…' : ''}${text.slice(start, end).trim()}${end < text.length ? '…' : ''}`.toWellFormed();
}

/** As the index compares: compatibility form, small letters, no diacritics. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{Mn}/gu, '').toLowerCase();
}

/** What is looked for in messages: words and phrases, each as `fold` writes it. */
function needlesOf(query: string): string[] {
  const parts = [...query.matchAll(/"([^"]*)"?|([^\s"]+)/g)].map((part) => fold(part[1] ?? part[2] ?? '').trim());
  const words = parts.map((part) => part.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
  return [...new Set(words)].filter((word) => word !== '');
}

/** FTS expressions, strictest first: all words, then any of them. Models write OR between words; it is not a word to look for. */
function expressionsOf(query: string): string[] {
  const text = query.replace(/(^|\s)(AND|OR|NOT)(?=\s|$)/g, ' ');
  const all = toMatchExpression(text);
  const parts = [...text.matchAll(/"[^"]*"?|[^\s"]+/g)].map(([part]) => toMatchExpression(part)).filter((part) => part !== null);
  const any = parts.length > 1 ? parts.map((part) => `(${part})`).join(' OR ') : null;
  return [all, any].filter((expression) => expression !== null);
}
