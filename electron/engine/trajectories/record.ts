import { randomUUID } from 'node:crypto';
import {
  addUsage,
  type ExitReason,
  type Message,
  outcomeOf,
  type StoredMessage,
  type ToolSpec,
  type ToolStat,
  type TrajectoryKind,
  type TrajectorySummary,
  type Usage,
  ZERO_USAGE,
} from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { segmentForIndex } from '../store/segment.ts';
import type { LiveHub } from './live.ts';
import { getDetail } from './query.ts';
import { fromMessageRow, toMessageRow } from './rows.ts';

const TITLE_CHARS = 200;
const INDEX_CHARS_PER_MESSAGE = 20_000;
const INDEX_CHARS = 200_000;

export interface NewTrajectory {
  kind: TrajectoryKind;
  /** The person's request; its first line becomes the title. */
  prompt: string;
  runId?: string;
  promptIndex?: number;
  model: string;
  provider: string;
  scripted: boolean;
  systemPrompt: string;
  toolsets: readonly string[];
  tools: readonly ToolSpec[];
}

export interface TrajectoryEnd {
  exitReason: ExitReason;
  error: string | null;
  /** Reason for which the run leaves it out of its files. */
  discardReason?: string | null;
  /** All model calls, also those whose answer was thrown away; derived from the messages when absent. */
  apiCalls?: number;
  usage?: Usage;
}

/**
 * Writes one trajectory as it happens: every message is in the store when `append` returns. Counters are kept here and written at
 * the end; after a crash `recoverTrajectories` derives them from the messages.
 */
export class TrajectoryRecorder {
  readonly id: string;
  readonly n: number;
  readonly #db: Database;
  readonly #hub: LiveHub;
  readonly #now: () => number;
  #seq = 0;
  #counters = emptyCounters();
  #text: string[];
  #textChars: number;

  private constructor(db: Database, hub: LiveHub, now: () => number, id: string, n: number, title: string) {
    this.#db = db;
    this.#hub = hub;
    this.#now = now;
    this.id = id;
    this.n = n;
    this.#text = [title];
    this.#textChars = title.length;
  }

  /** Inserts the trajectory in state `running`. */
  static begin(db: Database, hub: LiveHub, now: () => number, init: NewTrajectory): TrajectoryRecorder {
    const id = randomUUID();
    const title = titleOf(init.prompt);
    const n = db.transaction(() => {
      const { lastInsertRowid } = db.run(
        sqlFor.insertInto('trajectories').values({
          id,
          kind: init.kind,
          title,
          run_id: init.runId ?? null,
          prompt_index: init.promptIndex ?? null,
          model: init.model,
          provider: init.provider,
          scripted: init.scripted ? 1 : 0,
          system_prompt: init.systemPrompt,
          toolsets: JSON.stringify(init.toolsets),
          tools: JSON.stringify(init.tools),
          created_at: now(),
        }),
      );
      indexText(db, lastInsertRowid, title);
      return lastInsertRowid;
    });
    hub.begin(id);
    hub.listChanged();
    return new TrajectoryRecorder(db, hub, now, id, n, title);
  }

  /** Stores a message and tells the subscribers. */
  append(message: Message): StoredMessage {
    const seq = this.#seq++;
    const row = this.#db.transaction(() => {
      const r = toMessageRow(this.#db, this.n, seq, message);
      this.#db.run(sqlFor.insertInto('messages').values(r));
      return r;
    });
    count(this.#counters, message);
    this.#collectText(message);
    const stored = fromMessageRow(row);
    this.#hub.message(this.id, stored);
    return stored;
  }

  /** Shows streamed text; nothing is stored. */
  delta(channel: 'content' | 'reasoning' | 'tool', text: string): void {
    this.#hub.delta(this.id, this.#seq, channel, text);
  }

  /** What was streamed since the last message is void (the call is made again). */
  discardDeltas(): void {
    this.#hub.discard(this.id);
  }

