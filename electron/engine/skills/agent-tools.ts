import type { ChangedFile, Finding } from '#shared/contract/skills.ts';
import { ToolError } from '../tools/define.ts';
import type { SkillChange, SkillTools, ToolContext } from '../tools/types.ts';
import { SkillError } from './errors.ts';
import { mostScanned } from './guard.ts';
import type { Machine } from './machine.ts';
import { filePath, MAIN_FILE, SUPPORT_FOLDERS } from './names.ts';
import { changeDraft, type PlanGround } from './plans.ts';
import { saidCategory } from './index-block.ts';
import { similarNames } from './similar.ts';
import { readText } from './skill.ts';
import type { ChangeBy, Scope, Shown } from './types.ts';

const MAX_LISTED = 400;
const MAX_LISTED_CHARS = 200;

/** The library, as far as tools need it. */
interface ToolGround extends PlanGround {
  machine: Machine;
  ready(scope?: Scope): Promise<void>;
  categories(scope: Scope): ReadonlyMap<string, string>;
  change(input: SkillChange, by: ChangeBy): Promise<{ id: string; skill: string; changes: readonly ChangedFile[]; findings: readonly Finding[] }>;
}

export interface SkillAgent {
  author: 'agent' | 'review';
  trajectoryId: () => string | null;
  workspace: string | null;
  reviewId?: string | null;
  apply?: boolean;
}

/** skills_list, skill_view and skill_manage for one agent. What fails is a ToolError that says what to do next. */
export function skillTools(library: ToolGround, agent: SkillAgent): SkillTools {
  const scope = { workspace: agent.workspace };
  const used = (id: string, how: 'view' | 'manage'): void => {
    const trajectoryId = agent.trajectoryId();
    if (trajectoryId !== null) library.records.used(id, trajectoryId, how);
  };
  return {
    list: ({ category }) => told(async () => {
      await library.ready(scope);
      const offered = library.shown(scope, false).filter(({ summary }) => summary.offered);
      const wanted = category === null ? offered : offered.filter(({ summary }) => summary.category === category || (category === '' && summary.category === null));
      const descriptions = library.categories(scope);
      const categories = [...new Set(offered.flatMap(({ summary }) => saidCategory(summary.category) ?? []))].sort();
      return {
        skills: wanted.slice(0, MAX_LISTED).map(({ summary: { name, description, category: of } }) => ({ name, description: description.slice(0, MAX_LISTED_CHARS).toWellFormed(), category: saidCategory(of) })),
        categories: categories.map((name) => ({ name, ...(descriptions.has(name) ? { description: descriptions.get(name)!.slice(0, MAX_LISTED_CHARS).toWellFormed() } : {}) })),
        count: wanted.length,
        ...(wanted.length > MAX_LISTED ? { note: `Only the first ${MAX_LISTED} are listed. Ask for one category.` } : {}),
        ...(wanted.length === 0 && category !== null ? { note: `No skill has the category "${category.slice(0, 80)}".` } : {}),
      };
    }),
    view: ({ name, filePath: path }) => told(async () => {
      await library.ready(scope);
      const { skill, summary } = findOffered(library.shown(scope, { named: name }), name);
      const files = skill.walked.files.filter(({ kind, path: file }) => kind === 'file' && file !== MAIN_FILE).map((file) => file.path);
      const asked = path === null ? MAIN_FILE : filePath(path);
      if (asked !== MAIN_FILE && !files.includes(asked)) {
        const outside = skill.walked.files.some((file) => file.path === asked);
        throw new SkillError('not_found', `The skill "${summary.name}" has no file "${asked}"${outside ? ' that may be read' : ''}. ${files.length > 0 ? `It has ${files.slice(0, 50).join(', ')}.` : 'It has only its main text.'}`, { details: { available_files: files.slice(0, 100) } });
      }
      if ((skill.walked.files.find((file) => file.path === asked)?.bytes ?? 0) > mostScanned(asked)) throw new SkillError('invalid', `"${asked}" is too large to be shown: more than ${mostScanned(asked) >> 10} KiB are not looked through for what may be dangerous. It lies at ${skill.folder}/${asked}; search there for what you need, and take it as material.`);
      const text = readText(skill.folder, asked);
      if (text === null) throw new SkillError('invalid', `"${asked}" is no text. It lies at ${skill.folder}/${asked}; use it from there.`);
      used(summary.id, 'view');
      if (asked !== MAIN_FILE) return { name: summary.name, file: asked, content: text };
      const missing = library.machine.missing(skill.meta);
      return {
        name: summary.name,
        description: summary.description,
        category: saidCategory(summary.category),
        content: text,
        folder: skill.folder,
        linked_files: grouped(files),
        ...(skill.meta.related.length > 0 ? { related_skills: skill.meta.related.filter((other) => other !== summary.name).slice(0, 10) } : {}),
        readiness: missing.length > 0 ? 'setup_needed' : 'available',
        ...(missing.length > 0 ? { setup: missing.map((what) => `${what} is missing.`) } : {}),
      };
    }),
    ...(agent.apply === false
      ? {}
      : {
          manage: (input, context) => told(async () => {
            const reason = (input.reason ?? '').slice(0, 300);
            const done = await library.change(input, { author: agent.author, trajectoryId: agent.trajectoryId(), reviewId: agent.reviewId ?? null, reason, consent: await consented(library, agent, input, context) });
            if (input.action !== 'delete') used(done.id, 'manage');
            return {
              success: true,
              message: SAID[input.action](done.skill),
              skill: done.skill,
              changed: done.changes.map(({ path }) => path).slice(0, 50),
              ...(done.findings.some(({ severity }) => severity === 'high') ? { warnings: done.findings.filter(({ severity }) => severity === 'high').slice(0, 5).map(({ file, line, message }) => `${file}${line === null ? '' : `, line ${line}`}: ${message}`) } : {}),
            };
          }),
        }),
  };
}

