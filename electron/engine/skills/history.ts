import { sql } from 'kysely';
import type { Author, ChangedFile, SkillVersion } from '#shared/contract/skills.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { textOf } from './guard.ts';
import { hashOf } from './skill.ts';
import type { ChangeBy } from './types.ts';

/** Larger files are not kept in versions, and so cannot be written as one; the trash has them as long as it is not emptied. */
export const MAX_KEPT_BYTES = 1 << 20;

export type Action = 'found' | 'create' | 'edit' | 'patch' | 'write_file' | 'remove_file' | 'rename' | 'delete' | 'restore' | 'import' | 'revert';

/** Stands for the content of a file that is too large to be kept. */
export const NOT_KEPT: Buffer = Buffer.alloc(0);

/** Whether a file could be run, before and after; null where there was none, or where it is not known. */
export type Executable = readonly [before: boolean | null, after: boolean | null];

/** A file before and after; null where it is not there, NOT_KEPT where its content is not known. */
export interface Entry {
  path: string;
  before: Buffer | null;
  after: Buffer | null;
  executable?: Executable;
}

/** A file as a version knows it. */
export interface KeptFile {
  /** Null for one that was too large to be kept. */
  bytes: Buffer | null;
  /** Null where it is not known. */
  executable: boolean | null;
}

/** As stored in `skill_versions.changes`. */
export interface StoredChange {
  /** Empty: the folder itself was moved, from `before` to `after` (below the own root). */
  path: string;
  before: string | null;
  after: string | null;
  binary?: true;
  kept?: false;
  executable?: Executable;
}

export interface Version {
  id: number;
  skill: string;
  action: Action;
  changes: StoredChange[];
  tree: ReadonlyMap<string, string>;
}

/** What is remembered of a living skill without reading its versions. */
export interface Line {
  /** Who made it. */
  author: Author;
  /** A person made or wrote something of it, so that it is theirs. */
  persons: boolean;
  latest: { id: number; action: Action; tree: ReadonlyMap<string, string> };
}

export interface NewVersion {
  skill: string;
  action: Action;
  by: ChangeBy;
  changes: readonly StoredChange[];
  tree: ReadonlyMap<string, string>;
}

const BEGINS: readonly string[] = ['found', 'create', 'import'];
const WRITES: readonly string[] = ['edit', 'patch', 'write_file', 'remove_file'];

