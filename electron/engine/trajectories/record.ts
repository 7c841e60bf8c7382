import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  addUsage,
  type ExitReason,
  type Message,
  outcomeOf,
  type StoredMessage,
  type ToolSpec,
  type TrajectoryKind,
  type Usage,
} from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { count, type Counters, counterColumns, derive, emptyCounters, indexText, SearchedText } from './derive.ts';
import { type LiveHub, staysOpen } from './live.ts';
import { getDetail } from './query.ts';
import { fromMessageRow, toMessageRow } from './rows.ts';

const TITLE_CHARS = 200;

/** Rows of messages have all columns, always in the same order. */
let insertMessage: string | null = null;

export interface NewTrajectory {
  kind: TrajectoryKind;
  /** The person's request; its first line becomes the title. */
  prompt: string;
  runId?: string;
  promptIndex?: number;
  /** Which attempt at that prompt, from 0. */
  rollout?: number;
  /** Chats: the session this is a branch of. */
  sessionId?: string;
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
 * the end (of each turn, in a chat); after a crash `recoverTrajectories` derives them from the messages.
 */
export class TrajectoryRecorder {
  readonly id: string;
  readonly n: number;
  readonly #db: Database;
  readonly #hub: LiveHub;
  readonly #now: () => number;
  #seq = 0;
  #counters = emptyCounters();
  readonly #text: SearchedText;
  /** What was paid for before this turn; the counters then say what the messages say. */
  #paid: { usage: Usage; apiCalls: number } | null = null;
  /** A chat is rarely at rest: its count is kept up with each message. */
  readonly #countsAtOnce: boolean;

  private constructor(db: Database, hub: LiveHub, now: () => number, id: string, n: number, title: string, countsAtOnce: boolean) {
    this.#db = db;
    this.#hub = hub;
    this.#now = now;
    this.id = id;
    this.n = n;
    this.#countsAtOnce = countsAtOnce;
    this.#text = new SearchedText(title);
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
          rollout: init.rollout ?? 0,
          session_id: init.sessionId ?? null,
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
    return new TrajectoryRecorder(db, hub, now, id, n, title, staysOpen(init));
  }

