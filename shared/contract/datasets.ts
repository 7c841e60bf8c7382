import { z } from 'zod';
import { base } from './base.ts';

/** Why a line was refused. */
export const REFUSALS = ['too_long', 'encoding', 'not_json', 'not_object', 'no_prompt', 'prompt_not_text', 'prompt_empty', 'too_deep'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** `reason` says it in an English sentence; `code` and its `params` let a page say it in its own language. */
export const rejectedLineSchema = z.object({
  line: z.number().int(),
  reason: z.string(),
  code: z.enum(REFUSALS).optional(),
  /** too_long: mb, limit; encoding: encoding, column; not_json: column, problem (English; both only when found); not_object, prompt_not_text: kind (null, list, string, number, boolean, object); no_prompt: columns. */
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  excerpt: z.string(),
});
export type RejectedLine = z.infer<typeof rejectedLineSchema>;

export const datasetReportSchema = z.object({
  path: z.string(),
  name: z.string(),
  bytes: z.number(),
  encoding: z.enum(['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be']),
  rows: z.number().int(),
  blankLines: z.number().int(),
  /** Rows whose prompt equals an earlier one; kept, each is its own prompt. */
  duplicates: z.number().int(),
  /** The first rows. `line` counts from 1. */
  preview: z.array(z.object({ index: z.number().int(), line: z.number().int(), prompt: z.string() })),
  rejectedCount: z.number().int(),
  rejected: z.array(rejectedLineSchema),
});
export type DatasetReport = z.infer<typeof datasetReportSchema>;

export const datasetsContract = {
  /** Reads a JSONL file of prompts on the engine's machine and says what is in it. INVALID when it cannot be read. */
  inspect: base.input(z.object({ path: z.string().min(1) })).output(datasetReportSchema),
  /** Brings a dropped file to the engine in pieces (base64, at most 1 MiB decoded each); the last piece answers with the stored path. */
  upload: base
    .input(z.object({ uploadId: z.string().optional(), name: z.string().min(1).max(255), chunk: z.string(), last: z.boolean() }))
    .output(z.object({ uploadId: z.string(), path: z.string().nullable() })),
};