const SAID: Record<SkillChange['action'], (skill: string) => string> = {
  create: (skill) => `The skill "${skill}" was made. New sessions are offered it.`,
  patch: (skill) => `The skill "${skill}" was changed.`,
  edit: (skill) => `The skill "${skill}" was written anew.`,
  delete: (skill) => `The skill "${skill}" is in the trash, from where the person can bring it back.`,
  write_file: (skill) => `The file of the skill "${skill}" was written.`,
  remove_file: (skill) => `The file of the skill "${skill}" was removed.`,
};

/** Asks the person where the skill is theirs and a person can be asked. False leaves it to the library to say no. */
async function consented(library: ToolGround, agent: SkillAgent, input: SkillChange, { approve, callId, signal }: ToolContext): Promise<boolean> {
  if (agent.author !== 'agent' || !approve || input.action === 'create') return false;
  await library.ready();
  const { draft, needsConsent, pinned } = changeDraft(library, input, agent.author);
  if (needsConsent === null || pinned) return false;
  const skill = draft.move?.from ?? draft.skill;
  const what = input.action === 'delete' ? 'delete' : 'change';
  const allowed = await approve({ what: 'skill', subject: `${library.own.folder}/${skill}/${input.action === 'delete' ? '' : (draft.entries[0]?.path ?? MAIN_FILE)}`, reason: `The agent wants to ${what} your skill "${skill}"${input.reason ? `: ${input.reason.slice(0, 200)}` : '.'}`, key: `${input.action === 'delete' ? 'skill_delete' : 'skill'}:${skill}`, scope: `${input.action === 'delete' ? 'Delete' : 'Change'} the skill "${skill}"` }, callId, signal);
  if (!allowed) throw new ToolError(`The person does not want the skill "${skill}" to be changed. Leave it as it is, and go on without.`);
  return true;
}

/** A skill that this agent is offered, by name, "category/name" or id. Throws SkillError. */
export function findOffered(all: readonly Shown[], asked: string): Shown {
  const fits = all.filter(({ summary, skill }) => summary.name === asked || summary.id === asked || skill.path === asked || skill.path.split('/').at(-1) === asked);
  const offered = fits.find(({ summary }) => summary.offered);
  if (offered) return offered;
  const [first] = fits;
  if (first) throw new SkillError('conflict', `The skill "${first.summary.name}" is not to be used here. ${first.summary.verdict === 'dangerous' ? 'It may be dangerous; the person can look at it in the Skills screen.' : (first.summary.notOffered ?? '')}`, { details: { readiness: first.skill.meta.platforms.length > 0 && first.summary.enabled ? 'unsupported' : 'unavailable' } });
  const choice = all.filter(({ summary }) => summary.offered).map(({ summary }) => summary.name);
  const near = similarNames(asked, choice);
  throw new SkillError('not_found', `There is no skill ${JSON.stringify(asked.slice(0, 80))}. ${near.length > 0 ? `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : 'Look at skills_list.'}`, { details: { available: choice.slice(0, 8) } });
}

function grouped(files: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const file of files.slice(0, 100)) {
    const folder = file.split('/')[0]!;
    const group = (SUPPORT_FOLDERS as readonly string[]).includes(folder) ? folder : 'other';
    (groups[group] ??= []).push(file);
  }
  return groups;
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SkillError) throw new ToolError(error.message, error.details);
    throw error;
  }
}
