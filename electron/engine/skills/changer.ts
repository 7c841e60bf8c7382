import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ChangedFile } from '#shared/contract/skills.ts';
import type { Catalogue } from './catalogue.ts';
import { isExecutable, isScript, refuseLinks, type SkillDisk, TRASH } from './disk.ts';
import { SkillError } from './errors.ts';
import { type Action, type Entry, filesOf, type History, type KeptFile, MAX_KEPT_BYTES, NOT_KEPT, shownChange, storedChange, type StoredChange } from './history.ts';
import { applyVersion, isThere, mayBeThere, takeBack } from './journal.ts';
import type { SkillRoot } from './roots.ts';
import { changedSince, hashOf, idOf, loadSkill, readInside, type Skill } from './skill.ts';
import type { ChangeBy } from './types.ts';

/** What is to become of one skill of one's own. */
export interface Draft {
  /** Folder below the own root, as it is afterwards. */
  skill: string;
  action: Action;
  entries: readonly Entry[];
  /** The folder itself moves (below the own root). */
  move?: { from: string; to: string };
}

export interface Committed {
  versionId: number;
  id: string;
  changes: ChangedFile[];
}

const BY_FINDING: ChangeBy = { author: 'person', trajectoryId: null, reviewId: null, reason: '' };

/** Makes changes of one's own skills, each a version: the journal first, then the disk. One at a time; the caller sees to that. */
export class Changer {
  readonly #root: SkillRoot;
  readonly #history: History;
  readonly #catalogue: Catalogue;
  readonly #disk: SkillDisk;

  constructor(parts: { root: SkillRoot; history: History; catalogue: Catalogue; disk: SkillDisk }) {
    this.#root = parts.root;
    this.#history = parts.history;
    this.#catalogue = parts.catalogue;
    this.#disk = parts.disk;
  }

