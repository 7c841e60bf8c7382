import { randomUUID } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Branch, QueuedMessage, SessionSettings, Todo } from '#shared/contract/chats.ts';
import type { Attachment, ExitReason } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';

export type TitleSource = 'none' | 'prompt' | 'model' | 'person';

/** A session as stored. */
export interface SessionRecord {
  id: string;
  title: string;
  titleBy: TitleSource;
  settings: SessionSettings;
  tip: string | null;
  draft: { text: string; attachments: Attachment[] };
  queue: QueuedMessage[];
  todos: Todo[];
  /** A task of the background: nobody is asked, and lists of chats leave it out. */
  background: boolean;
  unread: boolean;
  pinned: boolean;
  archived: boolean;
  deletedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** What a list needs of a session: its own columns, and what its trajectories add. */
export interface SessionRow {
  id: string;
  title: string;
  provider: string;
  model: string;
  background: number;
  /** Sub-agents that work or wait for it. */
  agents: number;
  unread: number;
  pinned_at: number | null;
  archived_at: number | null;
  deleted_at: number | null;
  has_draft: number;
  /** 0 for a session in which nothing was ever said or drafted: lists leave it out. */
  used: number;
  created_at: number;
  updated_at: number;
  exit_reason: ExitReason | null;
  error: string | null;
  message_count: number | null;
  cost_usd: number | null;
}

export type SessionPatch = Partial<{
  title: string;
  titleBy: TitleSource;
  settings: Partial<SessionSettings>;
  tip: string | null;
  draft: { text: string; attachments: readonly Attachment[] };
  queue: readonly QueuedMessage[];
  todos: readonly Todo[];
  background: boolean;
  unread: boolean;
  pinned: boolean;
  archived: boolean;
  deletedAt: number | null;
  updatedAt: number;
}>;

/** Something was said or drafted in the session `s`. */
export const USED = sql<boolean>`(s.tip IS NOT NULL OR s.draft <> '' OR s.draft_attachments <> '[]' OR s.queue <> '[]' OR EXISTS (SELECT 1 FROM trajectories e WHERE e.session_id = s.id))`;

/** `n` of the trajectories of a session's sub-agents. They are not its branches. */
function childrenOf(sessionId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT x.n FROM delegations d JOIN children c ON c.delegation_id = d.id JOIN trajectories x ON x.id = c.trajectory_id WHERE d.session_id = ${sessionId}`;
}

/** Rows of a session with what lists show of its trajectories. */
export function sessionRows() {
  return sqlFor
    .selectFrom('sessions as s')
    .leftJoin('trajectories as t', 't.id', 's.tip')
    .select(['s.id', 's.title', 's.provider', 's.model', 's.background', 's.unread', 's.pinned_at', 's.archived_at', 's.deleted_at', 's.created_at', 's.updated_at'])
    .select(['t.exit_reason', 't.error', 't.message_count'])
    .select([
      sql<number>`(s.draft <> '' OR s.draft_attachments <> '[]')`.as('has_draft'),
      sql<number>`${USED}`.as('used'),
      sql<number>`(SELECT count(*) FROM delegations d JOIN children c ON c.delegation_id = d.id WHERE d.session_id = s.id AND d.ended_at IS NULL AND c.state IN ('queued', 'running'))`.as('agents'),
      sql<number | null>`(SELECT sum(b.cost_usd) FROM trajectories b WHERE b.n IN (SELECT o.n FROM trajectories o WHERE o.session_id = s.id UNION ALL ${childrenOf(sql`s.id`)}))`.as('cost_usd'),
    ]);
}

/** The SQL of sessions. Everything here is synchronous and short. */
export class SessionStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  create(settings: SessionSettings, id: string = randomUUID()): SessionRecord {
    const now = this.#now();
    this.#db.run(sqlFor.insertInto('sessions').values({ id, ...settingColumns(settings), created_at: now, updated_at: now } as never));
    return this.get(id)!;
  }

  get(id: string): SessionRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('sessions').selectAll().where('id', '=', id));
    return row && fromRow(row);
  }

  row(id: string): SessionRow | undefined {
    return this.#db.get(sessionRows().where('s.id', '=', id) as never) as SessionRow | undefined;
  }

  update(id: string, patch: SessionPatch): void {
    const now = this.#now();
    const set = {
      ...(patch.title !== undefined ? { title: patch.title } : {}),
      ...(patch.titleBy !== undefined ? { title_by: patch.titleBy } : {}),
      ...(patch.settings ? settingColumns(patch.settings) : {}),
      ...(patch.tip !== undefined ? { tip: patch.tip } : {}),
      ...(patch.draft ? { draft: patch.draft.text, draft_attachments: JSON.stringify(patch.draft.attachments) } : {}),
      ...(patch.queue ? { queue: JSON.stringify(patch.queue) } : {}),
      ...(patch.todos ? { todos: JSON.stringify(patch.todos) } : {}),
      ...(patch.background !== undefined ? { background: patch.background ? 1 : 0 } : {}),
      ...(patch.unread !== undefined ? { unread: patch.unread ? 1 : 0 } : {}),
      ...(patch.pinned !== undefined ? { pinned_at: patch.pinned ? now : null } : {}),
      ...(patch.archived !== undefined ? { archived_at: patch.archived ? now : null } : {}),
      ...(patch.deletedAt !== undefined ? { deleted_at: patch.deletedAt } : {}),
      ...(patch.updatedAt !== undefined ? { updated_at: patch.updatedAt } : {}),
    };
    if (Object.keys(set).length > 0) this.#db.run(sqlFor.updateTable('sessions').set(set).where('id', '=', id));
  }

  /** Takes it away for good: one that never began. */
  remove(id: string): void {
    this.#db.run(sqlFor.deleteFrom('sessions').where('id', '=', id));
  }

  /** Of the chat that was created last; undefined when there is none. */
  lastSettings(): SessionSettings | undefined {
    const row = this.#db.get(sqlFor.selectFrom('sessions').selectAll().where('deleted_at', 'is', null).where('background', '=', 0).orderBy('created_at', 'desc').orderBy(sql`rowid`, 'desc').limit(1));
    return row && fromRow(row).settings;
  }

  /** In order of creation. */
  branches(id: string): Branch[] {
    return this.#db
      .all(
        sqlFor
          .selectFrom('trajectories as t')
          .leftJoin('trajectories as p', 'p.id', 't.parent_id')
          .select(['t.id', 't.parent_id', 't.parent_seq', 't.model', 't.created_at', sql<number>`(p.system_prompt <> t.system_prompt AND p.message_count <= t.parent_seq)`.as('renewed')])
          .where('t.session_id', '=', id)
          .orderBy('t.n'),
      )
      .map((t) => ({ trajectoryId: t.id, parentId: t.parent_id, parentSeq: t.parent_seq, model: t.model, createdAt: t.created_at, ...(t.renewed === 1 ? { continues: true } : {}) }));
  }

  /** Chats that wait to be looked at. */
  unreadIds(): string[] {
    return this.#db.all(sqlFor.selectFrom('sessions').select('id').where('unread', '=', 1).where('background', '=', 0).where('deleted_at', 'is', null)).map((s) => s.id);
  }

  /** Names the session, and with it its trajectories in the Library. */
  rename(id: string, title: string, by: TitleSource): void {
    this.#db.transaction(() => {
      this.update(id, { title, titleBy: by });
      this.#db.run(sqlFor.updateTable('trajectories').set({ title }).where('session_id', '=', id));
    });
  }

  /** Deleted before that time. */
  deletedBefore(time: number): { id: string; workspace: string }[] {
    return this.#db.all(sqlFor.selectFrom('sessions').select(['id', 'workspace']).where('deleted_at', '<', time));
  }

  usesWorkspace(workspace: string): boolean {
    return this.#db.get(sqlFor.selectFrom('sessions').select('id').where('workspace', '=', workspace).limit(1)) !== undefined;
  }

  /** Removes sessions created before that time in which nothing was ever said or drafted. */
  removeEmpty(before: number): void {
    this.#db.run(
      sqlFor
        .deleteFrom('sessions')
        .where('id', 'in', sqlFor.selectFrom('sessions as s').select('s.id').where('s.created_at', '<', before).where(sql<boolean>`NOT ${USED}`)),
    );
  }

  /** For good, with its trajectories and those of its sub-agents. */
  erase(id: string): void {
    this.#db.transaction(() => {
      this.#db.run(sqlFor.deleteFrom('trajectories').where(sql<boolean>`n IN (${childrenOf(sql.val(id))})`));
      this.#db.run(sqlFor.deleteFrom('delegations').where('session_id', '=', id));
      this.#db.run(sqlFor.deleteFrom('sessions').where('id', '=', id));
    });
  }

  /** Hides the session with its trajectories and those of its sub-agents, or with null brings them back. */
  setDeleted(id: string, at: number | null): void {
    this.#db.transaction(() => {
      this.update(id, { deletedAt: at });
      this.#db.run(sqlFor.updateTable('trajectories').set({ deleted_at: at }).where('session_id', '=', id));
      this.#db.run(sqlFor.updateTable('trajectories').set({ deleted_at: at }).where(sql<boolean>`n IN (${childrenOf(sql.val(id))})`));
    });
  }
}

function settingColumns(s: Partial<SessionSettings>) {
  return {
    ...(s.provider !== undefined ? { provider: s.provider } : {}),
    ...(s.model !== undefined ? { model: s.model } : {}),
    ...(s.reasoningEffort !== undefined ? { reasoning_effort: s.reasoningEffort } : {}),
    ...(s.toolsets !== undefined ? { toolsets: JSON.stringify(s.toolsets) } : {}),
    ...(s.workspace !== undefined ? { workspace: s.workspace } : {}),
    ...(s.sandbox !== undefined ? { sandbox: s.sandbox } : {}),
    ...(s.maxTurns !== undefined ? { max_turns: s.maxTurns } : {}),
  };
}

function fromRow(r: Selectable<Tables['sessions']>): SessionRecord {
  return {
    id: r.id,
    title: r.title,
    titleBy: r.title_by as TitleSource,
    settings: {
      provider: r.provider,
      model: r.model,
      reasoningEffort: r.reasoning_effort as SessionSettings['reasoningEffort'],
      toolsets: JSON.parse(r.toolsets) as string[],
      workspace: r.workspace,
      sandbox: r.sandbox as SessionSettings['sandbox'],
      maxTurns: r.max_turns,
    },
    tip: r.tip,
    draft: { text: r.draft, attachments: JSON.parse(r.draft_attachments) as Attachment[] },
    queue: JSON.parse(r.queue) as QueuedMessage[],
    todos: JSON.parse(r.todos) as Todo[],
    background: r.background === 1,
    unread: r.unread === 1,
    pinned: r.pinned_at !== null,
    archived: r.archived_at !== null,
    deletedAt: r.deleted_at,
    createdAt: r.created_at,
    updatedAt: r.updated_at,
  };
}
