import { join } from 'node:path';
import type { Author, Finding } from '#shared/contract/skills.ts';
import type { SkillChange } from '../tools/types.ts';
import type { Depth } from './catalogue.ts';
import { type Changer, type Draft, entriesBetween } from './changer.ts';
import { checkMain, editOf } from './edits.ts';
import { SkillError } from './errors.ts';
import { parseSkill } from './frontmatter.ts';
import { mostScanned, scanFiles, type ScannedFile } from './guard.ts';
import { contentOf, type Entry, filesOf, type History, type KeptFile, movedFolder, type Version } from './history.ts';
import { isExecutable } from './disk.ts';
import { isThere } from './journal.ts';
import { metaOf } from './meta.ts';
import { filePath, folderOf, MAIN_FILE } from './names.ts';
import type { Records } from './records.ts';
import type { SkillRoot } from './roots.ts';
import { similarNames, similarSkills } from './similar.ts';
import { readInside, readText, type Skill } from './skill.ts';
import type { Scope, Shown, SkillFileBytes } from './types.ts';

/** What plans are made of: the library, as far as they need it. */
export interface PlanGround {
  own: SkillRoot;
  history: History;
  records: Records;
  changer: Changer;
  shown(scope: Scope, deep: Depth): Shown[];
}

/** What a change would do, with what the guard says of the skill afterwards. */
export interface Planned {
  draft: Draft;
  findings: Finding[];
  /** A sentence when it is the person's own skill; null when agents may change it. */
  needsConsent: string | null;
  /** Pinned: agents do not even ask. */
  pinned: boolean;
}

const MAX_NAMED = 8;

/** Throws SkillError with the next step. Of agents and reviews more is asked than of a person: no danger, no near duplicates. */
export function changeDraft(library: PlanGround, input: SkillChange, author: Author): Planned {
  const strict = author === 'agent' || author === 'review';
  const all = library.shown({}, { named: input.name });
  const planned = input.action === 'create' ? creation(library, input, all, strict) : changing(library, input, findOwn(all, input.name, input.category), strict);
  if (strict) refuseDanger(planned);
  return planned;
}

function creation(library: PlanGround, input: SkillChange, all: readonly Shown[], strict: boolean): Planned {
  const skill = folderOf(input.name, input.category ?? null);
  if (input.content === undefined) throw new SkillError('invalid', 'create needs content: the whole text of SKILL.md, with "name" and "description" between two lines "---", then the instructions.', { field: 'content' });
  const same = all.find(({ summary, skill: other }) => summary.name === input.name || other.path.split('/').at(-1) === input.name);
  if (same) throw new SkillError('conflict', `There is a skill "${input.name}" already (${same.summary.description.slice(0, 200)}). Look at it with skill_view and change it with patch, or choose another name.`, { field: 'name', details: { existing: same.summary.id } });
  refuseTaken(library, skill, all);
  checkMain(null, input.content, input.name);
  if (strict && input.allowSimilar !== true) refuseSimilar(input.name, input.content, all);
  const bytes = Buffer.from(input.content);
  return { draft: { skill, action: 'create', entries: [{ path: MAIN_FILE, before: null, after: bytes }] }, findings: scanFiles([{ path: MAIN_FILE, size: bytes.length, bytes }]).findings, needsConsent: null, pinned: false };
}

/** Throws SkillError when something else has the folder. */
export function refuseTaken(library: PlanGround, skill: string, all: readonly Shown[]): void {
  const [category, name] = skill.split('/');
  if (name !== undefined && all.some(({ summary, skill: other }) => summary.root === 'own' && other.path === category)) throw new SkillError('conflict', `"${category}" is a skill, so it cannot be a category. Choose another category.`, { field: 'category' });
  if (isThere(join(library.own.folder, skill))) throw new SkillError('conflict', `There is a folder "${skill}" among the skills already. Choose another name.`, { field: 'name' });
}

function refuseSimilar(name: string, content: string, all: readonly Shown[]): void {
  const description = metaOf(parseSkill(content)).description ?? '';
  const alike = similarSkills({ name, description }, all.filter(({ summary }) => summary.verdict !== 'dangerous').map(({ summary }) => summary));
  const [first] = alike;
  if (!first) return;
  throw new SkillError('conflict', `There is a skill much like it: "${first.name}". Look at it with skill_view; if it is about the same, mend or extend it with patch. Only if yours is another thing, send create again with allow_similar set to true.`, {
    field: 'name',
    details: { similar: alike.map((skill) => ({ name: skill.name, description: skill.description.slice(0, 200) })) },
  });
}

