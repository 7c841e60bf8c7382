import type { Lint } from '#shared/contract/skills.ts';
import { applyEdits, closestLines, matchText } from '../tools/match-text.ts';
import type { SkillChange } from '../tools/types.ts';
import { SkillError } from './errors.ts';
import { parseSkill } from './frontmatter.ts';
import { MAX_FILE_BYTES } from './guard.ts';
import { lintSkill } from './lint.ts';
import { metaOf } from './meta.ts';
import { filePath, MAIN_FILE, SUPPORT_FOLDERS, writablePath } from './names.ts';

const MAX_PREVIEW_CHARS = 500;
const MAX_LISTED = 50;

/** What one call of skill_manage does to the files of a skill; `null` removes. Everything but SKILL.md of `create`. */
export interface FileEdit {
  path: string;
  text: string | null;
}

/** A skill that is changed, as far as edits need it. */
export interface Editable {
  /** Name of its folder. */
  name: string;
  files: readonly string[];
  /** Null for a file that is not there or is no text. */
  read(path: string): string | null;
}

/** Works out what `patch`, `edit`, `write_file` or `remove_file` would do. Throws SkillError invalid that says the next step. */
export function editOf(input: SkillChange, skill: Editable): FileEdit {
  switch (input.action) {
    case 'patch':
      return patched(input, skill);
    case 'edit': {
      if (input.content === undefined) throw needs(input, 'content', 'the whole new text of SKILL.md. To change a part of it, use action "patch" with old_string and new_string');
      return { path: MAIN_FILE, text: input.content };
    }
    case 'write_file': {
      if (input.filePath === undefined) throw needs(input, 'file_path', `the file to write, below ${folders()}`);
      const text = input.fileContent ?? input.content;
      if (text === undefined) throw needs(input, 'file_content', 'the whole text of the file');
      const path = writablePath(input.filePath);
      if (path !== MAIN_FILE && Buffer.byteLength(text) > MAX_FILE_BYTES) throw new SkillError('invalid', `"${path}" would have ${Buffer.byteLength(text)} bytes; at most ${MAX_FILE_BYTES} are allowed. Write several files.`, { field: 'file_content' });
      if (skill.files.some((file) => file.startsWith(`${path}/`))) throw new SkillError('invalid', `"${path}" is a folder of the skill. Give the path of a file in it.`, { field: 'file_path' });
      return { path, text };
    }
    case 'remove_file': {
      if (input.filePath === undefined) throw needs(input, 'file_path', `the file to remove; there ${skill.files.length > 1 ? 'are' : 'is'} ${listed(skill.files)}`);
      const path = filePath(input.filePath);
      if (path === MAIN_FILE) throw new SkillError('invalid', 'SKILL.md is the skill itself. To remove the whole skill, use action "delete".', { field: 'file_path' });
      if (!skill.files.includes(path)) throw noFile(path, skill);
      return { path, text: null };
    }
    default:
      throw new SkillError('invalid', `"${String(input.action)}" changes no file.`, { field: 'action' });
  }
}

function patched(input: SkillChange, skill: Editable): FileEdit {
  const path = input.filePath === undefined ? MAIN_FILE : filePath(input.filePath);
  const { oldString, newString } = input;
  if (!skill.files.includes(path)) throw noFile(path, skill);
  const text = skill.read(path);
  if (text === null) throw new SkillError('invalid', `"${path}" is no text that can be patched. Use write_file to replace it.`, { field: 'file_path' });
  const look = { file_preview: preview(text) };
  if (oldString === undefined || oldString === '') {
    const whole = input.content === undefined ? '' : ' You sent content: to replace the whole of SKILL.md with it, use action "edit".';
    throw new SkillError('invalid', `patch needs old_string: text that stands in ${path} exactly once, copied from skill_view.${whole} To add lines, take an existing line as old_string and repeat it in new_string.`, { field: 'old_string', details: look });
  }
  if (newString === undefined) throw new SkillError('invalid', 'patch needs new_string: what comes in place of old_string; "" removes it.', { field: 'new_string' });
  if (oldString === newString) throw new SkillError('invalid', 'old_string and new_string are the same, so nothing would change. Send in new_string how the text should read, or do nothing if it reads well already.', { field: 'new_string' });
  // only ways of finding that are certain of the place
  const matched = matchText(text, oldString, newString, { all: true });
  if (!matched) throw notFound(path, text, oldString, newString);
  if (matched.edits.length > 1 && input.replaceAll !== true) {
    const lines = matched.edits.slice(0, 10).map((edit) => text.slice(0, edit.start).split('\n').length);
    throw new SkillError('invalid', `old_string stands ${matched.edits.length} times in ${path} (lines ${lines.join(', ')}). Add lines around it until it is unique, or set replace_all to true to change every one.`, { field: 'old_string', details: { match_count: matched.edits.length, lines } });
  }
  const after = applyEdits(text, matched.edits);
  if (after === text) throw new SkillError('invalid', `${path} already reads as new_string says; nothing was changed. There is nothing more to do here.`, { field: 'new_string', details: { match_count: matched.edits.length } });
  return { path, text: after };
}