  /**
   * Goes on with a trajectory for the next turn of a chat: it is `running` again, without an exit reason, with the model that answers
   * now. Nobody else may be writing it.
   * @param stored all its messages.
   */
  static reopen(db: Database, hub: LiveHub, now: () => number, id: string, by: { model: string; provider: string; scripted: boolean }, stored: readonly Message[]): TrajectoryRecorder {
    const before = getDetail(db, id);
    if (!before) throw new Error(`Trajectory ${id} is gone`);
    const recorder = new TrajectoryRecorder(db, hub, now, id, before.n, before.title, true);
    recorder.#paid = { usage: before.usage, apiCalls: before.apiCalls };
    recorder.#seq = stored.length;
    for (const m of stored) {
      count(recorder.#counters, m);
      recorder.#text.add(m);
    }
    db.run(
      sqlFor
        .updateTable('trajectories')
        .set({ state: 'running', outcome: 'running', exit_reason: null, error: null, ended_at: null, model: by.model, provider: by.provider, scripted: before.scripted || by.scripted ? 1 : 0 })
        .where('n', '=', before.n),
    );
    hub.begin(id, getDetail(db, id));
    hub.listChanged();
    return recorder;
  }

  /** Stores a message and tells the subscribers. Gives it as it is, numbered: they see only the first part of a large value, a model the whole. */
  append(message: Message): StoredMessage {
    const stored = this.#db.transaction(() => this.store(message));
    this.announce(message, stored);
    return { ...message, seq: stored.seq };
  }

  /** `append` in two parts: this one inside a transaction of the caller's, `announce` after it has committed, in the same order. */
  store(message: Message): StoredMessage {
    const seq = this.#seq++;
    const row = toMessageRow(this.#db, this.n, seq, message);
    insertMessage ??= sqlFor.insertInto('messages').values(row).compile().sql;
    this.#db.runSql(insertMessage, Object.values(row));
    if (this.#countsAtOnce) this.#db.run(sqlFor.updateTable('trajectories').set({ message_count: seq + 1 }).where('n', '=', this.n));
    return fromMessageRow(row);
  }

  announce(message: Message, stored: StoredMessage): void {
    count(this.#counters, message);
    this.#text.add(message);
    this.#hub.message(this.id, stored);
  }

  /** Shows streamed text; nothing is stored. */
  delta(channel: 'content' | 'reasoning' | 'tool', text: string): void {
    this.#hub.delta(this.id, this.#seq, channel, text);
  }

  /** What was streamed since the last message is void (the call is made again). */
  discardDeltas(): void {
    this.#hub.discard(this.id);
  }

  /** Shows that a call of the last assistant message runs, and what it prints; nothing is stored. */
  toolStart(callId: string, name: string, summary: string): void {
    this.#hub.toolStart(this.id, { callId, name, summary, startedAt: this.#now() });
  }

  toolOutput(callId: string, text: string): void {
    this.#hub.toolOutput(this.id, callId, text);
  }

  /** Another model answers from now on. */
  answeredBy({ model, provider, scripted }: { model: string; provider: string; scripted: boolean }): void {
    this.#db.run(sqlFor.updateTable('trajectories').set({ model, provider, ...(scripted ? { scripted: 1 } : {}) }).where('n', '=', this.n));
  }

  /** The tools that are offered from now on; those that were offered earlier stay listed, as messages may call them. */
  offer(toolsets: readonly string[], tools: readonly ToolSpec[]): void {
    const row = this.#db.get(sqlFor.selectFrom('trajectories').select(['tools', 'toolsets']).where('n', '=', this.n));
    if (!row) return;
    const known = new Set(tools.map((t) => t.name));
    const earlier = (JSON.parse(row.tools) as ToolSpec[]).filter((t) => !known.has(t.name));
    const sets = [...new Set([...(JSON.parse(row.toolsets) as string[]), ...toolsets])];
    this.#db.run(sqlFor.updateTable('trajectories').set({ tools: JSON.stringify([...earlier, ...tools]), toolsets: JSON.stringify(sets) }).where('n', '=', this.n));
  }

  /**
   * Ends the trajectory; `usage` and `apiCalls` are those of this turn. Runs inside the caller's transaction if there is one; call
   * `announceEnd` after it has committed.
   */
  end(end: TrajectoryEnd): void {
    const c = this.#counters;
    const paid = this.#paid;
    const usage = end.usage && (paid ? addUsage(paid.usage, end.usage) : end.usage);
    const apiCalls = end.apiCalls === undefined ? undefined : end.apiCalls + (paid?.apiCalls ?? 0);
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
            ...counterColumns(usage ? { ...c, usage } : c),
            ...(apiCalls !== undefined ? { api_calls: apiCalls } : {}),
          })
          .where('n', '=', this.n),
      );
      indexText(this.#db, this.n, this.#text.toString());
    });
  }

  /** Tells subscribers and lists; ends the live stream of all but chats. */
  announceEnd(): void {
    this.#hub.end(this.id, () => {
      const detail = getDetail(this.#db, this.id);
      if (!detail) throw new Error(`Trajectory ${this.id} is gone`);
      return detail;
    });
    this.#hub.listChanged();
  }

  get counters(): Readonly<Counters> {
    return this.#counters;
  }
}

function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0]!.trim();
  const chars = [...line];
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : line;
}

/**
 * Ends every trajectory that a killed engine left running, as `interrupted`, with counters from its stored messages and ended when the
 * last of them was stored: what is known of its duration. A chat it belongs to is to be looked at. Returns how many. Call once after the
 * home was acquired.
 * @param runId only those of this run: nobody may be working on it.
 */
export function recoverTrajectories(db: Database, runId?: string): number {
  const running = db.all(
    sqlFor
      .selectFrom('trajectories')
      .select(['n', 'id', 'title', 'created_at'])
      // a literal: only then the partial index is used
      .where(sql<boolean>`state = 'running'`)
      .$if(runId !== undefined, (q) => q.where('run_id', '=', runId!)),
  );
  for (const { n, id, title, created_at } of running) {
    db.transaction(() => {
      const { counters, text, endedAt } = derive(db, n, title);
      db.run(
        sqlFor
          .updateTable('trajectories')
          .set({
            state: 'ended',
            outcome: 'partial',
            exit_reason: 'interrupted',
            error: 'The engine was stopped while this was running.',
            ended_at: Math.max(endedAt, created_at),
            ...counterColumns(counters),
          })
          .where('n', '=', n),
      );
      indexText(db, n, text);
      db.run(sqlFor.updateTable('sessions').set({ unread: 1 }).where('tip', '=', id));
    });
  }
  return running.length;
}
