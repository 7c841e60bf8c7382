import { SkillError } from './errors.ts';

export const MAIN_FILE = 'SKILL.md';
export const SUPPORT_FOLDERS = ['references', 'templates', 'scripts', 'assets', 'examples'] as const;
/** agentskills.io allows letters, digits and hyphens; Hermes Agent dots and underscores too. */
const NAME = /^[a-z0-9][a-z0-9._-]*$/;
export const MAX_NAME_CHARS = 64;
const MAX_PATH_CHARS = 300;
/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Why this is no name of a skill or category, a sentence; null when it is one. */
export function nameProblem(name: string, what: 'name' | 'category' = 'name'): string | null {
  const rule = `Use lower case letters, digits, ".", "_" and "-", at most ${MAX_NAME_CHARS} characters, beginning with a letter or digit, e.g. "${what === 'name' ? 'release-notes' : 'writing'}".`;
  if (name === '') return `The ${what} is empty. ${rule}`;
  if (name.length > MAX_NAME_CHARS) return `The ${what} has ${name.length} characters. ${rule}`;
  if (!NAME.test(name) || name.endsWith('.') || DEVICE.test(name)) return `${JSON.stringify(name.slice(0, 80))} cannot be a ${what}. ${rule}`;
  return null;
}

/** The folder below the own root. Throws SkillError invalid. */
export function folderOf(name: string, category: string | null): string {
  const wrong = nameProblem(name);
  if (wrong !== null) throw new SkillError('invalid', wrong, { field: 'name' });
  if (category === null || category === '') return name;
  const wrongCategory = nameProblem(category, 'category');
  if (wrongCategory !== null) throw new SkillError('invalid', wrongCategory, { field: 'category' });
  return `${category}/${name}`;
}

/** The path of a file inside a skill as it is kept, whoever wrote it how. Throws SkillError invalid for one that leads out or has no file name. */
export function filePath(path: string): string {
  const refuse = (why: string): never => {
    throw new SkillError('invalid', `${JSON.stringify(path.slice(0, 120))} ${why} Give a path inside the skill, e.g. "references/api.md".`, { field: 'file_path' });
  };
  if (path.trim() === '') refuse('is empty.');
  if (path.length > MAX_PATH_CHARS) refuse('is too long.');
  if (/[\u0000-\u001f\u007f]/.test(path)) refuse('holds control characters.');
  if (path.includes('\\')) refuse('has backslashes; folders are separated by "/".');
  if (path.startsWith('/') || path.startsWith('~') || /^[A-Za-z]:/.test(path)) refuse('is not relative to the skill.');
  const parts = path.split('/').filter((part) => part !== '.');
  if (parts.includes('..')) refuse('leads out of the skill.');
  if (parts.some((part) => part === '' || part.endsWith(' ') || part.endsWith('.') || DEVICE.test(part))) refuse('is no path of a file.');
  return parts.join('/');
}

/** A path that an agent may write: SKILL.md or below one of the support folders. Throws SkillError invalid. */
export function writablePath(path: string): string {
  const clean = filePath(path);
  if (clean === MAIN_FILE) return clean;
  const [folder, ...rest] = clean.split('/');
  if (rest.length === 0 || !(SUPPORT_FOLDERS as readonly string[]).includes(folder!)) {
    throw new SkillError('invalid', `"${clean}" is in none of the folders for support files. Put it below ${SUPPORT_FOLDERS.map((name) => `${name}/`).join(', ')}, e.g. "references/${clean.split('/').at(-1)}".`, { field: 'file_path' });
  }
  return clean;
}
