import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ChangedFile, Finding, SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import type { ToolSpec } from '#shared/trajectory.ts';
import { sqlFor } from '../store/database.ts';
import type { SkillChange, SkillTools } from '../tools/types.ts';
import { skillTools } from './agent-tools.ts';
import { Catalogue, type Depth } from './catalogue.ts';
import { Changer, type Committed, type Draft } from './changer.ts';
import { ownDisk, type SkillDisk } from './disk.ts';
import { SkillError } from './errors.ts';
import { History, shownChange, storedChange } from './history.ts';
import { skillIndex } from './index-block.ts';
import { recoverVersions } from './journal.ts';
import { Machine } from './machine.ts';
import { adoptDraft, changeDraft, restoreDraft, revertDraft } from './plans.ts';
import { Records } from './records.ts';
import { fixedRoots, projectRoots, type SkillRoot } from './roots.ts';
import { detailOf, summariesOf } from './summary.ts';
import { type Purged, purgeSkills } from './trash.ts';
import type { ChangeBy, Scope, Shown, SkillDeps, SkillFileBytes } from './types.ts';
import { statOf } from './walk.ts';

/** Work on skills in one go, before others have their turn. */
const SLICE_MS = 8;
const POLL_MS = 1_500;
const MAX_WORKSPACES = 20;

export type { Shown } from './types.ts';

/** Skills of all roots, and every change of one's own. */
export class SkillLibrary {
  readonly deps: SkillDeps;
  readonly history: History;
  readonly records: Records;
  readonly machine: Machine;
  readonly changer: Changer;
  readonly own: SkillRoot;
  readonly #catalogue: Catalogue;
  readonly #disk: SkillDisk;
  readonly #listeners = new Set<() => void>();
  /** Roots of workspaces that were asked for, by key. */
  readonly #projects = new Map<string, SkillRoot>();
  #lock: Promise<unknown> = Promise.resolve();
  #poll: NodeJS.Timeout | null = null;
  #looked = false;
  #generation = 0;

