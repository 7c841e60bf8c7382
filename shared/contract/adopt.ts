import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { runSpecSchema } from './run-spec.ts';

/** What is in the folder of a run that Hermes Agent's batch runner made. */
export const adoptReportSchema = z.object({
  folder: z.string(),
  /** As its files say; empty when they do not. */
  runName: z.string(),
  model: z.string(),
  batchSize: z.number().int().nullable(),
  distribution: z.string().nullable(),
  /** Batch files, in numeric order; `trajectories.jsonl` when there are none. */
  files: z.array(z.string()),
  /** Rows that can be read. */
  rows: z.number().int(),
  /** Lines that are no rows: torn or broken. */
  badLines: z.number().int(),
  /** Rows without an answer of the model: what the runner saved of failures. Their prompts run again. */
  failedRows: z.number().int(),
  /** Of the checkpoint, each once; and how often one stands there again. */
  checkpointIds: z.number().int(),
  checkpointRepeats: z.number().int(),
  /** How the rows fit the dataset; null without one. */
  dataset: z
    .object({
      rows: z.number().int(),
      /** Prompts whose row is taken over. */
      matched: z.number().int(),
      /** Of those, rows whose prompt now stands at another place. */
      moved: z.number().int(),
      /** Done in the checkpoint and without a row: discarded for want of reasoning. Only when no row has moved. */
      discarded: z.number().int(),
      /** Left to run. */
      pending: z.number().int(),
      /** Further rows of a prompt that has one. */
      repeats: z.number().int(),
      /** Rows whose prompt is not in the dataset. */
      strangers: z.number().int(),
    })
    .nullable(),
});
export type AdoptReport = z.infer<typeof adoptReportSchema>;

export const adoptEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), stage: z.enum(['reading', 'taking_over']), done: z.number().int(), total: z.number().int() }),
  z.object({ type: z.literal('done'), id: z.string(), report: adoptReportSchema }),
]);
export type AdoptEvent = z.infer<typeof adoptEventSchema>;

export const adoptContract = {
  /** Looks at a folder, and with a dataset at what would be taken over. Changes nothing. */
  inspect: base.input(z.object({ folder: z.string().min(1), dataset: runSpecSchema.pick({ datasetFile: true, datasetShape: true, columns: true, maxSamples: true }).optional() })).output(adoptReportSchema),
  /**
   * Makes a new run in a folder of its own from the rows of the old one and goes on with what is left; the old folder stays as it is.
   * Fails like `runs.start`. Cancelling before the end leaves nothing.
   */
  run: base.input(z.object({ folder: z.string().min(1), spec: runSpecSchema })).output(eventIterator(adoptEventSchema)),
};
