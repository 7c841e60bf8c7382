import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { trajectoryFilterSchema } from './trajectories.ts';

export const EXPORT_FORMATS = ['sharegpt', 'atropos'] as const;
export type ExportFormatName = (typeof EXPORT_FORMATS)[number];
export const EXPORT_CONTEXTS = ['full', 'compressed'] as const;
export type ExportContext = (typeof EXPORT_CONTEXTS)[number];
export const ZERO_SPREAD = ['keep', 'drop'] as const;
export const UNFIT_ROLLOUT = ['rollout', 'group'] as const;
export const MASK_ALGORITHMS = ['auto', 'prefix', 'generation'] as const;
export type MaskAlgorithm = (typeof MASK_ALGORITHMS)[number];

/** Options of the format `atropos`. A group is all rollouts of one row of a run's dataset. */
export const groupOptionsSchema = z.object({
  /** Rollouts in every group: smaller groups are left out, of larger ones the first so many are taken. null: groups as large as they are. */
  groupSize: z.number().int().min(1).max(100_000).nullable().default(null),
  /** Groups whose scores are all the same: they carry no advantage, only length for a baseline. */
  zeroSpread: z.enum(ZERO_SPREAD).default('keep'),
  /** Groups whose highest and lowest score are nearer than this are left out; 0 leaves out none. */
  minSpread: z.number().min(0).default(0),
  /** What goes when a rollout cannot be written (no score, not completed, too long): it alone, or the group that it is of. */
  unfit: z.enum(UNFIT_ROLLOUT).default('rollout'),
  /** The rule whose value is the score; null: the reward, which stands for all rules. */
  scoreName: z.string().min(1).max(200).nullable().default(null),
  /** Folder with tokenizer.json and a chat template; null: messages and scores only. */
  tokenizer: z.string().min(1).nullable().default(null),
  /** How the trained tokens are found: `auto` takes the template's generation markers where it has some, else prefixes. */
  maskAlgorithm: z.enum(MASK_ALGORITHMS).default('auto'),
  /** Rollouts of more tokens cannot be written. Needs `tokenizer`. */
  maxTokens: z.number().int().min(1).nullable().default(null),
});
export type GroupOptions = z.infer<typeof groupOptionsSchema>;

export const exportRequestSchema = z.object({
  filter: trajectoryFilterSchema,
  format: z.enum(EXPORT_FORMATS).default('sharegpt'),
  /** File name inside the exports folder, or an absolute path. */
  file: z.string().min(1),
  /** `full`: everything that was said, with the skills that were run by name, and nothing else. `compressed`: what the model saw last, summaries in place of what they cover. */
  context: z.enum(EXPORT_CONTEXTS).default('full'),
  /** Also write trajectories that did not complete. */
  includePartial: z.boolean().default(false),
  /** Also write trajectories of the scripted offline model. */
  includeScripted: z.boolean().default(false),
  groups: groupOptionsSchema.prefault({}),
  /** Overwrite an existing file. */
  overwrite: z.boolean().default(false),
});
export type ExportRequest = z.infer<typeof exportRequestSchema>;

const reasonCounts = z.array(z.object({ reason: z.string(), count: z.number().int(), exampleId: z.string() }));

export const exportSummarySchema = z.object({
  /** Empty when nothing was written: then there is no file. */
  file: z.string(),
  format: z.enum(EXPORT_FORMATS),
  bytes: z.number(),
  /** Trajectories in the file. With those left out as many as were selected. */
  written: z.number().int(),
  /** Trajectories left out, by reason. */
  leftOut: reasonCounts,
  /** Rows written with a remark (e.g. control tags in tool output). */
  warnings: reasonCounts,
  /** Of formats that write groups: one line is one group. */
  groups: z
    .object({
      written: z.number().int(),
      /** How many groups there are of each size, the most frequent first. */
      sizes: z.array(z.object({ size: z.number().int(), count: z.number().int() })),
      leftOut: reasonCounts,
    })
    .nullable(),
  /** Of lines with tokens. A preview counts the tokens of `rollouts` of them only, and takes the others to be as fit. */
  tokens: z
    .object({
      rollouts: z.number().int(),
      total: z.number().int(),
      /** Those that the loss is taken on. */
      trained: z.number().int(),
      algorithm: z.enum(['prefix', 'generation']),
      /** Where the chat template was found: its file and, of several, its name. */
      template: z.string(),
    })
    .nullable(),
  /** Further files written beside it. */
  companions: z.array(z.string()),
  durationMs: z.number(),
});
export type ExportSummary = z.infer<typeof exportSummarySchema>;

export const exportPreviewSchema = exportSummarySchema.pick({ written: true, leftOut: true, warnings: true, groups: true, tokens: true });
export type ExportPreview = z.infer<typeof exportPreviewSchema>;

export const exportEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), done: z.number().int(), total: z.number().int(), bytes: z.number() }),
  z.object({ type: z.literal('done'), summary: exportSummarySchema }),
]);
export type ExportEvent = z.infer<typeof exportEventSchema>;

export const exportsContract = {
  /**
   * Streams progress, then the summary. Ending the iterator early cancels: no partial file is left. An error about an option has its
   * name as `field`.
   */
  run: base.input(exportRequestSchema).output(eventIterator(exportEventSchema)),
  /** What would be written and left out, without writing. Going away cancels it. */
  preview: base.input(exportRequestSchema.omit({ file: true, overwrite: true })).output(exportPreviewSchema),
  /** Where relative names go. */
  folder: base.output(z.object({ path: z.string() })),
};
