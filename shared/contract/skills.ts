import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { OUTCOMES, trajectoryKindSchema } from '../trajectory.ts';
import { base } from './base.ts';

/** Where skills are found, first wins: the project's (`.talaria/skills` or `.agents/skills` of a workspace), one's own, folders of config.yaml, a Hermes home. */
export const SKILL_ROOTS = ['project', 'own', 'external', 'hermes'] as const;
/** Who made a change. */
export const AUTHORS = ['person', 'agent', 'review', 'import'] as const;
export const authorSchema = z.enum(AUTHORS);
export type Author = z.infer<typeof authorSchema>;

/** The guard's verdict: any critical finding is `dangerous`, any high one `caution`. A dangerous skill is never offered to a model. */
export const VERDICTS = ['safe', 'caution', 'dangerous'] as const;
export const verdictSchema = z.enum(VERDICTS);
export type Verdict = z.infer<typeof verdictSchema>;

export const findingSchema = z.object({
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  /** E.g. "injection", "exfiltration", "hidden_characters", "symlink". */
  category: z.string(),
  /** Relative to the skill's folder. */
  file: z.string(),
  /** From 1; null for the file as a whole. */
  line: z.number().int().nullable(),
  excerpt: z.string(),
  /** A sentence. */
  message: z.string(),
});
export type Finding = z.infer<typeof findingSchema>;

/** What can be said of a SKILL.md, by codes that never change: the page has a text for each. */
export const LINT_CODES = [
  'file_too_large', 'frontmatter_missing', 'frontmatter_unclosed', 'frontmatter_too_long', 'yaml_invalid', 'yaml_loose', 'yaml_duplicate_key', 'not_a_mapping',
  'name_missing', 'name_invalid', 'name_too_long', 'name_not_folder', 'description_missing', 'description_too_long', 'description_cut', 'description_vague',
  'field_wrong_type', 'platform_unknown', 'platform_other', 'prerequisite_missing', 'body_empty', 'body_long', 'too_long', 'file_missing', 'link_outside', 'related_missing',
] as const;
export type LintCode = (typeof LINT_CODES)[number];

/** What is wrong or weak about a SKILL.md; errors keep it from being used. */
export const lintSchema = z.object({
  severity: z.enum(['error', 'warning', 'hint']),
  /** Stable, for translations: e.g. "name_missing". */
  code: z.enum(LINT_CODES),
  /** From 1. */
  line: z.number().int().nullable(),
  /** Key of the frontmatter. */
  field: z.string().nullable(),
  message: z.string(),
});
export type Lint = z.infer<typeof lintSchema>;

export const skillSummarySchema = z.object({
  /** Root and folder below it: "own/git/rebase", "external:1a2b3c4d/pdf" (the eight digits stand for the folder). */
  id: z.string(),
  name: z.string(),
  category: z.string().nullable(),
  description: z.string(),
  root: z.enum(SKILL_ROOTS),
  /** Absolute. */
  folder: z.string(),
  readOnly: z.boolean(),
  enabled: z.boolean(),
  pinned: z.boolean(),
  /** Another one of that name goes first: its id. */
  shadowedBy: z.string().nullable(),
  /** Who wrote the first version; null where nobody recorded it. */
  author: authorSchema.nullable(),
  verdict: verdictSchema,
  /** Whether a model is offered it now, and why not. */
  offered: z.boolean(),
  notOffered: z.string().nullable(),
  errors: z.number().int(),
  tags: z.array(z.string()),
  version: z.string().nullable(),
  /** Of SKILL.md. */
  chars: z.number().int(),
  updatedAt: z.number(),
  /** Trajectories that viewed or ran it. */
  uses: z.number().int(),
  lastUsedAt: z.number().nullable(),
});
export type SkillSummary = z.infer<typeof skillSummarySchema>;

export const skillFileSchema = z.object({ path: z.string(), bytes: z.number().int(), text: z.boolean() });

export const skillDetailSchema = z.object({
  summary: skillSummarySchema,
  /** SKILL.md as it is on disk. */
  text: z.string(),
  /** Of `text`; a save names the one it began from. */
  hash: z.string(),
  files: z.array(skillFileSchema),
  lint: z.array(lintSchema),
  findings: z.array(findingSchema),
  /** Parsed, as JSON; null when it cannot be read. */
  frontmatter: z.record(z.string(), z.unknown()).nullable(),
});
export type SkillDetail = z.infer<typeof skillDetailSchema>;

