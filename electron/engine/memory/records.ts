import type { Selectable } from 'kysely';
import type { MemoryChange, MemoryOperation, MemoryTarget } from '#shared/contract/memory.ts';
import type { Author } from '#shared/contract/skills.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';
import { splitEntries } from './text.ts';

/** Who makes a change, and where it came from. */
export interface ChangedBy {
  author: Author;
  trajectoryId?: string | null;
  reviewId?: string | null;
  /** Shown in the history. */
  reason?: string;
}

/** What is known of an entry besides its text. */
export interface EntryRecord {
  /** Null: written into the file by hand. */
  author: Author | null;
  trajectoryId: string | null;
  trajectoryTitle: string | null;
  reviewId: string | null;
  createdAt: number;
  uses: number;
  usedAt: number | null;
}

/** The SQL of the memory: what is known of entries, and the history of changes. */
export class MemoryRecords {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** By id of the entry; those of `ids` that nobody knew are noted as written by hand. Rows of removed entries stay, so that undo brings them back as they were. */
  of(target: MemoryTarget, ids: readonly string[]): Map<string, EntryRecord> {
    const rows = this.#rows(target);
    const unknown = ids.filter((id) => !rows.has(id));
    if (unknown.length === 0) return rows;
    this.#db.transaction(() => {
      for (const id of unknown) this.#insert(target, id, { author: '', created_at: this.#now() });
    });
    return this.#rows(target);
  }

  /** These entries are new, by that author. */
  wrote(target: MemoryTarget, ids: readonly string[], by: ChangedBy): void {
    for (const id of ids) {
      this.#db.run(sqlFor.deleteFrom('memory_entries').where('target', '=', target).where('hash', '=', id));
      this.#insert(target, id, { author: by.author, trajectory_id: by.trajectoryId ?? null, review_id: by.reviewId ?? null, created_at: this.#now() });
    }
  }

  /** A session begins with these entries in its prompt. */
  used(target: MemoryTarget, ids: readonly string[]): void {
    this.#db.transaction(() => {
      this.of(target, ids);
      for (const id of ids) this.#db.run(sqlFor.updateTable('memory_entries').set((e) => ({ uses: e('uses', '+', 1), used_at: this.#now() })).where('target', '=', target).where('hash', '=', id));
    });
  }

  /** Notes a change that is about to be written. */
  begin(target: MemoryTarget, operations: readonly MemoryOperation[], before: string, after: string, by: ChangedBy): number {
    const { lastInsertRowid } = this.#db.run(
      sqlFor.insertInto('memory_changes').values({
        target,
        author: by.author,
        trajectory_id: by.trajectoryId ?? null,
        review_id: by.reviewId ?? null,
        reason: (by.reason ?? '').toWellFormed().slice(0, 300),
        operations: JSON.stringify(operations),
        before,
        after,
        created_at: this.#now(),
      }),
    );
    return Number(lastInsertRowid);
  }

  /** It is in the file. */
  written(id: number, target: MemoryTarget, entryIds: readonly string[], by: ChangedBy): void {
    this.#db.transaction(() => {
      this.#db.run(sqlFor.updateTable('memory_changes').set({ state: 'done' }).where('id', '=', id));
      this.wrote(target, entryIds, by);
    });
  }

  forget(id: number): void {
    this.#db.run(sqlFor.deleteFrom('memory_changes').where('id', '=', id));
  }

  undone(id: number): void {
    this.#db.run(sqlFor.updateTable('memory_changes').set({ undone_at: this.#now() }).where('id', '=', id));
  }

  /** Changes that a kill left between the note and the file. */
  pending(): MemoryChange[] {
    return this.#db.all(changes().where('c.state', '=', 'pending').orderBy('c.id')).map(fromRow);
  }

  change(id: number): MemoryChange | null {
    const row = this.#db.get(changes().where('c.id', '=', id).where('c.state', '=', 'done'));
    return row ? fromRow(row) : null;
  }

  /** Newest first. */
  history(target: MemoryTarget | undefined, limit: number): MemoryChange[] {
    return this.#db
      .all(
        changes()
          .where('c.state', '=', 'done')
          .$if(target !== undefined, (q) => q.where('c.target', '=', target!))
          .orderBy('c.id', 'desc')
          .limit(limit),
      )
      .map(fromRow);
  }

  #rows(target: MemoryTarget): Map<string, EntryRecord> {
    const rows = this.#db.all(
      sqlFor
        .selectFrom('memory_entries as e')
        .leftJoin('trajectories as t', (join) => join.onRef('t.id', '=', 'e.trajectory_id').on('t.deleted_at', 'is', null))
        .select(['e.hash', 'e.author', 'e.trajectory_id', 'e.review_id', 'e.created_at', 'e.uses', 'e.used_at', 't.title'])
        .where('e.target', '=', target),
    );
    return new Map(
      rows.map((r) => [
        r.hash,
        { author: r.author === '' ? null : (r.author as Author), trajectoryId: r.trajectory_id, trajectoryTitle: r.title, reviewId: r.review_id, createdAt: r.created_at, uses: r.uses, usedAt: r.used_at },
      ]),
    );
  }

  #insert(target: MemoryTarget, hash: string, values: { author: string; created_at: number; trajectory_id?: string | null; review_id?: string | null }): void {
    this.#db.run(sqlFor.insertInto('memory_entries').values({ target, hash, trajectory_id: null, review_id: null, ...values, used_at: null }));
  }
}

function changes() {
  return sqlFor
    .selectFrom('memory_changes as c')
    .leftJoin('trajectories as t', (join) => join.onRef('t.id', '=', 'c.trajectory_id').on('t.deleted_at', 'is', null))
    .selectAll('c')
    .select('t.title');
}

function fromRow(row: Selectable<Tables['memory_changes']> & { title: string | null }): MemoryChange {
  const before = splitEntries(row.before);
  const after = splitEntries(row.after);
  return {
    id: row.id,
    target: row.target as MemoryTarget,
    author: row.author as Author,
    trajectoryId: row.trajectory_id,
    reviewId: row.review_id,
    reason: row.reason,
    operations: JSON.parse(row.operations) as MemoryOperation[],
    before: row.before,
    after: row.after,
    added: after.filter((entry) => !before.includes(entry)),
    removed: before.filter((entry) => !after.includes(entry)),
    trajectoryTitle: row.title,
    undone: row.undone_at !== null,
    createdAt: row.created_at,
  };
}
