import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import type { SkillTools, ToolServices } from './types.ts';

const MISSING = 'Skills are only there in chats.';
const missing = ({ skills }: ToolServices): string | null => (skills ? null : MISSING);

function skillsOf({ skills }: ToolServices): SkillTools {
  if (!skills) throw new ToolError(MISSING);
  return skills;
}

/** `skills_list`: names, descriptions and categories. */
export const skillsListTool = defineTool({
  name: 'skills_list',
  toolset: 'skills',
  parallel: 'safe',
  missing,
  description: 'List the skills that there are: instructions for kinds of work. Answers with names, descriptions and categories; read one with skill_view.',
  parameters: z.object({ category: z.string().max(200).optional().describe('Only those of this category.') }),
  run: ({ category }, { services }) => skillsOf(services).list({ category: category ?? null }),
});

/** `skill_view`: the text of a skill, or of one of its files. */
export const skillViewTool = defineTool({
  name: 'skill_view',
  toolset: 'skills',
  parallel: 'safe',
  missing,
  description: 'Read a skill before you do the work that it is about. Answers with its whole text, its linked_files, and whether what it needs is there (readiness). With file_path: the text of one of its files.',
  parameters: z.object({
    name: z.string().min(1).max(200).describe('Name of the skill, as in the list.'),
    file_path: z.string().max(400).optional().describe('A file of the skill, e.g. "references/api.md". Leave out for its main text.'),
  }),
  run: ({ name, file_path }, { services }) => skillsOf(services).view({ name, filePath: file_path ?? null }),
});

/** `skill_manage`: makes, changes and deletes skills; each change is a version that a person can take back. */
export const skillManageTool = defineTool({
  name: 'skill_manage',
  toolset: 'skills',
  parallel: 'never',
  missing: ({ skills }) => missing({ ...(skills && { skills }) }) ?? (skills?.manage ? null : 'Skills cannot be changed here.'),
  description:
    'Write down a way of working that has proved itself, or mend a skill that was wrong or lacked something. Actions: create (name, content: SKILL.md with "name" and "description" between lines "---", then instructions; category), ' +
    'patch (old_string, new_string; file_path for a support file), edit (content: the whole SKILL.md anew), write_file (file_path below references/, templates/, scripts/, assets/ or examples/; file_content), remove_file (file_path), delete. ' +
    'Look first whether a skill for it is there, and prefer to patch that one. Keep no secrets, no facts of one day, and nothing that holds for one task only. Skills of the person are changed only if they agree.',
  parameters: z.object({
    action: z.enum(['create', 'patch', 'edit', 'delete', 'write_file', 'remove_file']).describe('What to do.'),
    name: z.string().min(1).max(200).describe('Name of the skill: lower case letters, digits and hyphens.'),
    category: z.string().max(200).optional().describe('create: a group of skills, e.g. "writing".'),
    content: z.string().optional().describe('create, edit: the whole text of SKILL.md.'),
    old_string: z.string().optional().describe('patch: text that stands there exactly once, copied from skill_view.'),
    new_string: z.string().optional().describe('patch: what comes instead; empty to delete.'),
    replace_all: z.boolean().optional().describe('patch: every occurrence instead of exactly one.'),
    file_path: z.string().max(400).optional().describe('patch, write_file, remove_file: a file of the skill; SKILL.md when left out of patch.'),
    file_content: z.string().optional().describe('write_file: the whole text of the file.'),
    reason: z.string().max(1_000).optional().describe('Why, in a sentence; the person reads it in the history.'),
    allow_similar: z.boolean().optional().describe('create: there is something like it, and yours is another thing all the same.'),
  }),
  run: ({ old_string, new_string, replace_all, file_path, file_content, allow_similar, ...input }, context) => {
    const { manage } = skillsOf(context.services);
    if (!manage) throw new ToolError('Skills cannot be changed here. Tell the person what you would change.');
    return manage({ ...input, oldString: old_string, newString: new_string, replaceAll: replace_all, filePath: file_path, fileContent: file_content, allowSimilar: allow_similar }, context);
  },
});
