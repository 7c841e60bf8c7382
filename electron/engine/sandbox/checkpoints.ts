import { createHash, randomUUID } from 'node:crypto';
import { chmod, lstat, realpath, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Checkpoint } from '#shared/contract/chats.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import { errorCode } from './confine.ts';
import { GitError, gitMissing, ShadowGit } from './shadow-git.ts';
import type { TreeChange } from './shadow-git.ts';
import { bytesOf, listWorkspace, TooLargeError } from './workspace-files.ts';
import type { BytePath, WorkspaceFile } from './workspace-files.ts';

const MAX_PER_WORKSPACE = 50;
const MAX_DIFF_BYTES = 1024 * 1024;
const DROPPED_PER_COLLECTION = 20;
const MAX_COUNTS = 1000;
const ROLLBACK_REASON = 'rollback';

/** A checkpoint could not be made, shown or gone back to; the message says why and what to do. */
export class CheckpointError extends Error {
  readonly code: 'not_found' | 'too_large' | 'unavailable';
  constructor(code: CheckpointError['code'], message: string) {
    super(message);
    this.name = 'CheckpointError';
    this.code = code;
  }
}

export interface CheckpointDiff {
  /** Unified, from now to then. */
  diff: string;
  truncated: boolean;
  files: { path: string; change: TreeChange['change'] }[];
}

export interface CheckpointDeps {
  db: Database;
  /** `<home>/checkpoints`; created when needed. */
  folder: string;
  now: () => number;
  log: Logger;
}

interface Row {
  id: string;
  session_id: string;
  workspace: string;
  commit_id: string;
  reason: string;
  created_at: number;
}

/** One workspace's repository. Work in it is done one after the other: git has one index for it. */
interface Place {
  git: ShadowGit;
  dir: string;
  workspace: string;
  last: Promise<unknown>;
  /** The repository exists. */
  ready: boolean;
  /** Checkpoints dropped since room was last given back. */
  dropped: number;
}

/** What a commit says besides its files: permissions that git does not keep. */
interface Note {
  reason: string;
  /** Permission bits by path, of files for which they are not 644 or 755. */
  modes: Record<BytePath, number>;
}

/**
 * States of workspaces before agents changed them, kept in git repositories of our own beside the person's. Kept are files up to 10 MB
 * and symlinks; .git, node_modules, virtual environments, caches and build outputs are neither kept nor touched.
 */