function changing(library: PlanGround, input: SkillChange, shown: Shown, strict: boolean): Planned {
  const { skill, summary } = shown;
  const line = library.history.line(skill.path);
  const needsConsent = summary.pinned
    ? `The skill "${summary.name}" is pinned by the person. Ask them to change it, or to unpin it, in the Skills screen.`
    : line && !line.persons
      ? null
      : `The skill "${summary.name}" is the person's own: nothing of it is changed without their consent. Tell them what you would change, or write a skill of your own.`;
  if (strict && library.records.mark(skill.id)?.enabled === false) throw new SkillError('conflict', `The skill "${summary.name}" was switched off by the person, so it is left as it is.`);
  if (input.action === 'delete') {
    if (summary.pinned) throw new SkillError('conflict', `The skill "${summary.name}" is pinned and cannot be deleted. Unpin it in the Skills screen first.`);
    return { draft: library.changer.deletion(skill), findings: [], needsConsent, pinned: false };
  }
  const edit = editOf(input, { name: skill.path.split('/').at(-1)!, files: skill.walked.files.filter(({ kind }) => kind === 'file').map(({ path }) => path), read: (path) => readText(skill.folder, path) });
  const before = readInside(skill.folder, edit.path);
  const after = edit.text === null ? null : Buffer.from(edit.text);
  if (before && after?.equals(before)) throw new SkillError('invalid', `${edit.path} reads like that already; nothing was changed.`);
  if (edit.path === MAIN_FILE && after) checkMain(before?.toString('utf8') ?? null, after.toString('utf8'), skill.path.split('/').at(-1)!);
  const entries = [{ path: edit.path, before, after }];
  return { draft: { skill: skill.path, action: input.action, entries }, findings: scanAfter(skill, entries), needsConsent, pinned: summary.pinned };
}

/** What the guard says of a skill with these changes. */
export function scanAfter(skill: Skill, entries: readonly Entry[]): Finding[] {
  const changed = new Map(entries.map(({ path, after }) => [path, after]));
  const kept = skill.walked.files.filter(({ path }) => !changed.has(path)).map((file): ScannedFile => ({ ...file, size: file.bytes, bytes: readInside(skill.folder, file.path, mostScanned(file.path)) }));
  const added = [...changed].flatMap(([path, bytes]): ScannedFile[] => (bytes === null ? [] : [{ path, size: bytes.length, bytes }]));
  return scanFiles([...kept, ...added], skill.walked).findings;
}

function refuseDanger({ findings }: Pick<Planned, 'findings'>): void {
  const critical = findings.filter(({ severity, category }) => severity === 'critical' || category === 'hidden_characters');
  const [first] = critical;
  if (!first) return;
  const where = first.line === null ? first.file : `${first.file}, line ${first.line}`;
  throw new SkillError('invalid', `Refused, for it may be dangerous (${where}): ${first.message} Leave that out and send it again; nothing was changed.`, {
    details: { findings: critical.slice(0, 5).map(({ category, file, line, excerpt, message }) => ({ category, file, line, excerpt, message })) },
  });
}

