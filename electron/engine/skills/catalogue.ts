import { realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { injectionSigns } from '../agent/prompt/injection.ts';
import { isInside } from '../sandbox/confine.ts';
import { textFindings } from './guard.ts';
import { parseSkill } from './frontmatter.ts';
import { metaOf } from './meta.ts';
import { MAIN_FILE } from './names.ts';
import type { SkillRoot } from './roots.ts';
import { isStale, loadSkill, readText, type Skill } from './skill.ts';
import { namesIn, stampOf, statOf } from './walk.ts';

/** Folders are gone through this deep: categories may have categories. */
const MAX_DEPTH = 4;
const MAX_SKILLS = 5_000;
const MAX_FOLDERS = 20_000;
const MAX_CATEGORY_BYTES = 16_384;

/** How closely skills are looked at: SKILL.md and the list of files; every file (true); every file of those of one name. */
export type Depth = boolean | { named: string };

interface Category {
  stamp: string;
  description: string | null;
}

interface Shelf {
  skills: Map<string, Skill>;
  categories: Map<string, Category>;
  lookedAt: number;
}

/** What the disk says of a root, remembered; a look at it reads again only what may have changed. */
export class Catalogue {
  readonly #shelves = new Map<string, Shelf>();
  /** Skills (key of the root and path) that are being changed: they are as they were until that is done. */
  readonly #held = new Set<string>();
  /** Told after a look at a root: what was read anew, and what is gone. */
  readonly #seen: (root: SkillRoot, loaded: readonly Skill[], gone: readonly Skill[]) => void;

  constructor(seen: (root: SkillRoot, loaded: readonly Skill[], gone: readonly Skill[]) => void) {
    this.#seen = seen;
  }

  /** Epoch ms of the last look at a root; 0 before the first. */
  lookedAt(root: SkillRoot): number {
    return this.#shelves.get(root.key)?.lookedAt ?? 0;
  }

  /** The skills of a root as of the last look, sorted by path. */
  skills(root: SkillRoot): Skill[] {
    return [...(this.#shelves.get(root.key)?.skills.values() ?? [])];
  }

  /** What DESCRIPTION.md says of the categories of a root; without what might be meant to take over an agent. */
  categories(root: SkillRoot): ReadonlyMap<string, string> {
    const all = [...(this.#shelves.get(root.key)?.categories ?? [])];
    return new Map(all.flatMap(([category, { description }]) => (description === null ? [] : [[category, description] as const])));
  }

  hold(root: SkillRoot, path: string): void {
    this.#held.add(`${root.key}/${path}`);
  }

  /** The skill was changed: it is read anew at the next look. */
  release(root: SkillRoot, path: string): void {
    this.#held.delete(`${root.key}/${path}`);
    const skill = this.#shelves.get(root.key)?.skills.get(path);
    if (skill) skill.racy = true;
  }

  /** Looks at a root. A generator, so that a first look at many can be made in pieces: it yields after each skill that was read. */
  *look(root: SkillRoot, deep: Depth): Generator<void> {
    const shelf = this.#shelves.get(root.key) ?? { skills: new Map<string, Skill>(), categories: new Map<string, Category>(), lookedAt: 0 };
    const found = new Map<string, Skill>();
    const loaded: Skill[] = [];
    const lookedAt = Date.now();
    const { candidates, categories } = candidatesIn(root);
    for (const { path, main, linked } of candidates) {
      const known = shelf.skills.get(path);
      if (known && (this.#held.has(known.id) || !isStale(known, isDeep(deep, known), main))) {
        found.set(path, known);
        continue;
      }
      // one that is being made is no skill yet
      if (this.#held.has(`${root.key}/${path}`)) continue;
      const skill = loadSkill(root, path, linked);
      // gone since the folder was listed
      if (!linked && !skill.walked.files.some((file) => file.path === MAIN_FILE)) continue;
      found.set(path, skill);
      if (known === undefined || differs(known, skill)) loaded.push(skill);
      yield;
    }
    const gone = [...shelf.skills.values()].filter((skill) => !found.has(skill.path) && !this.#held.has(skill.id));
    for (const skill of shelf.skills.values()) if (!found.has(skill.path) && this.#held.has(skill.id)) found.set(skill.path, skill);
    // the latest word wins where two looks were made at the same time: both read the same disk
    this.#shelves.set(root.key, { skills: found, categories: new Map(categories.map((category) => [category, readCategory(root, category, shelf.categories.get(category))])), lookedAt });
    if (loaded.length > 0 || gone.length > 0) this.#seen(root, loaded, gone);
  }
}

/** A file that is read again because of its times may be the same all the same. */
function differs(a: Skill, b: Skill): boolean {
  return JSON.stringify([a.walked, a.lint, a.scan]) !== JSON.stringify([b.walked, b.lint, b.scan]);
}

function isDeep(deep: Depth, { name, path }: Skill): boolean {
  return typeof deep === 'boolean' ? deep : name === deep.named || path === deep.named || path.endsWith(`/${deep.named}`) || deep.named.endsWith(`/${path}`);
}

interface Candidate {
  path: string;
  main: Stats;
  linked: boolean;
}

function candidatesIn(root: SkillRoot): { candidates: Candidate[]; categories: string[] } {
  const candidates: Candidate[] = [];
  const categories: string[] = [];
  const pending: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  for (const { path, depth } of pending) {
    let isCategory = false;
    const at = join(root.folder, path);
    for (const name of namesIn(at)) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      const child = path === '' ? name : `${path}/${name}`;
      const folder = `${at}/${name}`;
      // asking for SKILL.md first saves a call for each skill
      const main = statOf(`${folder}/${MAIN_FILE}`);
      if (main !== null && !main.isDirectory()) {
        candidates.push({ path: child, main, linked: leadsOut(root.folder, folder) });
        isCategory = path !== '';
      } else if (depth + 1 < MAX_DEPTH && pending.length < MAX_FOLDERS && statOf(folder)?.isDirectory()) pending.push({ path: child, depth: depth + 1 });
      if (candidates.length >= MAX_SKILLS) return { candidates, categories };
    }
    if (isCategory) categories.push(path);
  }
  candidates.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { candidates, categories };
}

function leadsOut(root: string, folder: string): boolean {
  if (!statOf(folder)?.isSymbolicLink()) return false;
  try {
    return !isInside(realpathSync(root), realpathSync(folder));
  } catch {
    return true;
  }
}

function readCategory(root: SkillRoot, category: string, known: Category | undefined): Category {
  const folder = join(root.folder, category);
  const stats = statOf(join(folder, 'DESCRIPTION.md'));
  const stamp = stats === null ? '' : stampOf(stats);
  if (known?.stamp === stamp) return known;
  const text = stats === null ? null : readText(folder, 'DESCRIPTION.md', MAX_CATEGORY_BYTES);
  if (text === null || textFindings('DESCRIPTION.md', text).some(({ severity }) => severity === 'critical' || severity === 'high')) return { stamp, description: null };
  const parsed = parseSkill(text);
  const said = metaOf(parsed).description;
  if (said !== null && injectionSigns(said).length > 0) return { stamp, description: null };
  const line = said ?? parsed.body.split('\n').find((each) => each.trim() !== '' && !each.startsWith('#') && !each.startsWith('---')) ?? null;
  return { stamp, description: line?.trim() ?? null };
}
