import type { ProposalKind } from '#shared/contract/reviews.ts';
import type { ChangedFile, Finding } from '#shared/contract/skills.ts';
import { ToolError } from '../../tools/define.ts';
import type { SkillChange } from '../../tools/types.ts';
import type { ReviewedSkills } from '../deps.ts';
import type { ProposalRecord } from '../proposal-store.ts';

type Plan = Awaited<ReturnType<ReviewedSkills['plan']>>;

/** What a review has made of one skill so far: one proposal, however many calls it took. */
export interface SkillDraft {
  name: string;
  category: string | null;
  /** Folder below the own root. */
  skill: string;
  kind: Extract<ProposalKind, `skill_${string}`>;
  files: Map<string, ChangedFile>;
  findings: Finding[];
  evidence: ProposalRecord['evidence'];
  reason: string;
  proposalId: string | null;
  /** Of the versions that were made at once; null while it waits. */
  versions: number[] | null;
}

const FOLDERS = ['references', 'templates', 'scripts', 'assets', 'examples'];
const MAX_FILE_CHARS = 1024 * 1024;

/** What a call would do to a skill as it would be once the proposal that waits were accepted. Throws ToolError or SkillError. */
export async function onDraft(draft: SkillDraft, input: SkillChange, skills: Pick<ReviewedSkills, 'plan'>): Promise<Plan> {
  if (draft.kind === 'skill_remove') throw new ToolError(`You proposed to remove the skill "${draft.name}". Leave it at that.`);
  const isNew = draft.kind === 'skill_new';
  if (input.action === 'create') throw new ToolError(`You proposed the skill "${draft.name}" already. Use patch or edit to change the proposal.`);
  const path = input.filePath ?? 'SKILL.md';
  if (isNew && path !== 'SKILL.md' && (input.action === 'write_file' || input.action === 'remove_file')) return support(draft, path, input);
  if (input.action === 'edit' && isNew) return skills.plan({ action: 'create', name: draft.name, ...(draft.category === null ? {} : { category: draft.category }), content: input.content ?? '' });
  const file = draft.files.get(path);
  if (input.action !== 'patch' || (!file && !isNew)) return skills.plan(input);
  if (!file?.after) throw new ToolError(`"${path}" is not in the skill "${draft.name}" as you proposed it. It has: ${present(draft).join(', ')}.`);
  const text = replaced(file.after, input);
  if (path === 'SKILL.md') return skills.plan(isNew ? { action: 'create', name: draft.name, ...(draft.category === null ? {} : { category: draft.category }), content: text } : { action: 'edit', name: input.name, content: text });
  return isNew ? support(draft, path, { ...input, action: 'write_file', fileContent: text }) : skills.plan({ action: 'write_file', name: input.name, filePath: path, fileContent: text });
}

/** A support file of a skill that is not there yet; it is checked once more when the proposal is accepted. */
function support(draft: SkillDraft, path: string, { action, fileContent }: SkillChange): Plan {
  const parts = path.split('/');
  if (parts.length < 2 || !FOLDERS.includes(parts[0]!) || parts.some((p) => p === '' || p === '.' || p === '..') || /[\\\0]/.test(path)) {
    throw new ToolError(`"${path}" cannot be a file of a skill: begin with ${FOLDERS.join(', ')} and add a file name, for example references/notes.md.`);
  }
  const before = draft.files.get(path);
  if (action === 'remove_file' && !before) throw new ToolError(`"${path}" is not in the skill "${draft.name}" as you proposed it. It has: ${present(draft).join(', ')}.`);
  const after = action === 'remove_file' ? null : (fileContent ?? '').toWellFormed();
  if (after !== null && after.length > MAX_FILE_CHARS) throw new ToolError(`"${path}" would be larger than 1 MiB. Keep only what is needed.`);
  return { skill: draft.skill, changes: [{ path, before: null, after, binary: false }], findings: [] };
}

function replaced(text: string, { oldString = '', newString = '', replaceAll }: SkillChange): string {
  if (oldString === '') throw new ToolError('"old_string" is missing: copy the lines that are to be replaced from skill_view.');
  if (oldString === newString) throw new ToolError('"old_string" and "new_string" are the same, so nothing would change.');
  const count = text.split(oldString).length - 1;
  if (count === 0) throw new ToolError('"old_string" is not in the file as you proposed it. Look at it with skill_view and copy it exactly.', { match_count: 0, file_preview: text.slice(0, 500) });
  if (count > 1 && !replaceAll) throw new ToolError(`"old_string" is there ${count} times. Add lines before or after it, or set replace_all.`, { match_count: count });
  return replaceAll ? text.split(oldString).join(newString) : text.replace(oldString, () => newString);
}

/** Paths of the files that the skill would have. */
export function present(draft: SkillDraft): string[] {
  return [...draft.files.values()].filter((f) => f.after !== null).map((f) => f.path);
}
