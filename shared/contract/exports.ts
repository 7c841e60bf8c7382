import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { trajectoryFilterSchema } from './trajectories.ts';

export const EXPORT_FORMATS = ['sharegpt'] as const;

export const exportRequestSchema = z.object({
  filter: trajectoryFilterSchema,
  format: z.enum(EXPORT_FORMATS).default('sharegpt'),
  /** File name inside the exports folder, or an absolute path. */
  file: z.string().min(1),
  /** Also write trajectories that did not complete. */
  includePartial: z.boolean().default(false),
  /** Also write trajectories of the scripted offline model. */
  includeScripted: z.boolean().default(false),
  /** Overwrite an existing file. */
  overwrite: z.boolean().default(false),
});
export type ExportRequest = z.infer<typeof exportRequestSchema>;

export const exportSummarySchema = z.object({
  /** Empty when nothing was written: then there is no file. */
  file: z.string(),
  format: z.enum(EXPORT_FORMATS),
  bytes: z.number(),
  written: z.number().int(),
  /** Trajectories left out, by reason. */
  leftOut: z.array(z.object({ reason: z.string(), count: z.number().int(), exampleId: z.string() })),
  /** Rows written with a remark (e.g. control tags in tool output). */
  warnings: z.array(z.object({ reason: z.string(), count: z.number().int(), exampleId: z.string() })),
  durationMs: z.number(),
});
export type ExportSummary = z.infer<typeof exportSummarySchema>;

export const exportEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), done: z.number().int(), total: z.number().int(), bytes: z.number() }),
  z.object({ type: z.literal('done'), summary: exportSummarySchema }),
]);
export type ExportEvent = z.infer<typeof exportEventSchema>;

export const exportsContract = {
  /** Streams progress, then the summary. Ending the iterator early cancels: no partial file is left. */
  run: base.input(exportRequestSchema).output(eventIterator(exportEventSchema)),
  /** What would be written and left out, without writing. */
  preview: base.input(exportRequestSchema.omit({ file: true, overwrite: true })).output(exportSummarySchema.pick({ written: true, leftOut: true, warnings: true })),
  /** Where relative names go. */
  folder: base.output(z.object({ path: z.string() })),
};
