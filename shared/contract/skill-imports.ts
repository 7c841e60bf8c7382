import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { authorSchema, changedFileSchema, findingSchema, lintSchema, verdictSchema } from './skills.ts';

/** Other programs whose skills folders are offered where they exist. */
export const PEERS = ['hermes', 'openclaw', 'claude'] as const;
export const peerSchema = z.enum(PEERS);
export type Peer = z.infer<typeof peerSchema>;

export const importSourceSchema = z.discriminatedUnion('kind', [
  /** A folder with skills somewhere below it; `path` absolute, on the engine's machine. It is only read. */
  z.object({ kind: z.literal('folder'), path: z.string().min(1).max(4_096) }),
  z.object({ kind: z.literal('zip'), path: z.string().min(1).max(4_096) }),
  /** Files that were brought by `stage`. */
  z.object({ kind: z.literal('staged'), id: z.string().max(64) }),
  /** https, ssh (also `git@host:path`), or file. `ref`: branch, tag or commit; `folder`: only what lies below it. */
  z.object({ kind: z.literal('git'), url: z.string().min(1).max(2_000), ref: z.string().max(200).default(''), folder: z.string().max(500).default('') }),
  z.object({ kind: z.literal('peer'), peer: peerSchema }),
]);
export type ImportSource = z.infer<typeof importSourceSchema>;

/** `new`: no skill of one's own has this name; `same`: byte for byte the one that is here; `differs`: it is not. */
export const IMPORT_STATES = ['new', 'same', 'differs'] as const;
export const IMPORT_ACTIONS = ['add', 'replace', 'keep_both', 'skip'] as const;
export type ImportAction = (typeof IMPORT_ACTIONS)[number];

/** A skill that was found, with the security report of its files. */
export const foundSkillSchema = z.object({
  /** Its folder below the source, with forward slashes; "." for the source itself. */
  key: z.string(),
  name: z.string(),
  category: z.string().nullable(),
  description: z.string(),
  version: z.string().nullable(),
  files: z.number().int(),
  bytes: z.number().int(),
  verdict: verdictSchema,
  findings: z.array(findingSchema),
  lint: z.array(lintSchema),
  state: z.enum(IMPORT_STATES),
  /** The skill of one's own that has this name. `edited`: it was changed here since it was imported, or was never imported. */
  existing: z.object({ id: z.string(), author: authorSchema.nullable(), edited: z.boolean() }).nullable(),
  /** Why it cannot be taken (a sentence): dangerous, or no usable SKILL.md. It can only be skipped. */
  refused: z.string().nullable(),
  /** What is chosen when the person chooses nothing. A caution is never taken unasked. */
  suggested: z.enum(IMPORT_ACTIONS),
  /** A free name for `keep_both`. */
  freeName: z.string(),
});
export type FoundSkill = z.infer<typeof foundSkillSchema>;

export const importReportSchema = z.object({
  id: z.string(),
  /** As it is named to people: path, address with the commit. */
  source: z.string(),
  /** Of a git source: the commit that was read. */
  commit: z.string().nullable(),
  items: z.array(foundSkillSchema),
  /** Folders and files that were passed over, each with a sentence. */
  problems: z.array(z.object({ path: z.string(), message: z.string() })),
});
export type ImportReport = z.infer<typeof importReportSchema>;

export const importEventSchema = z.discriminatedUnion('type', [
  /** `done` and `total` in files (`unpacking`, `copying`) or skills (`checking`); `total` 0 while it is not known. `text`: what git says. */
  z.object({ type: z.literal('progress'), stage: z.enum(['fetching', 'unpacking', 'copying', 'checking']), done: z.number().int(), total: z.number().int(), text: z.string() }),
  z.object({ type: z.literal('done'), report: importReportSchema }),
]);
export type ImportEvent = z.infer<typeof importEventSchema>;

export const importChoiceSchema = z.object({
  key: z.string().max(1_000),
  action: z.enum(IMPORT_ACTIONS),
  /** Of `keep_both`; `freeName` when left out. */
  name: z.string().max(64).optional(),
  /** A skill with findings of high severity is taken only with this. */
  acceptCaution: z.boolean().default(false),
});
export type ImportChoice = z.infer<typeof importChoiceSchema>;

const importResultSchema = z.object({
  key: z.string(),
  /** What was done; `failed` with its `error`: nothing of it was written. */
  outcome: z.enum(['added', 'replaced', 'same', 'skipped', 'failed']),
  /** The skill's id now. */
  id: z.string().nullable(),
  versionId: z.number().int().nullable(),
  error: z.string().nullable(),
});
export type ImportResult = z.infer<typeof importResultSchema>;

export const skillExportSchema = z.object({
  /** Absolute. */
  file: z.string(),
  bytes: z.number().int(),
  skills: z.number().int(),
  files: z.number().int(),
  /** Skills that were left out, with a sentence. */
  leftOut: z.array(z.object({ id: z.string(), message: z.string() })),
});
export type SkillExport = z.infer<typeof skillExportSchema>;

const id = z.object({ id: z.string().max(64) });

export const skillImportsContract = {
  /** Where skills can come from on this machine. */
  sources: base.output(z.object({ git: z.boolean(), peers: z.array(z.object({ peer: peerSchema, folders: z.array(z.string()), skills: z.number().int() })) })),
  /** Brings the files of a dropped folder in pieces (base64, at most 1 MiB decoded each), in order; the first call without `id` begins. Nothing is offered from there before it is scanned. */
  stage: base.input(z.object({ id: z.string().max(64).optional(), path: z.string().min(1).max(1_000), chunk: z.string(), first: z.boolean() })).output(id),
  /** Copies the source into quarantine, finds its skills and reports on them; nothing of it is active. Ending the iterator cancels and leaves nothing. */
  scan: base.input(importSourceSchema).output(eventIterator(importEventSchema)),
  /** A file of a found skill, against the one that is here. */
  diff: base.input(id.extend({ key: z.string().max(1_000) })).output(z.object({ files: z.array(changedFileSchema) })),
  /** Takes what was chosen, each skill as one version by `import`; what is not named is skipped. The report is used up by it. */
  apply: base.input(id.extend({ choices: z.array(importChoiceSchema).max(2_000) })).output(z.object({ results: z.array(importResultSchema) })),
  /** Takes imports back: added skills go into the trash, replaced ones are as before. */
  undo: base.input(z.object({ versionIds: z.array(z.number().int()).min(1).max(2_000) })).output(z.object({ undone: z.number().int(), failed: z.array(z.object({ versionId: z.number().int(), message: z.string() })) })),
  /** Removes a report that is not wanted from quarantine. */
  discard: base.input(id).output(z.object({})),
  /** Skills as one zip file in the exports folder; the same skills give the same bytes. `file`: a name there; one is made when it is left out. */
  export: base.input(z.object({ ids: z.array(z.string().max(400)).min(1).max(2_000), file: z.string().max(200).optional() })).output(skillExportSchema),
};