  /** Throws SkillError unavailable, with everything as it was, when the disk refuses. */
  async commit(draft: Draft, by: ChangeBy): Promise<Committed> {
    const own = this.#root.folder;
    for (const path of [draft.skill, ...(draft.move ? [draft.move.from, draft.move.to] : []), ...draft.entries.map(({ path }) => `${draft.skill}/${path}`)]) refuseLinks(own, path);
    const large = draft.entries.find(({ after }) => after !== null && after.length > MAX_KEPT_BYTES);
    if (large) throw new SkillError('invalid', `"${large.path}" has more than 1 MB, which is more than a file of a skill may have.`, { field: 'path' });
    const from = draft.move?.from ?? draft.skill;
    const held = [...new Set([from, draft.skill])];
    for (const path of held) this.#catalogue.hold(this.#root, path);
    try {
      const tree = this.#treeAfter(draft, from);
      const changes = [...(draft.move ? [{ path: '', before: draft.move.from, after: draft.move.to }] : []), ...draft.entries.map((entry) => storedChange(this.#withBits(join(own, from), entry)))];
      const id = this.#history.begin({ skill: draft.skill, action: draft.action, by, changes, tree });
      const version = { id, skill: draft.skill, action: draft.action, changes, tree };
      try {
        await applyVersion(this.#disk, own, version);
      } catch (error) {
        await takeBack(this.#disk, own, version);
        this.#history.forget(id);
        throw new SkillError('unavailable', `The skill could not be written: ${error instanceof Error ? error.message : String(error)}. Nothing was changed.`, { cause: error });
      }
      this.#history.finish(id);
      return { versionId: id, id: idOf(this.#root, draft.skill), changes: filesOf(version).map(shownChange) };
    } finally {
      for (const path of held) this.#catalogue.release(this.#root, path);
    }
  }

  /** Into the trash: the folder as it is, whatever is in it. */
  deletion(skill: Skill): Draft {
    const to = `${TRASH}/${randomBytes(6).toString('hex')}`;
    return { skill: skill.path, action: 'delete', move: { from: skill.path, to }, entries: this.entriesOf(skill).map(({ path, after, executable }) => ({ path, before: after, after: null, executable: [executable?.[1] ?? null, null] })) };
  }

  /** All files of a skill, as if they had just come. */
  entriesOf(skill: Skill): Entry[] {
    return skill.walked.files.filter(({ kind }) => kind === 'file').map(({ path }) => ({ path, before: null, after: readInside(skill.folder, path) ?? NOT_KEPT, executable: [null, isExecutable(join(skill.folder, path))] }));
  }

  /** A version for what another program did: told by what was read of the disk, nothing is written there. */
  noticed(loaded: readonly Skill[], gone: readonly Skill[]): void {
    for (const skill of loaded) this.#noticedEdit(skill);
    for (const { path } of gone) this.#noticedLoss(path);
  }

  /** Skills with versions whose folders went while the engine was not running. */
  noticedLosses(there: ReadonlySet<string>): void {
    for (const path of this.#history.living()) if (!there.has(path) && !path.includes('@')) this.#noticedLoss(path);
  }

  #noticedEdit(skill: Skill): void {
    const line = this.#history.line(skill.path);
    // changed again since it was read, perhaps here: the next look tells
    if (changedSince(skill, true)) return;
    // not recorded by anybody: it gets its first version when it is changed here
    if (!line) return;
    if (line.latest.action === 'delete') return this.#record(skill.path, 'found', 'It was put back into the folder by another program.', this.entriesOf(skill), skill.tree);
    const { tree } = line.latest;
    const paths = new Set([...tree.keys(), ...skill.tree.keys()]);
    const changed = [...paths].filter((path) => tree.get(path) !== skill.tree.get(path));
    if (changed.length === 0) return;
    const before = this.#history.filesAt(this.#history.get(line.latest.id)!);
    const entries = changed.map((path): Entry => ({
      path,
      before: tree.has(path) ? (before.get(path)?.bytes ?? NOT_KEPT) : null,
      after: skill.tree.has(path) ? (readInside(skill.folder, path) ?? NOT_KEPT) : null,
      executable: [before.get(path)?.executable ?? null, isExecutable(join(skill.folder, path))],
    }));
    this.#record(skill.path, 'edit', 'Changed by another program.', entries, skill.tree);
  }

  #noticedLoss(path: string): void {
    const line = this.#history.line(path);
    if (!line || line.latest.action === 'delete' || mayBeThere(join(this.#root.folder, path, 'SKILL.md'))) return;
    const before = this.#history.filesAt(this.#history.get(line.latest.id)!);
    this.#record(path, 'delete', 'Removed by another program.', [...before].map(([file, { bytes, executable }]) => ({ path: file, before: bytes ?? NOT_KEPT, after: null, executable: [executable, null] })), new Map());
  }

  #record(skill: string, action: Action, reason: string, entries: readonly Entry[], tree: ReadonlyMap<string, string>): void {
    const changes: StoredChange[] = entries.map(storedChange);
    this.#history.finish(this.#history.begin({ skill, action, by: { ...BY_FINDING, reason }, changes, tree }));
  }

  /** With what is known of the disk: what a change does not say of a file stays as it is, and a new script can be run. */
  #withBits(folder: string, entry: Entry): Entry {
    const now = isExecutable(join(folder, entry.path));
    const [before, after] = entry.executable ?? [null, null];
    return { ...entry, executable: [entry.before === null ? null : (before ?? now), entry.after === null ? null : (after ?? now ?? isScript(entry.after))] };
  }

  /** Hashes after the change; a skill that nobody recorded is recorded first, as it is. */
  #treeAfter({ action, entries }: Draft, from: string): ReadonlyMap<string, string> {
    if (action === 'delete') {
      this.#recordAsFound(from);
      return new Map();
    }
    const trashed = from.startsWith(`${TRASH}/`);
    const tree = new Map(trashed ? loadSkill(this.#root, from, false).tree : isThere(join(this.#root.folder, from)) ? this.#recordAsFound(from) : []);
    for (const { path, after } of entries) {
      if (after === null) tree.delete(path);
      else if (after !== NOT_KEPT) tree.set(path, hashOf(after));
    }
    return tree;
  }

  #recordAsFound(path: string): ReadonlyMap<string, string> {
    const skill = loadSkill(this.#root, path, false);
    const line = this.#history.line(path);
    if (!line || line.latest.action === 'delete') {
      if (skill.walked.files.length > 0) this.#record(path, 'found', 'As it was found in the folder.', this.entriesOf(skill), skill.tree);
    } else this.#noticedEdit(skill);
    return skill.tree;
  }
}

/** What lies between two states of a skill's files. */
export function entriesBetween(now: ReadonlyMap<string, KeptFile>, then: ReadonlyMap<string, KeptFile>): Entry[] {
  const paths = [...new Set([...now.keys(), ...then.keys()])].sort();
  return paths.flatMap((path) => {
    const [before, after] = [now.get(path)?.bytes ?? null, then.get(path)?.bytes ?? null];
    const [ran, runs] = [now.get(path)?.executable ?? null, then.get(path)?.executable ?? null];
    if (then.has(path) && after === null) {
      // not kept then, and still there: it is taken to be the same
      if (now.has(path)) return [];
      throw new SkillError('unavailable', `"${path}" was too large to be kept with that version, so the skill cannot be brought back to it.`);
    }
    const sameBit = ran === null || runs === null || ran === runs;
    return before !== null && after !== null && before.equals(after) && sameBit ? [] : [{ path, before, after, executable: [ran, runs] }];
  });
}

