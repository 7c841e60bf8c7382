import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { trajectoryFilterSchema } from './trajectories.ts';

/** Defaults are those of Hermes Agent's trajectory compressor. */
export const compressorOptionsSchema = z.object({
  /** Rows above it are compressed, tokens. */
  targetMaxTokens: z.number().int().min(1).default(15_250),
  summaryTargetTokens: z.number().int().min(1).default(750),
  protectFirstSystem: z.boolean().default(true),
  protectFirstHuman: z.boolean().default(true),
  protectFirstGpt: z.boolean().default(true),
  protectFirstTool: z.boolean().default(true),
  /** Turns at the end that stay. */
  protectLastTurns: z.number().int().min(0).max(1000).default(4),
  /** Folder with tokenizer.json; four characters count as a token without one. */
  tokenizer: z.string().min(1).optional(),
  /** Provider id of Settings; ignored when `baseUrl` is given. */
  provider: z.string().default('openrouter'),
  /** Writes the summaries. */
  model: z.string().min(1).default('google/gemini-3-flash-preview'),
  baseUrl: z.url().optional(),
  temperature: z.number().min(0).max(2).default(0.3),
  /** Tell the model in the system turn that there are summaries. */
  addSummaryNotice: z.boolean().default(true),
  summaryNotice: z.string().min(1).default('Some earlier turns are not shown in full: a turn that begins with [CONTEXT SUMMARY] tells what happened in them.'),
  maxConcurrentRequests: z.number().int().min(1).max(512).default(50),
  /** Seconds; a row that takes longer stays as it was and is marked. */
  timeoutPerTrajectory: z.number().min(1).max(86_400).default(300),
  /** Rows that are too long even so are written too. */
  saveOverLimit: z.boolean().default(true),
  /** Only so much of the rows, drawn with `seed`; percent. */
  samplePercent: z.number().gt(0).max(100).default(100),
  seed: z.number().int().min(0).default(42),
  /** `compression_metrics` in every row. */
  rowMetrics: z.boolean().default(true),
  suffix: z.string().regex(/^[\w.-]{1,40}$/, 'Use letters, digits, dot, dash and underscore.').default('_compressed'),
});
export type CompressorOptions = z.infer<typeof compressorOptionsSchema>;

export const compressorSourceSchema = z.discriminatedUnion('kind', [
  /** The trajectories.jsonl of a run. */
  z.object({ kind: z.literal('run'), id: z.string() }),
  /** What the Library's export would write. */
  z.object({ kind: z.literal('selection'), filter: trajectoryFilterSchema, includePartial: z.boolean().default(false), includeScripted: z.boolean().default(false) }),
  /** A JSONL file (also .gz) or a folder of them. */
  z.object({ kind: z.literal('files'), path: z.string().min(1) }),
]);
export type CompressorSource = z.infer<typeof compressorSourceSchema>;

/** Counts of a pass, named as in `compression_metrics.json`. */
export const compressorSummarySchema = z.object({
  files: z.array(z.object({ input: z.string(), output: z.string(), rows: z.number().int() })),
  metricsFile: z.string(),
  rows: z.number().int(),
  compressed: z.number().int(),
  underTarget: z.number().int(),
  stillOverLimit: z.number().int(),
  /** Not compressed because of their time or a fault; they are in the output as they were. */
  failed: z.number().int(),
  timedOut: z.number().int(),
  /** Over the limit and left out, which only `saveOverLimit: false` does. */
  leftOut: z.number().int(),
  tokensBefore: z.number().int(),
  tokensAfter: z.number().int(),
  summaryCalls: z.number().int(),
  summaryErrors: z.number().int(),
  /** Lines that are no JSON object; they are in the output as they were. */
  unreadable: z.array(z.object({ file: z.string(), line: z.number().int() })),
  durationMs: z.number(),
});
export type CompressorSummary = z.infer<typeof compressorSummarySchema>;

export const compressorEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), done: z.number().int(), total: z.number().int(), compressed: z.number().int(), tokensSaved: z.number().int() }),
  z.object({ type: z.literal('done'), summary: compressorSummarySchema }),
]);
export type CompressorEvent = z.infer<typeof compressorEventSchema>;

const requestSchema = z.object({
  source: compressorSourceSchema,
  /** File or folder; beside the input with `suffix` when absent. */
  output: z.string().min(1).optional(),
  overwrite: z.boolean().default(false),
  options: compressorOptionsSchema,
});
export type CompressorRequest = z.infer<typeof requestSchema>;

export const compressorContract = {
  /** Progress, then the summary. Ending the iterator early cancels: no partial file is left. */
  run: base.input(requestSchema).output(eventIterator(compressorEventSchema)),
  /** Counts tokens and says what would be compressed, without a model call and without writing. */
  preview: base
    .input(requestSchema.omit({ output: true, overwrite: true }))
    .output(z.object({ rows: z.number().int(), overTarget: z.number().int(), compressible: z.number().int(), tokens: z.number().int(), largest: z.number().int(), tokenizer: z.string() })),
};