/** One of one's own, by name, "category/name" or id. Throws SkillError not_found, or conflict for what is not to be changed here. */
export function findOwn(all: readonly Shown[], asked: string, category?: string): Shown {
  const own = all.filter(({ summary }) => summary.root === 'own');
  const path = category === undefined || category === '' || asked.includes('/') ? asked : `${category}/${asked}`;
  const exact = own.find(({ skill, summary }) => skill.path === path || summary.id === path);
  const named = exact ? [exact] : own.filter(({ skill, summary }) => summary.name === asked || skill.path.split('/').at(-1) === asked);
  if (named.length === 1) return named[0]!;
  if (named.length > 1) throw new SkillError('conflict', `Several skills are called "${asked}": ${named.map(({ skill }) => skill.path).join(', ')}. Give the name with its category.`, { field: 'name' });
  const elsewhere = all.find(({ summary }) => summary.name === asked || summary.id === asked);
  if (elsewhere) throw new SkillError('conflict', `The skill "${asked}" is read only: it lies in ${elsewhere.skill.folder}. Write a skill of your own under another name instead.`, { field: 'name' });
  const names = own.map(({ summary }) => summary.name);
  const near = similarNames(asked, names);
  throw new SkillError('not_found', `There is no skill ${JSON.stringify(asked.slice(0, 80))}. ${near.length > 0 ? `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : 'Look at skills_list, or make it with action "create".'}`, { field: 'name', details: { available: names.slice(0, MAX_NAMED) } });
}

export function adoptDraft(library: PlanGround, { name, category, files, replace }: { name: string; category: string | null; files: readonly SkillFileBytes[]; replace?: boolean }, author: Author): Draft {
  const all = library.shown({}, { named: name });
  const skill = folderOf(name, category);
  // that it cannot be run is only said by some sources: there it stays as it is here, and a new script can be run
  const then = new Map(files.map(({ path, bytes, executable }): [string, KeptFile] => [filePath(path), { bytes, executable: executable || null }]));
  if (!then.has(MAIN_FILE)) throw new SkillError('invalid', `"${name}" has no SKILL.md.`);
  if (author === 'agent' || author === 'review') refuseDanger({ findings: scanFiles([...then].map(([path, { bytes, executable }]) => ({ path, size: bytes!.length, bytes, executable: executable === true }))).findings });
  const there = all.find(({ summary, skill: other }) => summary.root === 'own' && other.path === skill);
  if (!there) {
    refuseTaken(library, skill, all);
    return { skill, action: 'import', entries: entriesBetween(new Map(), then) };
  }
  if (replace !== true) throw new SkillError('conflict', `There is a skill "${skill}" already.`, { field: 'name' });
  const entries = entriesBetween(contentsOf(there.skill), then);
  if (entries.length === 0) throw new SkillError('conflict', `The skill "${skill}" is like that already.`);
  return { skill, action: 'import', entries };
}

/** The skill as it was after a version (a deletion: before it). Throws SkillError. */
export function restoreDraft(library: PlanGround, versionId: number): Draft {
  let version = versionOf(library, versionId);
  const skill = version.skill.split('@')[0]!;
  const all = library.shown({}, { named: skill });
  const there = all.find(({ summary, skill: other }) => summary.root === 'own' && other.path === skill);
  if (!there) {
    refuseTaken(library, skill, all);
    // versions of a skill that was followed by another one of its name come back with it
    if (version.skill !== skill) {
      const last = library.history.line(skill)?.latest.id;
      if (last !== undefined) library.history.rekey(skill, `${skill}@${last}`);
      library.history.rekey(version.skill, skill);
      version = versionOf(library, versionId);
    }
    const then = library.history.filesAt(version);
    const trash = version.action === 'delete' ? movedFolder(version.changes)?.after : undefined;
    const entries = [...then].map(([path, { bytes, executable }]): Entry => ({ path, before: null, after: bytes, executable: [null, executable] }));
    if (trash !== undefined && isThere(join(library.own.folder, trash))) return { skill, action: 'restore', move: { from: trash, to: skill }, entries: entries.filter(({ after }) => after !== null) };
    return { skill, action: 'restore', entries: entriesBetween(new Map(), then) };
  }
  if (version.skill !== skill) throw new SkillError('conflict', `Another skill is called "${skill}" now. Rename it first, then restore this one.`);
  const entries = entriesBetween(contentsOf(there.skill), library.history.filesAt(version));
  if (entries.length === 0) throw new SkillError('conflict', 'The skill is like that already.');
  return { skill, action: 'restore', entries };
}

/** The opposite of a version. Throws SkillError conflict when what it changed was changed again. */
export function revertDraft(library: PlanGround, versionId: number): Draft {
  const version = versionOf(library, versionId);
  if (version.action === 'delete') return { ...restoreDraft(library, versionId), action: 'revert' };
  const since = (what: string): SkillError => new SkillError('conflict', `${what} since, so this change cannot simply be taken back. Look at the history of the skill, and restore the version that you want.`);
  const shown = library.shown({}, { named: version.skill }).find(({ summary, skill }) => summary.root === 'own' && skill.path === version.skill);
  if (!shown) throw since(`The skill "${version.skill}" was moved or deleted`);
  const { skill } = shown;
  const move = movedFolder(version.changes);
  const begins = library.history.versions(version.skill).at(-1)?.id === versionId;
  if (begins || (filesOf(version).every(({ before }) => before === null) && version.tree.size === filesOf(version).length)) {
    if (!sameTree(skill.tree, version.tree)) throw since('The skill was changed');
    return library.changer.deletion(skill);
  }
  const entries = filesOf(version).map((change): Entry => {
    const now = readInside(skill.folder, change.path);
    const [before, after] = [contentOf(change, 'before'), contentOf(change, 'after')];
    if (change.kept === false) throw new SkillError('unavailable', `"${change.path}" was too large to be kept, so this cannot be taken back.`);
    if (now === null ? after !== null : after === null || !now.equals(after)) throw since(`"${change.path}" was changed`);
    return { path: change.path, before: now, after: before, executable: [null, change.executable?.[0] ?? null] };
  });
  if (!move) return { skill: version.skill, action: 'revert', entries };
  if (isThere(join(library.own.folder, move.before))) throw since(`"${move.before}" was taken by something else`);
  return { skill: move.before, action: 'rename', move: { from: version.skill, to: move.before }, entries };
}

function versionOf(library: PlanGround, versionId: number): Version {
  const version = library.history.get(versionId);
  if (!version) throw new SkillError('not_found', 'This version is no longer in the store.');
  return version;
}

/** Files of a skill; one that is too large to be read without its content. */
export function contentsOf(skill: Skill): Map<string, KeptFile> {
  return new Map(skill.walked.files.filter(({ kind }) => kind === 'file').map(({ path }) => [path, { bytes: readInside(skill.folder, path), executable: isExecutable(join(skill.folder, path)) }]));
}

function sameTree(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, hash]) => b.get(path) === hash);
}