export class Checkpoints {
  readonly #deps: CheckpointDeps;
  readonly #places = new Map<string, Place>();
  /** Changed files between two trees. */
  readonly #counts = new Map<string, number>();

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
  }

  /** Null when checkpoints can be made on this machine, else a sentence that says what is missing. */
  available(): Promise<string | null> {
    return gitMissing();
  }

  /**
   * Keeps the present state of a workspace; null when nothing changed since the session's last checkpoint of it.
   * Throws CheckpointError (`too_large`, `unavailable`), or the signal's reason.
   */
  async take({ sessionId, workspace, reason, signal }: { sessionId: string; workspace: string; reason: string; signal: AbortSignal }): Promise<Checkpoint | null> {
    const place = this.#place(await realpath(workspace).catch(() => workspace));
    return this.#alone(place, async () => {
      const { tree, files } = await this.#snapshot(place, signal);
      const last = this.#rows(sessionId).findLast((row) => row.workspace === place.workspace);
      if (last && (await place.git.treeOf(last.commit_id).catch(() => null)) === tree) return null;
      const row = await this.#keep(place, sessionId, reason, tree, files);
      return { id: row.id, reason, createdAt: row.created_at, files: 0 };
    });
  }

  /** Newest first. `files` counts what changed between this checkpoint and the next one (the newest: and now). */
  async list(sessionId: string): Promise<Checkpoint[]> {
    const rows = this.#rows(sessionId);
    const out: Checkpoint[] = [];
    const next = new Map<string, string>();
    for (const row of rows.toReversed()) {
      const files = await this.#changedFiles(row, next.get(row.workspace)).catch((error: unknown) => {
        this.#deps.log.error(`The checkpoint ${row.id} cannot be compared`, error);
        return 0;
      });
      out.push({ id: row.id, reason: row.reason, createdAt: row.created_at, files });
      next.set(row.workspace, row.commit_id);
    }
    return out;
  }

  count(sessionId: string): number {
    const query = sqlFor.selectFrom('checkpoints').select((eb) => eb.fn.countAll<number>().as('n')).where('session_id', '=', sessionId);
    return this.#deps.db.get(query)?.n ?? 0;
  }

  /** What going back would change. Throws CheckpointError, or the signal's reason. */
  async diff(sessionId: string, id: string, signal: AbortSignal): Promise<CheckpointDiff> {
    const row = this.#row(sessionId, id);
    const place = this.#place(row.workspace);
    return this.#alone(place, async () => {
      const { tree } = await this.#snapshot(place, signal);
      const then = await place.git.treeOf(row.commit_id);
      const changes = await place.git.changes(tree, then, signal);
      const { diff, truncated } = await place.git.diff(tree, then, MAX_DIFF_BYTES, signal);
      return { diff, truncated, files: changes.map(({ path, change }) => ({ path: Buffer.from(path, 'latin1').toString(), change })) };
    });
  }

  /**
   * Goes back; the present state becomes the checkpoint `undoId` first. Files that are not kept (too large, excluded) stay as they are,
   * also where a kept file would have to take their place. Throws CheckpointError.
   */
  async rollback(sessionId: string, id: string): Promise<{ undoId: string; files: number }> {
    const row = this.#row(sessionId, id);
    const place = this.#place(row.workspace);
    return this.#alone(place, async () => {
      const { tree, files } = await this.#snapshot(place, new AbortController().signal);
      const then = await place.git.treeOf(row.commit_id);
      const note = noteOf(await place.git.messageOf(row.commit_id));
      const undo = await this.#keep(place, sessionId, ROLLBACK_REASON, tree, files, row.id);
      const done = await goBack(place, await place.git.changes(tree, then), then, note);
      return { undoId: undo.id, files: done };
    });
  }

  /** Forgets a session's checkpoints; call it before the session's row is deleted. */
  async removeSession(sessionId: string): Promise<void> {
    const rows = this.#rows(sessionId);
    this.#deps.db.run(sqlFor.deleteFrom('checkpoints').where('session_id', '=', sessionId));
    for (const workspace of new Set(rows.map((row) => row.workspace))) {
      const place = this.#place(workspace);
      await this.#alone(place, () => this.#release(place, rows.filter((row) => row.workspace === workspace).map((row) => row.id)));
    }
  }

  async #snapshot({ git, workspace }: Place, signal: AbortSignal): Promise<{ tree: string; files: WorkspaceFile[] }> {
    const files = await listWorkspace(workspace, signal);
    try {
      return { tree: await git.write(files, signal), files };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      // After a power cut the index may know files whose contents were never written.
      await git.forgetIndex();
      return { tree: await git.write(files, signal), files };
    }
  }

  /** @param spare a checkpoint that is not dropped to make room. */
  async #keep(place: Place, sessionId: string, reason: string, tree: string, files: readonly WorkspaceFile[], spare?: string): Promise<Row> {
    const { db, now } = this.#deps;
    const row: Row = { id: randomUUID(), session_id: sessionId, workspace: place.workspace, commit_id: '', reason, created_at: now() };
    const modes = Object.fromEntries(files.flatMap(({ path, mode }) => (mode === null || mode === 0o644 || mode === 0o755 ? [] : [[path, mode]])));
    row.commit_id = await place.git.commit(tree, JSON.stringify({ reason, modes } satisfies Note), row.id, row.created_at);
    const dropped = db.transaction(() => {
      db.run(sqlFor.insertInto('checkpoints').values(row));
      const all = db.all(sqlFor.selectFrom('checkpoints').select('id').where('workspace', '=', place.workspace).orderBy('created_at').orderBy('rowid' as never));
      const old = all.slice(0, Math.max(0, all.length - MAX_PER_WORKSPACE)).map(({ id }) => id).filter((id) => id !== spare);
      if (old.length > 0) db.run(sqlFor.deleteFrom('checkpoints').where('id', 'in', old));
      return old;
    });
    if (dropped.length > 0) await this.#release(place, dropped);
    return row;
  }

  /** Lets go of commits whose rows are gone. The last of a workspace takes the repository with it. */
  async #release(place: Place, ids: readonly string[]): Promise<void> {
    const left = this.#deps.db.all(sqlFor.selectFrom('checkpoints').select('id').where('workspace', '=', place.workspace));
    if (left.length === 0) {
      place.ready = false;
      return rm(place.dir, { recursive: true, force: true });
    }
    await place.git.drop(ids);
    place.dropped += ids.length;
    if (place.dropped < DROPPED_PER_COLLECTION) return;
    place.dropped = 0;
    const known = new Set(left.map(({ id }) => id));
    await place.git.drop((await place.git.names()).filter((name) => !known.has(name)));
    await place.git.collect();
  }

  async #changedFiles(row: Row, next: string | undefined): Promise<number> {
    const place = this.#place(row.workspace);
    const key = next === undefined ? null : `${row.commit_id}..${next}`;
    const known = key === null ? undefined : this.#counts.get(key);
    if (known !== undefined) return known;
    const files = await this.#alone(place, async () => {
      const to = next ?? (await this.#snapshot(place, new AbortController().signal)).tree;
      return (await place.git.changes(row.commit_id, to)).length;
    });
    if (this.#counts.size >= MAX_COUNTS) this.#counts.clear();
    if (key !== null) this.#counts.set(key, files);
    return files;
  }

  #place(workspace: string): Place {
    let place = this.#places.get(workspace);
    if (!place) {
      const dir = join(this.#deps.folder, createHash('sha256').update(workspace).digest('hex').slice(0, 16));
      place = { git: new ShadowGit(dir, workspace), dir, workspace, last: Promise.resolve(), ready: false, dropped: 0 };
      this.#places.set(workspace, place);
    }
    return place;
  }

  /** Runs `work` after what was asked of this workspace before; what is expected to go wrong becomes a CheckpointError. */
  #alone<T>(place: Place, work: () => Promise<T>): Promise<T> {
    const begin = async (): Promise<T> => {
      if (!place.ready) await place.git.prepare();
      place.ready = true;
      return work();
    };
    const done = place.last.then(begin).catch((error: unknown) => {
      if (error instanceof TooLargeError) throw new CheckpointError('too_large', `${error.message}, which is too much for checkpoints. Choose a smaller folder as the workspace to have them.`);
      if (error instanceof GitError) throw new CheckpointError('unavailable', `The checkpoints of this workspace cannot be used: ${error.message}`);
      if (errorCode(error) === 'ENOENT') throw new CheckpointError('unavailable', `The workspace "${place.workspace}" is not there.`);
      const code = errorCode(error);
      if (code !== null && /^E[A-Z]+$/.test(code)) throw new CheckpointError('unavailable', `The workspace "${place.workspace}" could not be used (${code}). Check the permissions and the room on the disk.`);
      throw error;
    });
    place.last = done.catch(() => undefined);
    return done;
  }

  #rows(sessionId: string): Row[] {
    return this.#deps.db.all(sqlFor.selectFrom('checkpoints').selectAll().where('session_id', '=', sessionId).orderBy('created_at').orderBy('rowid' as never));
  }

  #row(sessionId: string, id: string): Row {
    const row = this.#rows(sessionId).find((one) => one.id === id);
    if (!row) throw new CheckpointError('not_found', 'This checkpoint no longer exists.');
    return row;
  }
}

