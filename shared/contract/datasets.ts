import { z } from 'zod';
import { base } from './base.ts';

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
  rejected: z.array(z.object({ line: z.number().int(), reason: z.string(), excerpt: z.string() })),
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