/** The versions of skills, in the store. A skill that was deleted keeps its versions under "path@id" when another takes its place. */
export class History {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #lines = new Map<string, Line>();

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    const rows = db.iterate(sqlFor.selectFrom('skill_versions').select(['id', 'skill', 'action', 'author', 'tree']).where('state', '=', 'done').orderBy('id'));
    const latest = new Map<string, { id: number; action: string; tree: string }>();
    for (const row of rows) {
      this.#follow(row.skill, row.action, row.author as Author);
      latest.set(row.skill, row);
    }
    for (const [skill, row] of latest) this.#lines.get(skill)!.latest = { id: row.id, action: row.action as Action, tree: treeFrom(row.tree) };
  }

  /** Undefined for a skill that nobody recorded. */
  line(skill: string): Line | undefined {
    return this.#lines.get(skill);
  }

  /** Paths of skills whose latest version is no deletion. */
  living(): string[] {
    return [...this.#lines].flatMap(([skill, { latest }]) => (latest.action === 'delete' ? [] : [skill]));
  }

  /** Those that were deleted, newest first. */
  dead(): { skill: string; versionId: number }[] {
    return [...this.#lines].flatMap(([skill, { latest }]) => (latest.action === 'delete' ? [{ skill, versionId: latest.id }] : [])).sort((a, b) => b.versionId - a.versionId);
  }

  /** Writes what is about to be done; `finish` says that it was. */
  begin({ skill, action, by, changes, tree }: NewVersion): number {
    return this.#db.transaction(() => {
      const old = this.#lines.get(skill);
      if (old?.latest.action === 'delete' && action !== 'restore' && action !== 'revert') this.rekey(skill, `${skill}@${old.latest.id}`);
      const values = { skill, action, author: by.author, trajectory_id: by.trajectoryId, review_id: by.reviewId, reason: by.reason.toWellFormed(), changes: JSON.stringify(changes), tree: JSON.stringify([...tree]), state: 'pending', created_at: this.#now() };
      return this.#db.run(sqlFor.insertInto('skill_versions').values(values)).lastInsertRowid;
    });
  }

  finish(id: number): void {
    this.#db.transaction(() => {
      const row = this.#db.get(sqlFor.selectFrom('skill_versions').select(['skill', 'action', 'author', 'tree', 'changes']).where('id', '=', id));
      if (!row) return;
      const move = movedFolder(JSON.parse(row.changes) as StoredChange[]);
      if (row.action === 'rename' && move) this.rekey(move.before, move.after);
      this.#db.run(sqlFor.updateTable('skill_versions').set({ state: 'done' }).where('id', '=', id));
      this.#follow(row.skill, row.action, row.author as Author);
      this.#lines.get(row.skill)!.latest = { id, action: row.action as Action, tree: treeFrom(row.tree) };
    });
  }

  /** What was begun and taken back has never been. */
  forget(id: number): void {
    this.#db.run(sqlFor.deleteFrom('skill_versions').where('id', '=', id).where('state', '=', 'pending'));
  }

  /** Begun and not finished, oldest first: what a killed engine left. */
  pending(): Version[] {
    return this.#db.all(sqlFor.selectFrom('skill_versions').select(['id', 'skill', 'action', 'changes', 'tree']).where('state', '=', 'pending').orderBy('id')).map(versionOf);
  }

  get(id: number): Version | undefined {
    const row = this.#db.get(sqlFor.selectFrom('skill_versions').select(['id', 'skill', 'action', 'changes', 'tree']).where('id', '=', id).where('state', '=', 'done'));
    return row && versionOf(row);
  }

  /** Newest first. */
  versions(skill: string): SkillVersion[] {
    const rows = this.#db.all(
      sqlFor
        .selectFrom('skill_versions')
        .select(['id', 'skill', 'action', 'author', 'trajectory_id', 'review_id', 'reason', 'created_at'])
        .select(sql<string>`(select json_group_array(value ->> 'path') from json_each(changes) where value ->> 'path' <> '')`.as('files'))
        .where('skill', '=', skill)
        .where('state', '=', 'done')
        .orderBy('id', 'desc'),
    );
    return rows.map((row) => ({ id: row.id, skill: row.skill, action: row.action, author: row.author as Author, trajectoryId: row.trajectory_id, reviewId: row.review_id, reason: row.reason, files: JSON.parse(row.files) as string[], createdAt: row.created_at }));
  }

  about(id: number): { author: Author; createdAt: number } | undefined {
    const row = this.#db.get(sqlFor.selectFrom('skill_versions').select(['author', 'created_at']).where('id', '=', id));
    return row && { author: row.author as Author, createdAt: row.created_at };
  }

  /** The files as they were after a version (of a deletion: before it), by path. */
  filesAt(version: Version): Map<string, KeptFile> {
    if (version.action === 'delete') return new Map(filesOf(version).map((change) => [change.path, { bytes: contentOf(change, 'before'), executable: change.executable?.[0] ?? null }]));
    const files = new Map<string, KeptFile>([...version.tree.keys()].map((path) => [path, { bytes: null, executable: null }]));
    const wanted = new Map(version.tree);
    const rows = this.#db.iterate(sqlFor.selectFrom('skill_versions').select('changes').where('skill', '=', version.skill).where('id', '<=', version.id).orderBy('id', 'desc'));
    for (const row of rows) {
      for (const change of JSON.parse(row.changes) as StoredChange[]) {
        if (change.path === '' || change.after === null || !wanted.has(change.path)) continue;
        const bytes = contentOf(change, 'after');
        if (bytes === null || hashOf(bytes) !== wanted.get(change.path)) continue;
        files.set(change.path, { bytes, executable: change.executable?.[1] ?? null });
        wanted.delete(change.path);
      }
      if (wanted.size === 0) break;
    }
    return files;
  }

  /** All versions of a skill, what a person chose for it and who used it go by another path from now on. */
  rekey(from: string, to: string): void {
    const [old, id] = [`own/${from}`, `own/${to}`];
    this.#db.run(sqlFor.deleteFrom('skill_marks').where('skill_id', '=', id));
    this.#db.run(sqlFor.updateTable('skill_marks').set({ skill_id: id }).where('skill_id', '=', old));
    this.#db.run(sqlFor.deleteFrom('skill_uses').where('skill', '=', id));
    this.#db.run(sqlFor.updateTable('skill_uses').set({ skill: id }).where('skill', '=', old));
    this.#db.run(sqlFor.updateTable('skill_versions').set({ skill: to }).where('skill', '=', from));
    const line = this.#lines.get(from);
    this.#lines.delete(from);
    if (line) this.#lines.set(to, line);
  }

  /** Nothing is known of the skill any more: no version, no choice, no use. */
  erase(skill: string): void {
    this.#db.transaction(() => {
      this.#db.run(sqlFor.deleteFrom('skill_versions').where('skill', '=', skill));
      this.#db.run(sqlFor.deleteFrom('skill_marks').where('skill_id', '=', `own/${skill}`));
      this.#db.run(sqlFor.deleteFrom('skill_uses').where('skill', '=', `own/${skill}`));
    });
    this.#lines.delete(skill);
  }

  #follow(skill: string, action: string, author: Author): void {
    const known = this.#lines.get(skill);
    const latest = known?.latest ?? { id: 0, action: action as Action, tree: new Map<string, string>() };
    if (!known || BEGINS.includes(action)) this.#lines.set(skill, { author, persons: author === 'person' || author === 'import', latest });
    else if (author === 'person' && WRITES.includes(action)) known.persons = true;
  }
}