function noteOf(message: string): Note {
  return JSON.parse(message) as Note;
}

/** Makes the workspace as `then`; answers with how many files were changed. */
async function goBack({ git, workspace }: Place, changes: readonly TreeChange[], then: string, note: Note): Promise<number> {
  const removed = changes.filter(({ change }) => change === 'removed');
  for (const { path } of removed) await unlink(bytesOf(workspace, path)).catch(ignoreMissing);
  for (const folder of new Set(removed.map(({ path }) => dirname(path)))) await removeEmpty(workspace, folder);
  const wanted = changes.filter(({ change }) => change !== 'removed');
  const free = await Promise.all(wanted.map(({ path, change }) => isFree(workspace, path, change)));
  const written = wanted.filter((_, i) => free[i]);
  await git.checkOut(then, written.map(({ path }) => path));
  for (const { path, mode } of written) {
    if (mode !== '120000') await chmod(bytesOf(workspace, path), note.modes[path] ?? (mode === '100755' ? 0o755 : 0o644)).catch(ignoreMissing);
  }
  return removed.length + written.length;
}

/** Whether nothing that checkpoints do not keep stands where a file goes. An empty folder makes way. */
async function isFree(workspace: string, path: BytePath, change: TreeChange['change']): Promise<boolean> {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const above = await lstat(bytesOf(workspace, folder)).catch(() => null);
    if (above && !above.isDirectory()) return false;
  }
  const facts = await lstat(bytesOf(workspace, path)).catch(() => null);
  if (facts === null) return true;
  if (facts.isDirectory()) return rmdir(bytesOf(workspace, path)).then(() => true, () => false);
  return change === 'changed';
}

/** Removes folders that became empty, upwards to the root, which stays. */
async function removeEmpty(workspace: string, folder: BytePath): Promise<void> {
  for (let path = folder; path !== '.' && path !== ''; path = dirname(path)) {
    const gone = await rmdir(bytesOf(workspace, path)).then(() => true, (error: unknown) => errorCode(error) === 'ENOENT');
    if (!gone) return;
  }
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
}
