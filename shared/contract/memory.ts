import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { authorSchema } from './skills.ts';

/** MEMORY.md: what the agent noted; USER.md: what is known of the person. */
export const MEMORY_TARGETS = ['memory', 'user'] as const;
export const memoryTargetSchema = z.enum(MEMORY_TARGETS);
export type MemoryTarget = z.infer<typeof memoryTargetSchema>;

export const memoryEntrySchema = z.object({
  /** SHA-256 of the text, hex. */
  id: z.string(),
  text: z.string(),
  /** When it was written; for one that was put into the file by hand, when it was seen first. */
  createdAt: z.number().nullable(),
  usedAt: z.number().nullable(),
  /** Sessions that began with it in their prompt. */
  uses: z.number().int(),
  /** Null: written into the file by hand. */
  author: authorSchema.nullable(),
  trajectoryId: z.string().nullable(),
  reviewId: z.string().nullable(),
  /** What the scan found, in words. */
  warnings: z.array(z.string()),
  /** Too dangerous to be put into a prompt: left out there, shown here. */
  blocked: z.boolean(),
  /** What prompts hold of it: an entry at the limit is cut there, those behind it are left out, and so are blocked ones. */
  inPrompt: z.enum(['whole', 'cut', 'none']),
  /** Title of its trajectory; null when there is none or it is gone. */
  trajectoryTitle: z.string().nullable(),
});
export type MemoryEntry = z.infer<typeof memoryEntrySchema>;

export const memoryStoreSchema = z.object({
  target: memoryTargetSchema,
  file: z.string(),
  /** Characters (code points) of all entries with their delimiters, and the most there may be. */
  chars: z.number().int(),
  limit: z.number().int(),
  entries: z.array(memoryEntrySchema),
  /** Why the file cannot be used as it is; then it has no entries here, and nothing is written to it. */
  problem: z.string().nullable(),
});
export type MemoryStore = z.infer<typeof memoryStoreSchema>;

/** `old`: the text of an entry, or a part of it that no other entry has. All operations of a call are done, or none. */
export const memoryOperationSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), text: z.string() }),
  z.object({ op: z.literal('replace'), old: z.string(), text: z.string() }),
  z.object({ op: z.literal('remove'), old: z.string() }),
]);
export type MemoryOperation = z.infer<typeof memoryOperationSchema>;

export const memoryChangeSchema = z.object({
  id: z.number().int(),
  target: memoryTargetSchema,
  author: authorSchema,
  trajectoryId: z.string().nullable(),
  reviewId: z.string().nullable(),
  reason: z.string(),
  operations: z.array(memoryOperationSchema),
  /** The whole file. */
  before: z.string(),
  after: z.string(),
  /** Entries that it wrote, and entries that it took out; a replaced one is in both. */
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** Title of its trajectory; null when there is none or it is gone. */
  trajectoryTitle: z.string().nullable(),
  undone: z.boolean(),
  createdAt: z.number(),
});
export type MemoryChange = z.infer<typeof memoryChangeSchema>;

export const MEMORY_LIMIT_CHARS = { min: 200, max: 100_000 } as const;
export const MAX_REFRESH_MINUTES = 100_000;
const limit = z.number().int().min(MEMORY_LIMIT_CHARS.min).max(MEMORY_LIMIT_CHARS.max);
/** `memory:` of config.yaml; the interval of reviews is in `reviewSettingsSchema`. */
export const memorySettingsSchema = z.object({
  enabled: z.boolean(),
  /** Characters (code points) of MEMORY.md and of USER.md. */
  memoryLimit: limit,
  userLimit: limit,
  /** Time at rest after which a chat goes on with the memory as it is then; 0: never. */
  refreshIdleMinutes: z.number().int().min(0).max(MAX_REFRESH_MINUTES),
});
export type MemorySettings = z.infer<typeof memorySettingsSchema>;

export const memoryContract = {
  /** `enabled`: memory.enabled of config.yaml. */
  get: base.output(z.object({ enabled: z.boolean(), stores: z.array(memoryStoreSchema) })),
  /** INVALID when an operation cannot be done, with a sentence; CONFLICT when the file cannot be used. `changeId` is null when nothing was to be changed. */
  apply: base.input(z.object({ target: memoryTargetSchema, operations: z.array(memoryOperationSchema).min(1).max(100), reason: z.string().max(300).default('') })).output(z.object({ store: memoryStoreSchema, changeId: z.number().int().nullable() })),
  history: base.input(z.object({ target: memoryTargetSchema.optional(), limit: z.number().int().min(1).max(200).default(50) })).output(z.object({ items: z.array(memoryChangeSchema) })),
  /** Takes back what a change did, and nothing else; CONFLICT when later changes stand in the way. */
  undo: base.input(z.object({ changeId: z.number().int() })).output(memoryStoreSchema),
  settings: base.output(memorySettingsSchema),
  configure: base.input(memorySettingsSchema.partial()).output(memorySettingsSchema),
  /** Ticks (at most 4 a second) when a file changed, also by another program. */
  changes: base.output(eventIterator(z.object({ generation: z.number().int() }))),
};