/** A change as it is kept: text as text, everything else in base64. */
export function storedChange({ path, before, after, executable }: Entry): StoredChange {
  const runs = executable ? { executable } : {};
  const large = [before, after].some((bytes) => bytes === NOT_KEPT || (bytes !== null && bytes.length > MAX_KEPT_BYTES));
  if (large) return { path, before: before && '', after: after && '', binary: true, kept: false, ...runs };
  const texts = [before, after].map((bytes) => (bytes === null ? null : textOf(bytes)));
  if ((before === null || texts[0] !== null) && (after === null || texts[1] !== null)) return { path, before: texts[0]!, after: texts[1]!, ...runs };
  return { path, before: before && before.toString('base64'), after: after && after.toString('base64'), binary: true, ...runs };
}

/** Null where there was no file, or where it was not kept. */
export function contentOf(change: StoredChange, side: 'before' | 'after'): Buffer | null {
  const content = change[side];
  return content === null || change.kept === false ? null : Buffer.from(content, change.binary ? 'base64' : 'utf8');
}

export function filesOf(version: Pick<Version, 'changes'>): StoredChange[] {
  return version.changes.filter(({ path }) => path !== '');
}

export function movedFolder(changes: readonly StoredChange[]): { before: string; after: string } | null {
  const move = changes.find(({ path }) => path === '');
  return move === undefined ? null : { before: move.before!, after: move.after! };
}

/** As a page shows it: what is no text has none. */
export function shownChange({ path, before, after, binary }: StoredChange): ChangedFile {
  return { path, before: binary && before !== null ? '' : before, after: binary && after !== null ? '' : after, binary: binary ?? false };
}

function versionOf(row: { id: number; skill: string; action: string; changes: string; tree: string }): Version {
  return { id: row.id, skill: row.skill, action: row.action as Action, changes: JSON.parse(row.changes) as StoredChange[], tree: treeFrom(row.tree) };
}

function treeFrom(json: string): ReadonlyMap<string, string> {
  const value: unknown = JSON.parse(json);
  return new Map(Array.isArray(value) ? (value as [string, string][]) : []);
}
