import { posix } from 'node:path';
import type { Lint } from '#shared/contract/skills.ts';
import type { ParsedSkill } from './frontmatter.ts';
import { metaOf, PLATFORMS, type SkillMeta } from './meta.ts';
import { MAIN_FILE, MAX_NAME_CHARS, nameProblem, SUPPORT_FOLDERS } from './names.ts';

export const MAX_CHARS = 100_000;
export const MAX_DESCRIPTION_CHARS = 1_024;
/** agentskills.io asks for instructions of less than 5,000 tokens; what is longer belongs into references/. */
const LONG_BODY_CHARS = 20_000;
const SHORT_DESCRIPTION_CHARS = 20;
const MAX_LINKS = 200;

/** What the text is compared with; what is left out is not looked at. */
export interface LintPlace {
  /** Name of the skill's folder. */
  folder?: string | null;
  /** Paths of the skill's files. */
  files?: readonly string[];
  /** Names of all skills. */
  names?: ReadonlySet<string>;
  /** What of `platforms` this machine is. */
  platform?: string;
  /** Commands that cannot be found and variables that are not set, of those that the skill needs. */
  missing?: (meta: SkillMeta) => readonly string[];
}

/** What is wrong or weak about a SKILL.md, errors first. */
export function lintSkill(text: string, parsed: ParsedSkill, place: LintPlace = {}): Lint[] {
  const found: Lint[] = [...parsed.problems];
  const add = (severity: Lint['severity'], code: Lint['code'], field: string | null, message: string, line: number | null = field === null ? null : parsed.lineOf(field)): void =>
    void found.push({ severity, code, field, line, message });
  if (text.length > MAX_CHARS) add('error', 'too_long', null, `SKILL.md has ${text.length} characters; at most ${MAX_CHARS} are allowed. Move details into files below references/.`);
  if (parsed.data !== null) fields(parsed, place, add);
  if (parsed.body.trim() === '') add('error', 'body_empty', null, 'There are no instructions behind the frontmatter. Write what is to be done.', parsed.bodyLine);
  else if (parsed.body.length > LONG_BODY_CHARS) add('hint', 'body_long', null, `The instructions have ${parsed.body.length} characters, all of which are read each time. Move details into files below references/.`, parsed.bodyLine);
  if (place.files) links(parsed, place.files, add);
  const rank = { error: 0, warning: 1, hint: 2 };
  return found.map((lint) => ({ ...lint, message: lint.message.toWellFormed() })).sort((a, b) => rank[a.severity] - rank[b.severity]);
}

type Add = (severity: Lint['severity'], code: Lint['code'], field: string | null, message: string, line?: number | null) => void;

function fields(parsed: ParsedSkill, place: LintPlace, add: Add): void {
  const meta = metaOf(parsed);
  const data = parsed.data!;
  for (const key of ['name', 'description']) if (Object.hasOwn(data, key) && data[key] !== null && typeof data[key] === 'object') add('warning', 'field_wrong_type', key, `"${key}" must be text.`);
  for (const key of ['metadata', 'prerequisites']) if (Object.hasOwn(data, key) && data[key] !== null && (typeof data[key] !== 'object' || Array.isArray(data[key]))) add('warning', 'field_wrong_type', key, `"${key}" must be lines of "key: value" below it.`);
  name(meta.name, place.folder ?? null, add);
  description(meta.description, add);
  const unknown = meta.platforms.filter((platform) => !(PLATFORMS as readonly string[]).includes(platform));
  if (unknown.length > 0) add('warning', 'platform_unknown', 'platforms', `"${unknown[0]!.slice(0, 40)}" is none of ${PLATFORMS.join(', ')}.`);
  if (place.platform !== undefined && !fitsPlatform(meta, place.platform)) add('hint', 'platform_other', 'platforms', `Only for ${meta.platforms.join(', ').slice(0, 100)}: it is not offered on this machine.`);
  for (const what of place.missing?.(meta) ?? []) add('hint', 'prerequisite_missing', 'prerequisites', `${what} is not there on this machine.`);
  for (const other of place.names ? meta.related : []) if (!place.names!.has(other)) add('hint', 'related_missing', 'metadata', `There is no skill "${other.slice(0, 80)}" for related_skills.`);
}

function name(given: string | null, folder: string | null, add: Add): void {
  if (given === null) {
    add(folder === null || nameProblem(folder) !== null ? 'error' : 'warning', 'name_missing', 'name', folder === null ? 'The name is missing.' : 'The name is missing; that of the folder is taken.', 2);
    return;
  }
  if (given.length > MAX_NAME_CHARS) add('error', 'name_too_long', 'name', nameProblem(given)!);
  else if (nameProblem(given) !== null) add('error', 'name_invalid', 'name', nameProblem(given)!);
  else if (folder !== null && folder !== given) add('warning', 'name_not_folder', 'name', `The folder is called "${folder}"; other programs want it to be the same as the name.`);
}

function description(given: string | null, add: Add): void {
  if (given === null) return add('error', 'description_missing', 'description', 'The description is missing: it is what an agent decides by. Say what the skill does and when to use it.', 2);
  if (given.length > MAX_DESCRIPTION_CHARS) return add('error', 'description_too_long', 'description', `The description has ${given.length} characters; at most ${MAX_DESCRIPTION_CHARS} are allowed.`);
  if (given.length < SHORT_DESCRIPTION_CHARS) return add('hint', 'description_vague', 'description', 'Say in the description what the skill does and when to use it.');
  if (given.length > 200) add('hint', 'description_cut', 'description', 'Agents are shown the beginning of the description only: put what matters first.');
}

/** Whether a skill is meant for this platform (linux, macos, windows); one that names none is for all. */
export function fitsPlatform({ platforms }: Pick<SkillMeta, 'platforms'>, platform: string): boolean {
  return platforms.length === 0 || platforms.includes(platform);
}

const LINK = /\]\(\s*<?([^()\s<>]{1,300})>?(?:\s+"[^"\n]{0,200}")?\s*\)/g;
const NAMED = new RegExp(`(?<![\\w./-])((?:${SUPPORT_FOLDERS.join('|')})/[\\w./-]{1,200}\\.\\w{1,8})\\b`, 'g');

/** Files that the text points at and that are not there. Links that go up are how documents link to each other: a hint, no danger. */
function links({ body, bodyLine }: ParsedSkill, files: readonly string[], add: Add): void {
  const there = new Set(files);
  const said = new Set<string>();
  const at = (index: number): number => bodyLine + body.slice(0, index).split('\n').length - 1;
  for (const pattern of [LINK, NAMED]) {
    let n = 0;
    for (const match of body.matchAll(pattern)) {
      if (++n > MAX_LINKS) break;
      const target = decoded(match[1]!.split('#')[0]!.split('?')[0]!);
      if (target === '' || target.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
      const path = posix.normalize(target);
      if (said.has(path) || path.endsWith('/') || path === '.') continue;
      said.add(path);
      if (path.startsWith('..')) add('hint', 'link_outside', null, `"${target.slice(0, 100)}" lies outside of the skill, where an agent does not find it.`, at(match.index));
      else if (path !== MAIN_FILE && !there.has(path) && !files.some((file) => file.startsWith(`${path}/`))) add('warning', 'file_missing', null, `There is no file "${path.slice(0, 100)}" in the skill.`, at(match.index));
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
