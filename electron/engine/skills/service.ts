import type { z } from 'zod';
import type { skillsContract, SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import { throttled } from '../feed.ts';
import type { Draft } from './changer.ts';
import { SkillError } from './errors.ts';
import { parseSkill, withName } from './frontmatter.ts';
import { mainFindings, mostScanned } from './guard.ts';
import { contentOf, type Entry, filesOf, type KeptFile, NOT_KEPT, shownChange, storedChange } from './history.ts';
import type { SkillLibrary } from './library.ts';
import { lintSkill } from './lint.ts';
import { metaOf } from './meta.ts';
import { filePath, folderOf, MAIN_FILE } from './names.ts';
import { contentsOf, refuseTaken } from './plans.ts';
import { rootProblem } from './roots.ts';
import { hashOf, readInside, readText } from './skill.ts';
import type { ChangeBy, Shown } from './types.ts';

const TICK_MS = 250;
const LINT_AGE_MS = 3_000;

type Input<K extends keyof typeof skillsContract> = z.output<NonNullable<(typeof skillsContract)[K]['~orpc']['inputSchema']>>;
type Output<K extends keyof typeof skillsContract> = z.input<NonNullable<(typeof skillsContract)[K]['~orpc']['outputSchema']>>;

const byPerson = (reason: string): ChangeBy => ({ author: 'person', trajectoryId: null, reviewId: null, reason });

/** What the Skills screen asks for: a person's own changes, for which the guard warns and does not refuse. Throws SkillError. */
export class SkillService {
  readonly #library: SkillLibrary;

  constructor(library: SkillLibrary) {
    this.#library = library;
  }

  async list(): Promise<Output<'list'>> {
    const library = this.#library;
    await library.ready();
    const roots = [...library.recentProjects(), ...library.roots()];
    // the list follows a tick, and that a look
    const items = library.shown(roots, false, TICK_MS).map(({ summary }) => summary);
    return { items, roots: roots.map((root) => ({ root: root.root, folder: root.folder, readOnly: root.readOnly, problem: rootProblem(root) })), trash: library.history.dead().length };
  }

  get({ id }: Input<'get'>): Promise<SkillDetail> {
    return this.#library.get(id);
  }

  async file({ id, path }: Input<'file'>): Promise<Output<'file'>> {
    await this.#library.ready();
    const { skill } = this.#library.find(id);
    const clean = filePath(path);
    const file = skill.walked.files.find((each) => each.path === clean && each.kind === 'file');
    if (!file) throw new SkillError('not_found', `The skill has no file "${clean}".`);
    return { text: readText(skill.folder, clean), bytes: file.bytes };
  }

  lint({ text, id }: Input<'lint'>): Output<'lint'> {
    const parsed = parseSkill(text);
    const { machine } = this.#library;
    // asked at every pause of typing
    const all = id === undefined ? [] : this.#library.shown({}, false, LINT_AGE_MS);
    const shown = all.find(({ summary }) => summary.id === id);
    const place = shown ? { folder: shown.skill.path.split('/').at(-1)!, files: shown.skill.walked.files.map(({ path }) => path), names: new Set(all.map(({ summary }) => summary.name)) } : {};
    return {
      lint: lintSkill(text, parsed, { ...place, platform: machine.platform, missing: (meta) => machine.missing(meta) }),
      findings: Buffer.byteLength(text) > mostScanned(MAIN_FILE) ? [] : mainFindings(text),
      frontmatter: parsed.data,
    };
  }

  create({ name, category, description, text }: Input<'create'>): Promise<SkillDetail> {
    return this.#change(() => {
      const skill = folderOf(name, category);
      const all = this.#library.shown();
      if (all.some(({ summary }) => summary.root === 'own' && summary.name === name)) throw new SkillError('conflict', `There is a skill "${name}" already. Choose another name.`, { field: 'name' });
      refuseTaken(this.#library, skill, all);
      const whole = text ?? skeleton(name, description);
      return { draft: { skill, action: 'create', entries: [{ path: MAIN_FILE, before: null, after: Buffer.from(whole) }] }, reason: '' };
    });
  }

  save({ id, path = MAIN_FILE, text, baseHash, reason }: Input<'save'>): Promise<SkillDetail> {
    return this.#change(() => {
      const { skill } = this.#own(id);
      const clean = filePath(path);
      const known = skill.walked.files.find((file) => file.path === clean);
      const before = readInside(skill.folder, clean);
      if (known && before === null) throw new SkillError('conflict', `"${clean}" is too large, or a link out of the skill, and is not edited here.`);
      if (skill.walked.files.some((file) => file.path.startsWith(`${clean}/`))) throw new SkillError('invalid', `"${clean}" is a folder of the skill.`, { field: 'path' });
      if (baseHash !== null && before !== null && hashOf(before) !== baseHash) throw new SkillError('conflict', 'The file was changed meanwhile, by an agent or another program. Look at what changed before you save over it.');
      const after = Buffer.from(text);
      if (before?.equals(after)) return null;
      return { draft: { skill: skill.path, action: clean === MAIN_FILE ? 'edit' : 'write_file', entries: [{ path: clean, before, after }] }, reason };
    }, id);
  }

  removeFile({ id, path }: Input<'removeFile'>): Promise<SkillDetail> {
    return this.#change(() => {
      const { skill } = this.#own(id);
      const clean = filePath(path);
      if (clean === MAIN_FILE) throw new SkillError('invalid', 'SKILL.md is the skill itself. Delete the whole skill instead.', { field: 'path' });
      if (!skill.walked.files.some((file) => file.path === clean)) throw new SkillError('not_found', `The skill has no file "${clean}".`);
      return { draft: { skill: skill.path, action: 'remove_file', entries: [{ path: clean, before: readInside(skill.folder, clean) ?? NOT_KEPT, after: null }] }, reason: '' };
    });
  }

  move({ id, name, category }: Input<'move'>): Promise<SkillDetail> {
    return this.#change(() => {
      const { skill, summary } = this.#own(id);
      const to = folderOf(name, category);
      const all = this.#library.shown();
      if (to !== skill.path) refuseTaken(this.#library, to, all);
      if (all.some(({ summary: other }) => other.id !== id && other.root === 'own' && other.name === name)) throw new SkillError('conflict', `There is a skill "${name}" already. Choose another name.`, { field: 'name' });
      const main = readText(skill.folder, MAIN_FILE);
      const renamed = main === null || summary.name === name ? null : withName(main, name);
      const entries: Entry[] = renamed === null ? [] : [{ path: MAIN_FILE, before: Buffer.from(main!), after: Buffer.from(renamed) }];
      if (to === skill.path) return entries.length === 0 ? null : { draft: { skill: to, action: 'edit', entries }, reason: `The name is "${name}" now.` };
      return { draft: { skill: to, action: 'rename', move: { from: skill.path, to }, entries }, reason: `It was ${skill.path} before.` };
    }, id);
  }

  async remove({ id }: Input<'remove'>): Promise<Output<'remove'>> {
    await this.#library.ready();
    return this.#library.alone(async () => {
      const { skill, summary } = this.#own(id);
      if (summary.pinned) throw new SkillError('conflict', 'The skill is pinned. Unpin it first.');
      const { versionId } = await this.#library.commit(this.#library.changer.deletion(skill), byPerson(''));
      return { versionId };
    });
  }

  trash(): Output<'trash'> {
    const { history } = this.#library;
    const items = history.dead().flatMap(({ skill, versionId }) => {
      const version = history.get(versionId);
      const about = history.about(versionId);
      if (!version || !about) return [];
      const main = filesOf(version).find(({ path }) => path === MAIN_FILE);
      const bytes = main ? contentOf(main, 'before') : null;
      const meta = metaOf(parseSkill(bytes?.toString('utf8') ?? ''));
      const path = skill.split('@')[0]!;
      return [{ skill: path, name: meta.name ?? path.split('/').at(-1)!, description: meta.description ?? '', versionId, deletedAt: about.createdAt, author: about.author }];
    });
    return { items };
  }

  async purge({ versionIds }: Input<'purge'>): Promise<Output<'purge'>> {
    await this.#library.ready();
    return this.#library.purge(versionIds);
  }

  async versions({ id }: Input<'versions'>): Promise<Output<'versions'>> {
    await this.#library.ready();
    const { skill, summary } = this.#library.find(id);
    return { items: summary.root === 'own' ? this.#library.history.versions(skill.path) : [] };
  }

  async diff({ versionId, against }: Input<'diff'>): Promise<Output<'diff'>> {
    await this.#library.ready();
    const { history } = this.#library;
    const version = history.get(versionId);
    if (!version) throw new SkillError('not_found', 'This version is no longer in the store.');
    if (against === 'previous') return { files: filesOf(version).map(shownChange) };
    const then = history.filesAt(version);
    const there = this.#library.shown({}, true).find(({ summary, skill }) => summary.root === 'own' && skill.path === version.skill);
    const now = there ? contentsOf(there.skill) : new Map<string, KeptFile>();
    const paths = [...new Set([...then.keys(), ...now.keys()])].sort();
    const entries = paths.flatMap((path): Entry[] => {
      const [before, after] = [then, now].map((files) => (files.has(path) ? (files.get(path)?.bytes ?? NOT_KEPT) : null)) as [Buffer | null, Buffer | null];
      return before === after || (before && after?.equals(before)) ? [] : [{ path, before, after }];
    });
    return { files: entries.map((entry) => shownChange(storedChange(entry))) };
  }

  async restore({ versionId }: Input<'restore'>): Promise<SkillDetail> {
    await this.#library.ready();
    const { id } = await this.#library.restore(versionId, byPerson(''));
    return this.#library.get(id);
  }

  async mark({ id, enabled, pinned }: Input<'mark'>): Promise<SkillSummary> {
    await this.#library.ready();
    this.#library.setMark(id, { enabled, pinned });
    return this.#library.find(id).summary;
  }

  usage({ id }: Input<'usage'>): Output<'usage'> {
    return this.#library.records.usage(id);
  }

  /** The number of changes so far, then again whenever there were more. */
  changes(signal?: AbortSignal): AsyncGenerator<{ generation: number }> {
    return throttled(TICK_MS, (tell) => this.#library.onChange(tell), () => ({ generation: this.#library.generation }), signal);
  }

  /** A person's change; `plan` answers null when there is nothing to do. */
  async #change(plan: () => { draft: Draft; reason: string } | null, id?: string): Promise<SkillDetail> {
    await this.#library.ready();
    const done = await this.#library.alone(async () => {
      const planned = plan();
      return planned === null ? null : this.#library.commit(planned.draft, byPerson(planned.reason));
    });
    return this.#library.get(done?.id ?? id!);
  }

  /** One that can be changed. */
  #own(id: string): Shown {
    const shown = this.#library.find(id);
    if (shown.summary.readOnly) throw new SkillError('conflict', `This skill is read only: it lies in ${shown.skill.folder}. Import it to have one of your own.`);
    return shown;
  }
}

function skeleton(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n# ${name}\n\n## When to use\n\n## Steps\n\n1. \n\n## Check\n`;
}