  /** Ends the trajectory. Runs inside the caller's transaction if there is one; call `announceEnd` after it has committed. */
  end(end: TrajectoryEnd): void {
    const c = this.#counters;
    const exit = { state: 'ended', exitReason: end.exitReason, discardReason: end.discardReason ?? null } as const;
    this.#db.transaction(() => {
      this.#db.run(
        sqlFor
          .updateTable('trajectories')
          .set({
            state: 'ended',
            outcome: outcomeOf(exit),
            exit_reason: end.exitReason,
            discard_reason: end.discardReason ?? null,
            error: end.error,
            ended_at: this.#now(),
            ...counterColumns(end.usage ? { ...c, usage: end.usage } : c),
            ...(end.apiCalls !== undefined ? { api_calls: end.apiCalls } : {}),
          })
          .where('n', '=', this.n),
      );
      indexText(this.#db, this.n, this.#text.join('\n'));
    });
  }

  /** Tells subscribers and lists; ends the live stream. */
  announceEnd(): TrajectorySummary {
    const detail = getDetail(this.#db, this.id);
    if (!detail) throw new Error(`Trajectory ${this.id} is gone`);
    this.#hub.end(this.id, detail);
    this.#hub.listChanged();
    return detail;
  }

  get counters(): Readonly<Counters> {
    return this.#counters;
  }

  #collectText(m: Message): void {
    const parts = visibleText(m);
    if (this.#textChars >= INDEX_CHARS || parts === '') return;
    this.#text.push(parts);
    this.#textChars += parts.length;
  }
}

export interface Counters {
  messages: number;
  turns: number;
  turnsWithReasoning: number;
  toolCalls: number;
  toolErrors: number;
  usage: Usage;
  toolStats: Record<string, ToolStat>;
}

function emptyCounters(): Counters {
  // models make up tool names: "__proto__" must be a name like any other
  return { messages: 0, turns: 0, turnsWithReasoning: 0, toolCalls: 0, toolErrors: 0, usage: ZERO_USAGE, toolStats: Object.create(null) as Record<string, ToolStat> };
}

function count(c: Counters, m: Message): void {
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

function counterColumns(c: Counters) {
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

function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0]!.trim();
  const chars = [...line];
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : line;
}

function visibleText(m: Message): string {
  if (m.role === 'system') return '';
  const parts = [m.content.slice(0, INDEX_CHARS_PER_MESSAGE)];
  if (m.reasoning) parts.push(m.reasoning.slice(0, INDEX_CHARS_PER_MESSAGE));
  for (const c of m.toolCalls ?? []) parts.push(c.name, c.arguments.slice(0, INDEX_CHARS_PER_MESSAGE));
  return parts.filter((p) => p !== '').join('\n');
}

function indexText(db: Database, n: number, text: string): void {
  db.run(sqlFor.deleteFrom('trajectory_text').where('rowid', '=', n));
  db.run(sqlFor.insertInto('trajectory_text').values({ rowid: n, text: segmentForIndex(text) }));
}

/**
 * Ends every trajectory that a killed engine left running, as `interrupted`, with counters from its stored messages and ended when the
 * last of them was stored: what is known of its duration. Returns how many. Call once after the home was acquired.
 */
export function recoverTrajectories(db: Database): number {
  const running = db.all(sqlFor.selectFrom('trajectories').select(['n', 'title', 'created_at']).where('state', '=', 'running'));
  for (const { n, title, created_at } of running) {
    db.transaction(() => {
      const c = emptyCounters();
      const text = [title];
      let endedAt = created_at;
      for (const row of db.all(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).orderBy('seq'))) {
        const m = fromMessageRow(row);
        count(c, m);
        text.push(visibleText(m));
        endedAt = Math.max(endedAt, m.createdAt);
      }
      db.run(
        sqlFor
          .updateTable('trajectories')
          .set({
            state: 'ended',
            outcome: 'partial',
            exit_reason: 'interrupted',
            error: 'The engine was stopped while this was running.',
            ended_at: endedAt,
            ...counterColumns(c),
          })
          .where('n', '=', n),
      );
      indexText(db, n, text.join('\n').slice(0, INDEX_CHARS));
    });
  }
  return running.length;
}
