import type { z } from 'zod';
import { sql } from 'kysely';
import type { Task, tasksContract } from '#shared/contract/tasks.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import type { ChatService } from '../chat/service.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { DelegationError } from './errors.ts';

type Contract = typeof tasksContract;
type Input<K extends keyof Contract> = NonNullable<Contract[K]['~orpc']['inputSchema']> extends z.ZodType<infer T> ? T : never;
type Nothing = Record<never, never>;

const SHOWN = 200;
const PROMPT_CHARS = 1_000;
const RESULT_CHARS = 1_000;

export interface TaskDeps {
  db: Database;
  chats: Pick<ChatService, 'background' | 'remove' | 'restore'>;
}

/** A task as the store has it. */
interface Row {
  id: string;
  title: string;
  model: string;
  queue: string;
  unread: number;
  deleted_at: number | null;
  max_turns: number;
  created_at: number;
  updated_at: number;
  trajectory_id: string | null;
  state: string | null;
  exit_reason: ExitReason | null;
  error: string | null;
  ended_at: number | null;
  prompt: string | null;
  result: string | null;
  turns: number;
  tokens: number;
  cost_usd: number | null;
}

/**
 * Tasks of the background. All that is shown of one but its activity is read from the store, so it is right after a restart and for as long
 * as the task may take. Expected failures are DelegationErrors and ChatErrors.
 */
export class TaskService {
  readonly #deps: TaskDeps;

  constructor(deps: TaskDeps) {
    this.#deps = deps;
  }

  async start({ prompt, ...settings }: Input<'start'>): Promise<Task> {
    return this.#get(await this.#deps.chats.background.start(prompt, settings));
  }

  async *watch(signal?: AbortSignal): AsyncGenerator<{ items: Task[] }> {
    let items: Task[] | null = null;
    for await (const ids of this.#deps.chats.background.changes(signal)) {
      if (items !== null && !items.some(({ id }) => ids.includes(id)) && !this.#anyOf(ids)) continue;
      items = this.#list();
      yield { items };
    }
  }

  async stop({ id }: Input<'stop'>): Promise<Task> {
    await this.#deps.chats.background.stop(id);
    return this.#get(id);
  }

  async resume({ id }: Input<'resume'>): Promise<Task> {
    await this.#deps.chats.background.resume(id);
    return this.#get(id);
  }

  seen({ id }: Input<'seen'>): Nothing {
    this.#deps.chats.background.seen(id);
    return {};
  }

  async remove({ id }: Input<'remove'>): Promise<Nothing> {
    this.#get(id);
    return this.#deps.chats.remove({ id });
  }

  restore({ id }: Input<'restore'>): Task {
    this.#deps.chats.restore({ id });
    return this.#get(id);
  }

  /** For the status line. */
  counts(): { running: number; unread: number } {
    const { db, chats } = this.#deps;
    const unread = db.get(sqlFor.selectFrom('sessions').select(sql<number>`count(*)`.as('n')).where(sql<boolean>`background = 1`).where('unread', '=', 1).where('deleted_at', 'is', null));
    return { running: chats.background.running(), unread: unread?.n ?? 0 };
  }

  #get(id: string): Task {
    const row = this.#deps.db.get(rows().where('s.id', '=', id).where('s.deleted_at', 'is', null) as never) as Row | undefined;
    if (!row) throw new DelegationError('not_found', 'This task is no longer in the store, or has become a chat.');
    return this.#task(row);
  }

  #list(): Task[] {
    const query = rows().where('s.deleted_at', 'is', null).orderBy('s.created_at', 'desc').orderBy('s.id', 'desc').limit(SHOWN);
    return (this.#deps.db.all(query as never) as Row[]).map((row) => this.#task(row));
  }

  #anyOf(ids: readonly string[]): boolean {
    return this.#deps.db.get(sqlFor.selectFrom('sessions').select('id').where(sql<boolean>`background = 1`).where('id', 'in', [...ids]).limit(1)) !== undefined;
  }

  #task(row: Row): Task {
    const live = this.#deps.chats.background.live(row.id);
    const runs = live?.turn != null || live?.starting != null;
    const startError = live?.startError ?? null;
    return {
      id: row.id,
      prompt: wellFormed(row.prompt ?? queued(row.queue), PROMPT_CHARS),
      title: row.title,
      state: runs ? 'running' : stateOf(row, startError),
      trajectoryId: row.trajectory_id,
      model: row.model,
      activity: runs ? (live?.activity ?? null) : null,
      turns: row.turns,
      maxTurns: row.max_turns,
      tokens: row.tokens,
      costUsd: row.cost_usd,
      result: row.result === null ? null : wellFormed(row.result, RESULT_CHARS),
      error: runs ? null : (startError ?? row.error),
      unread: row.unread === 1,
      createdAt: row.created_at,
      startedAt: live?.turn?.startedAt ?? row.created_at,
      endedAt: runs ? null : (row.ended_at ?? row.updated_at),
    };
  }
}

/** Tasks `s`, with the trajectory that is shown of each. Counts come from the messages: the trajectory's own are of its last end. */
function rows() {
  const said = (what: string, order: 'asc' | 'desc', chars: number) =>
    sql<string | null>`(SELECT substr(m.content, 1, ${sql.lit(chars)}) FROM messages m WHERE m.trajectory_n = t.n AND ${sql.raw(what)} ORDER BY m.seq ${sql.raw(order)} LIMIT 1)`;
  return sqlFor
    .selectFrom('sessions as s')
    .leftJoin('trajectories as t', 't.id', 's.tip')
    .where(sql<boolean>`s.background = 1`)
    .select(['s.id', 's.title', 's.model', 's.queue', 's.unread', 's.deleted_at', 's.max_turns', 's.created_at', 's.updated_at'])
    .select(['t.id as trajectory_id', 't.state', 't.exit_reason', 't.error', 't.ended_at'])
    .select([
      said(`m.role = 'user' AND m.synthetic = 0`, 'asc', PROMPT_CHARS).as('prompt'),
      said(`m.role = 'assistant' AND m.content <> ''`, 'desc', RESULT_CHARS).as('result'),
      sql<number>`(SELECT count(*) FROM messages m WHERE m.trajectory_n = t.n AND m.role = 'assistant')`.as('turns'),
      sql<number>`(SELECT coalesce(sum(p.prompt_tokens + p.completion_tokens), 0) FROM trajectory_spend p JOIN trajectories b ON b.n = p.trajectory_n WHERE b.session_id = s.id)`.as('tokens'),
      sql<number | null>`(SELECT sum(b.cost_usd) FROM trajectories b WHERE b.session_id = s.id)`.as('cost_usd'),
    ]);
}

/** Of one that does not run. A prompt without a trajectory never came to its first call: the program ended before. */
function stateOf({ exit_reason }: Row, startError: string | null): Task['state'] {
  if (startError !== null) return 'failed';
  if (exit_reason === null || exit_reason === 'interrupted') return 'interrupted';
  const outcome = outcomeOf({ state: 'ended', exitReason: exit_reason, discardReason: null });
  return outcome === 'completed' || outcome === 'partial' ? outcome : 'failed';
}

function queued(queue: string): string {
  return (JSON.parse(queue) as { text: string }[])[0]?.text ?? '';
}

function wellFormed(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed();
}
