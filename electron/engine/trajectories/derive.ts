import { addUsage, type Message, type StoredMessage, type ToolStat, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { segmentForIndex } from '../store/segment.ts';
import { fromMessageRow } from './rows.ts';

const INDEX_CHARS_PER_MESSAGE = 20_000;
/** Of one trajectory: its beginning and, of a longer one, its end. Indexing that much anew takes about 0.1 s, of Chinese 0.4 s. */
const INDEX_HEAD_CHARS = 200_000;
const INDEX_TAIL_CHARS = 800_000;

export interface Counters {
  messages: number;
  turns: number;
  turnsWithReasoning: number;
  toolCalls: number;
  toolErrors: number;
  usage: Usage;
  toolStats: Record<string, ToolStat>;
}

/** All zero. */
export function emptyCounters(): Counters {
  // models make up tool names: "__proto__" must be a name like any other
  return { messages: 0, turns: 0, turnsWithReasoning: 0, toolCalls: 0, toolErrors: 0, usage: ZERO_USAGE, toolStats: Object.create(null) as Record<string, ToolStat> };
}

/** Adds one message. */
export function count(c: Counters, m: Message): void {
  c.messages++;
  if (m.role === 'assistant') {
    c.turns++;
    if (m.reasoning?.trim()) c.turnsWithReasoning++;
    c.toolCalls += m.toolCalls?.length ?? 0;
    for (const call of m.toolCalls ?? []) statOf(c, call.name).count++;
    if (m.usage) c.usage = addUsage(c.usage, m.usage);
  } else if (m.role === 'tool') {
    if (m.isError) c.toolErrors++;
    const stat = statOf(c, m.toolName ?? 'unknown');
    if (m.isError) stat.failure++;
    else stat.success++;
  }
}

function statOf(c: Counters, name: string): ToolStat {
  return (c.toolStats[name] ??= { count: 0, success: 0, failure: 0 });
}

/** As columns of `trajectories`. */
export function counterColumns(c: Counters) {
  return {
    message_count: c.messages,
    turns: c.turns,
    turns_with_reasoning: c.turnsWithReasoning,
    tool_calls: c.toolCalls,
    tool_errors: c.toolErrors,
    api_calls: c.turns,
    tool_stats: JSON.stringify(c.toolStats),
    prompt_tokens: c.usage.promptTokens,
    completion_tokens: c.usage.completionTokens,
    reasoning_tokens: c.usage.reasoningTokens,
    cached_tokens: c.usage.cachedTokens,
  };
}

/** What a person can search for in a message, shortened. */
function visibleText(m: Message): string {
  if (m.role === 'system') return '';
  const parts = [m.content.slice(0, INDEX_CHARS_PER_MESSAGE)];
  if (m.reasoning) parts.push(m.reasoning.slice(0, INDEX_CHARS_PER_MESSAGE));
  for (const c of m.toolCalls ?? []) parts.push(c.name, c.arguments.slice(0, INDEX_CHARS_PER_MESSAGE));
  return parts.filter((p) => p !== '').join('\n');
}

/** Collects what is searched of one trajectory; of a very long one the middle is left out. */
export class SearchedText {
  readonly #head: string[];
  #headChars: number;
  readonly #tail: string[] = [];
  #tailChars = 0;

  constructor(title: string) {
    this.#head = [title];
    this.#headChars = title.length;
  }

  add(message: Message): void {
    const text = visibleText(message);
    if (text === '') return;
    if (this.#headChars < INDEX_HEAD_CHARS) {
      this.#head.push(text);
      this.#headChars += text.length;
      return;
    }
    this.#tail.push(text);
    this.#tailChars += text.length;
    while (this.#tailChars > INDEX_TAIL_CHARS) this.#tailChars -= this.#tail.shift()?.length ?? 0;
  }

  toString(): string {
    return [...this.#head, ...this.#tail].join('\n');
  }
}

/** Replaces what is searched of a trajectory. */
export function indexText(db: Database, n: number, text: string): void {
  db.runSql('DELETE FROM trajectory_text WHERE rowid = ?', [n]);
  db.runSql('INSERT INTO trajectory_text (rowid, text) VALUES (?, ?)', [n, segmentForIndex(text)]);
}

/** Counters and text of a trajectory, from its stored messages. */
export function derive(db: Database, n: number, title: string): { counters: Counters; text: string; last: StoredMessage | null; endedAt: number } {
  const counters = emptyCounters();
  const text = new SearchedText(title);
  let last: StoredMessage | null = null;
  let endedAt = 0;
  for (const row of db.all(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).orderBy('seq'))) {
    last = fromMessageRow(row);
    count(counters, last);
    text.add(last);
    endedAt = Math.max(endedAt, last.createdAt);
  }
  return { counters, text: text.toString(), last, endedAt };
}

