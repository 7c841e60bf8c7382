import { MAIN_FILE, nameProblem, SUPPORT_FOLDERS } from '../names.ts';
import { MAX_SKILLS } from './limits.ts';
import { type Entry, named } from './source.ts';

/** A folder with a SKILL.md, and what is in it. */
export interface FoundFolder {
  /** Below the source; "." for the source itself. */
  key: string;
  main: Entry;
  /** Files by their path within the skill, SKILL.md among them. */
  files: { path: string; entry: Entry }[];
  /** Links and devices in it. */
  links: string[];
}

/** Where programs keep what they took out of use, or have not let in. */
const ASIDE = new Set(['.hub', '.archive', '.trash', '.backup', '.git', 'quarantine', 'pending']);

/**
 * Finds the skills among the entries of a source: every folder with a SKILL.md. One that lies in another skill's support folders (a template,
 * say) is part of that skill; any other is one of its own, and no part of the skill above it.
 * @param below only what lies in this folder of the source; empty for everything
 */
export function findSkills(entries: readonly Entry[], below = ''): { skills: FoundFolder[]; problems: { path: string; message: string }[] } {
  const problems: { path: string; message: string }[] = [];
  const start = below === '' ? '' : `${below}/`;
  const inside = entries.filter((entry) => entry.path.startsWith(start));
  const folders = new Map<string, FoundFolder>();
  const mains = inside.filter((entry) => baseOf(entry.path) === MAIN_FILE).map((entry) => ({ entry, folder: folderOf(entry.path) }));
  mains.sort((a, b) => a.folder.split('/').length - b.folder.split('/').length || (a.folder < b.folder ? -1 : 1));
  for (const { entry, folder } of mains) {
    if (folder.split('/').some((part) => ASIDE.has(part))) continue;
    const above = ownerOf(folderOf(folder), folders, folder);
    if (above !== null && (SUPPORT_FOLDERS as readonly string[]).includes(within(folder, above.key).split('/')[0]!)) continue;
    if (entry.kind !== 'file') {
      problems.push({ path: entry.path, message: `${named(entry.path)} is a link. Import the folder that it points to.` });
      continue;
    }
    folders.set(folder, { key: folder, main: entry, files: [], links: [] });
  }
  for (const entry of inside) {
    const owner = ownerOf(folderOf(entry.path), folders, null);
    if (owner === null) {
      if (entry.kind === 'link') problems.push({ path: entry.path, message: `${named(entry.path)} is a link and is not followed. Import what it points to.` });
      continue;
    }
    const path = within(entry.path, owner.key);
    if (entry.kind === 'file') owner.files.push({ path, entry });
    else owner.links.push(path);
  }
  const skills = [...folders.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const { files } of skills) files.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (skills.length > MAX_SKILLS) problems.push({ path: '.', message: `There are ${skills.length.toLocaleString('en')} skills; the first ${MAX_SKILLS.toLocaleString('en')} are shown. Import the others folder by folder.` });
  return { skills: skills.slice(0, MAX_SKILLS), problems: problems.slice(0, 200) };
}

/**
 * The category that a skill's place says: the folder above it, where that is a folder of skills and not of the source's own order. Zip files
 * of repositories have everything in one folder, which says nothing either.
 */
export function categoryOf(key: string, onlyTop: string | null): string | null {
  const parts = key.split('/').slice(0, -1);
  const skills = parts.lastIndexOf('skills');
  const order = skills >= 0 ? parts.slice(skills + 1) : parts[0] === onlyTop ? parts.slice(1) : parts;
  const last = order.at(-1)?.toLowerCase();
  return last === undefined || nameProblem(last, 'category') !== null ? null : last;
}

/** The one folder that everything lies in, when that is no skill itself. */
export function onlyTopOf(entries: readonly Entry[], skills: readonly FoundFolder[]): string | null {
  const top = entries[0]?.path.split('/')[0] ?? '';
  return entries.every((entry) => entry.path.startsWith(`${top}/`)) && !skills.some((skill) => skill.key === top) ? top : null;
}

function ownerOf(folder: string, folders: ReadonlyMap<string, FoundFolder>, not: string | null): FoundFolder | null {
  for (let at = folder; ; at = folderOf(at)) {
    const found = at === not ? undefined : folders.get(at);
    if (found) return found;
    if (at === '.') return null;
  }
}

function folderOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '.' : path.slice(0, at);
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function within(path: string, folder: string): string {
  return folder === '.' ? path : path.slice(folder.length + 1);
}