export const changedFileSchema = z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable(), binary: z.boolean().default(false) });
export type ChangedFile = z.infer<typeof changedFileSchema>;

export const skillVersionSchema = z.object({
  id: z.number().int(),
  skill: z.string(),
  action: z.string(),
  author: authorSchema,
  trajectoryId: z.string().nullable(),
  reviewId: z.string().nullable(),
  reason: z.string(),
  files: z.array(z.string()),
  createdAt: z.number(),
});
export type SkillVersion = z.infer<typeof skillVersionSchema>;

export const skillUseSchema = z.object({ trajectoryId: z.string(), title: z.string(), kind: trajectoryKindSchema, how: z.enum(['view', 'run', 'manage']), count: z.number().int(), at: z.number(), outcome: z.enum(OUTCOMES) });
export type SkillUse = z.infer<typeof skillUseSchema>;

/** `versionId`: of its deletion. */
export const trashedSkillSchema = z.object({ skill: z.string(), name: z.string(), description: z.string(), versionId: z.number().int(), deletedAt: z.number(), author: authorSchema });
export type TrashedSkill = z.infer<typeof trashedSkillSchema>;

const id = z.object({ id: z.string().max(400) });
const path = z.string().min(1).max(300);

export const skillsContract = {
  /** All of them, with the names of categories; cheap enough to be asked for on every tick of `changes`. */
  list: base.output(z.object({ items: z.array(skillSummarySchema), roots: z.array(z.object({ root: z.enum(SKILL_ROOTS), folder: z.string(), readOnly: z.boolean(), problem: z.string().nullable() })), trash: z.number().int() })),
  get: base.input(id).output(skillDetailSchema),
  file: base.input(id.extend({ path })).output(z.object({ text: z.string().nullable(), bytes: z.number().int() })),
  /** What is wrong with a text, before it is saved. */
  lint: base.input(z.object({ text: z.string().max(1_000_000), id: z.string().optional() })).output(z.object({ lint: z.array(lintSchema), findings: z.array(findingSchema), frontmatter: z.record(z.string(), z.unknown()).nullable() })),
  /** `text` left out: a skeleton. */
  create: base.input(z.object({ name: z.string(), category: z.string().nullable().default(null), description: z.string().max(1024), text: z.string().max(1_000_000).optional() })).output(skillDetailSchema),
  /** CONFLICT when the file is no longer the one with `baseHash`; null overwrites. `path` left out: SKILL.md. */
  save: base.input(id.extend({ path: path.optional(), text: z.string().max(1_048_576), baseHash: z.string().nullable(), reason: z.string().max(300).default('') })).output(skillDetailSchema),
  removeFile: base.input(id.extend({ path })).output(skillDetailSchema),
  move: base.input(id.extend({ name: z.string(), category: z.string().nullable() })).output(skillDetailSchema),
  /** Into the trash, from where `restore` with the version brings it back. It stays there until it is purged. */
  remove: base.input(id).output(z.object({ versionId: z.number().int() })),
  trash: base.output(z.object({ items: z.array(trashedSkillSchema) })),
  /** Out of the trash for good, with all files and versions; `versionIds` as `trash` gives them. Those that are no longer there are passed over; `failed` stay. */
  purge: base.input(z.object({ versionIds: z.array(z.number().int()).min(1).max(100_000) })).output(z.object({ removed: z.number().int(), failed: z.array(z.object({ versionId: z.number().int(), message: z.string() })) })),
  versions: base.input(id).output(z.object({ items: z.array(skillVersionSchema) })),
  /** What a version changed, or (with `to`) what lies between the two. */
  diff: base.input(z.object({ versionId: z.number().int(), against: z.enum(['previous', 'now']).default('previous') })).output(z.object({ files: z.array(changedFileSchema) })),
  /** The skill as it was after that version (for a deletion: before it), as a new version. */
  restore: base.input(z.object({ versionId: z.number().int() })).output(skillDetailSchema),
  mark: base.input(id.extend({ enabled: z.boolean().optional(), pinned: z.boolean().optional() })).output(skillSummarySchema),
  usage: base.input(id).output(z.object({ items: z.array(skillUseSchema), outcomes: z.record(z.string(), z.number().int()) })),
  /** Ticks (at most 4 a second) when skills changed, also by another program. */
  changes: base.output(eventIterator(z.object({ generation: z.number().int() }))),
};