function notFound(path: string, text: string, oldString: string, newString: string): SkillError {
  if (newString.trim() !== '' && text.includes(newString)) {
    return new SkillError('invalid', `old_string does not stand in ${path}, but new_string does: the change seems to be made already. Look with skill_view before you go on.`, { field: 'old_string', details: { match_count: 0 } });
  }
  const near = closestLines(text, oldString);
  const next = near === null ? 'Call skill_view, then copy old_string from what it shows.' : 'The lines most like it are in closest_lines; copy old_string from them exactly, without the line numbers, and send the patch again.';
  return new SkillError('invalid', `old_string does not stand in ${path}. ${next}`, { field: 'old_string', details: { match_count: 0, ...(near === null ? { file_preview: preview(text) } : { closest_lines: near }) } });
}

function noFile(path: string, { name, files }: Editable): SkillError {
  return new SkillError('not_found', `The skill "${name}" has no file "${path}". It has ${listed(files)}.`, { field: 'file_path', details: { available_files: files.slice(0, MAX_LISTED) } });
}

function needs({ action }: SkillChange, parameter: string, what: string): SkillError {
  return new SkillError('invalid', `${action} needs ${parameter}: ${what}.`, { field: parameter });
}

/** What a change made worse about SKILL.md, in words; what was wrong before is not held against it. Throws SkillError invalid. */
export function checkMain(before: string | null, after: string, folder: string): void {
  // a text that could not be read at all gets better by being readable, whatever is then seen to be wrong
  const mended = before !== null && parseSkill(before).data === null && parseSkill(after).data !== null;
  const had = new Map<string, number>();
  for (const lint of before === null ? [] : errorsOf(before, folder)) had.set(keyOf(lint), (had.get(keyOf(lint)) ?? 0) + 1);
  const worse = (mended ? [] : errorsOf(after, folder)).filter((lint) => {
    const n = had.get(keyOf(lint)) ?? 0;
    had.set(keyOf(lint), n - 1);
    return n <= 0;
  });
  const { name } = metaOf(parseSkill(after));
  const named = before === null ? null : metaOf(parseSkill(before)).name;
  const [wrong] = worse;
  if (wrong) {
    const where = wrong.field === null ? (wrong.line === null ? '' : ` (line ${wrong.line})`) : ` (key "${wrong.field}"${wrong.line === null ? '' : `, line ${wrong.line}`})`;
    throw new SkillError('invalid', `SKILL.md would not be right any more${where}: ${wrong.message} Correct that in your text and send it again; nothing was changed.`, { field: wrong.field ?? 'content', details: { problems: worse.slice(0, 5).map(({ code, field, line, message }) => ({ code, key: field, line, message })) } });
  }
  if (name !== null && name !== folder && name !== named) {
    throw new SkillError('invalid', `The key "name" says "${name}", but the skill is "${folder}". Leave the name as it is; a person can rename a skill in the Skills screen.`, { field: 'name' });
  }
}

function errorsOf(text: string, folder: string): Lint[] {
  const parsed = parseSkill(text);
  return lintSkill(text, parsed, { folder }).filter(({ severity, code }) => severity === 'error' || code === 'name_missing');
}

function keyOf({ code, field }: Lint): string {
  return `${code}:${field ?? ''}`;
}

export function preview(text: string): string {
  return text.length <= MAX_PREVIEW_CHARS ? text : `${text.slice(0, MAX_PREVIEW_CHARS)}…`.toWellFormed();
}

function listed(files: readonly string[]): string {
  return files.slice(0, MAX_LISTED).join(', ') + (files.length > MAX_LISTED ? ` and ${files.length - MAX_LISTED} more` : '');
}

function folders(): string {
  return SUPPORT_FOLDERS.map((name) => `${name}/`).join(', ');
}