  constructor(deps: SkillDeps) {
    this.deps = deps;
    this.own = { root: 'own', key: 'own', folder: deps.home.skills, readOnly: false };
    this.#disk = deps.disk ?? ownDisk(this.own.folder);
    this.history = new History(deps.db, deps.now);
    this.records = new Records(deps.db, deps.now);
    this.machine = new Machine(deps.env ?? {}, deps.platform ?? process.platform);
    this.#catalogue = new Catalogue((root, loaded, gone) => {
      if (root.root === 'own') this.changer.noticed(loaded, gone);
      this.#changed();
    });
    this.changer = new Changer({ root: this.own, history: this.history, catalogue: this.#catalogue, disk: this.#disk });
  }

  /** Finishes what a killed engine had begun; before anything else. Answers how many changes that were. */
  async recover(): Promise<number> {
    const n = await recoverVersions(this.history, this.#disk, this.own.folder, this.deps.log);
    this.records.forget();
    return n;
  }

  /** Counts up with every change of a skill, whoever made it. */
  get generation(): number {
    return this.#generation;
  }

  /** The first look at many skills takes its time: this makes it in pieces, beside other work. */
  async ready(scope: Scope = {}): Promise<void> {
    for (const root of this.roots(scope)) if (this.#catalogue.lookedAt(root) === 0) await inPieces(this.#catalogue.look(root, false));
    this.#firstLook();
  }

  /** In the order in which they win. */
  roots({ workspace = null }: Scope = {}): SkillRoot[] {
    const projects = projectRoots(workspace);
    for (const root of projects) this.#projects.set(root.key, root);
    return [...projects, ...fixedRoots(this.own.folder, this.deps.config.read().skills)];
  }

  /** Those of the chats that were used last, whose skills a list for a person shows too. */
  recentProjects(): SkillRoot[] {
    const rows = this.deps.db.all(sqlFor.selectFrom('sessions').select(['workspace', sql<number>`max(updated_at)`.as('at')]).where('deleted_at', 'is', null).groupBy('workspace').orderBy('at', 'desc').limit(MAX_WORKSPACES));
    const { workspace } = this.deps.config.read().chat;
    const roots = [...(workspace === undefined ? [] : [workspace]), ...rows.map((row) => row.workspace)].flatMap((each) => projectRoots(each));
    for (const root of roots) this.#projects.set(root.key, root);
    return [...new Map(roots.map((root) => [root.key, root])).values()];
  }

  /**
   * All skills as they are on the disk now, of the roots that win first.
   * @param maxAgeMs a look made so short ago is as good as another
   */
  shown(scope: Scope | readonly SkillRoot[] = {}, deep: Depth = false, maxAgeMs = -1): Shown[] {
    const roots = 'length' in scope ? scope : this.roots(scope);
    for (const root of roots) if (Date.now() - this.#catalogue.lookedAt(root) > maxAgeMs) this.look(root, deep);
    const skills = roots.flatMap((root) => this.#catalogue.skills(root));
    return summariesOf(skills, this).map((summary, i) => ({ summary, skill: skills[i]! }));
  }

  async list(scope: Scope = {}): Promise<SkillSummary[]> {
    await this.ready(scope);
    return this.shown(scope).map(({ summary }) => summary);
  }

  /** Throws SkillError not_found. */
  async get(id: string): Promise<SkillDetail> {
    await this.ready();
    const { skill, all } = this.find(id);
    return detailOf(skill, all, this);
  }

  /** A skill by its id, as it is now. Throws SkillError not_found. */
  find(id: string): Shown & { all: Shown[] } {
    const key = id.slice(0, id.indexOf('/'));
    const project = this.#projects.get(key) ?? (key.startsWith('project:') ? this.recentProjects().find((root) => root.key === key) : undefined);
    const all = this.shown([...(project ? [project] : []), ...this.roots()], { named: id });
    const found = all.find(({ summary }) => summary.id === id);
    if (!found) throw new SkillError('not_found', `There is no skill ${JSON.stringify(id.slice(0, 200))} any more. Look at the list of skills.`);
    return { ...found, all };
  }

  categories(scope: Scope): ReadonlyMap<string, string> {
    return new Map(this.roots(scope).reverse().flatMap((root) => [...this.#catalogue.categories(root)]));
  }

  /** Skills as one agent sees them, for its tools. `apply: false`: without skill_manage. */
  toolsFor(of: { author: 'agent' | 'review'; trajectoryId: () => string | null; workspace: string | null; reviewId?: string | null; apply?: boolean }): SkillTools {
    return skillTools(this, of);
  }

  /**
   * What a change would do, checked and scanned, with nothing written. Also of skills that are the person's own: whether they want it is
   * asked of the person. Throws SkillError with the next step for what cannot be done or is dangerous.
   */
  async plan(input: SkillChange): Promise<{ skill: string; changes: ChangedFile[]; findings: Finding[] }> {
    await this.ready();
    const planned = changeDraft(this, input, 'review');
    return { skill: planned.draft.skill, changes: changesOf(planned.draft), findings: planned.findings };
  }

  /** Makes a change. Agents and reviews need `by.consent` for what is the person's own. Throws SkillError. */
  async change(input: SkillChange, by: ChangeBy): Promise<Committed & { skill: string; findings: Finding[] }> {
    await this.ready();
    return this.alone(async () => {
      const planned = changeDraft(this, input, by.author);
      if (planned.needsConsent !== null && (by.author === 'agent' || by.author === 'review') && by.consent !== true) throw new SkillError('conflict', planned.needsConsent, { details: { needs_consent: true } });
      return { ...(await this.commit(planned.draft, by)), skill: planned.draft.skill, findings: planned.findings };
    });
  }

  /** A whole folder as one version, e.g. an import. Throws SkillError conflict when there is one and `replace` is not set. */
  adopt(skill: { name: string; category: string | null; files: readonly SkillFileBytes[]; replace?: boolean }, by: ChangeBy): Promise<Committed> {
    return this.alone(() => this.commit(adoptDraft(this, skill, by.author), by));
  }

  /** Takes back exactly what a version did. Throws SkillError conflict when something else was changed since. */
  revert(versionId: number, by: ChangeBy): Promise<Committed> {
    return this.alone(() => this.commit(revertDraft(this, versionId), by));
  }

  /** Brings a skill to what it was after a version (a deletion: before it). */
  restore(versionId: number, by: ChangeBy): Promise<Committed> {
    return this.alone(() => this.commit(restoreDraft(this, versionId), by));
  }

  /** Removes skills of the trash for good, by the versions of their deletions. */
  purge(versionIds: readonly number[]): Promise<Purged> {
    return this.alone(async () => {
      const purged = await purgeSkills(this.history, this.own.folder, versionIds);
      this.records.forget();
      this.#changed();
      return purged;
    });
  }

  /** The skills that an agent with these tools in this workspace is offered, as a block of its system prompt; null when there are none. */
  indexFor({ tools, workspace }: { tools: readonly Pick<ToolSpec, 'name'>[]; workspace: string | null }): string | null {
    return skillIndex(this.shown({ workspace }, true), this.categories({ workspace }), tools);
  }

  /** Told of every change of a skill; answers with what ends that. While somebody listens, the disk is looked at now and then. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    let deep = false;
    this.#poll ??= setInterval(() => {
      deep = !deep;
      try {
        for (const root of [...this.roots(), ...this.#projects.values()]) this.look(root, deep);
      } catch (error) {
        this.#stopPolling();
        this.deps.log.error('Skills are no longer watched', error);
      }
    }, POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopPolling();
    };
  }

  setMark(id: string, mark: { enabled?: boolean | undefined; pinned?: boolean | undefined }): void {
    const { summary } = this.find(id);
    this.records.setMark(id, { enabled: mark.enabled ?? summary.enabled, pinned: mark.pinned ?? summary.pinned });
    this.#changed();
  }

  /** Commits within `alone`, and looks at what came of it. */
  async commit(draft: Draft, by: ChangeBy): Promise<Committed> {
    const done = await this.changer.commit(draft, by);
    this.records.forget();
    this.look(this.own, false);
    return done;
  }

  /** Changes one after the other. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(work);
    this.#lock = result.catch(() => undefined);
    return result;
  }

  look(root: SkillRoot, deep: Depth): void {
    for (const _ of this.#catalogue.look(root, deep));
    if (root.root === 'own') this.#firstLook();
  }

  #stopPolling(): void {
    if (this.#poll !== null) clearInterval(this.#poll);
    this.#poll = null;
  }

  #firstLook(): void {
    if (this.#looked) return;
    this.#looked = true;
    // a folder that is not there, e.g. on a disk that is not mounted, is no sign that all skills were deleted
    if (statOf(this.own.folder) !== null) this.changer.noticedLosses(new Set(this.#catalogue.skills(this.own).map(({ path }) => path)));
  }

  #changed(): void {
    this.#generation += 1;
    for (const listener of this.#listeners) listener();
  }
}

export function changesOf(draft: Draft): ChangedFile[] {
  return draft.entries.map((entry) => shownChange(storedChange(entry)));
}


async function inPieces(steps: Generator<void>): Promise<void> {
  let since = performance.now();
  while (steps.next().done !== true) {
    if (performance.now() - since < SLICE_MS) continue;
    await yieldToOthers();
    since = performance.now();
  }
}
