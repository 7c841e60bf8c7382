import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';
import { runSpecSchema } from './run-spec.ts';

/** What filters make of the rollouts of a run that came to an end. */
export const filterSummarySchema = z.object({
  /** Ended rollouts that filters decide on: not those that failed. */
  total: z.number().int(),
  kept: z.number().int(),
  discarded: z.number().int(),
  /** Discarded ones by the first filter that matches. */
  causes: z.record(z.string(), z.number().int()),
  /** How many each filter matches, whatever the others say. */
  alone: z.record(z.string(), z.number().int()),
  /** Kept by hand, so not asked. */
  keptAnyway: z.number().int(),
  /** What is (or would be) different from now: newly discarded, and back in the files. */
  newlyDiscarded: z.number().int(),
  newlyKept: z.number().int(),
});
export type FilterSummary = z.infer<typeof filterSummarySchema>;

export const filterEventSchema = z.discriminatedUnion('type', [
  /** `judging` can be cancelled and has changed nothing; `writing`: the store has it all, its files follow. */
  z.object({ type: z.literal('progress'), stage: z.enum(['judging', 'writing']), done: z.number().int(), total: z.number().int() }),
  z.object({ type: z.literal('done'), summary: filterSummarySchema }),
]);
export type FilterEvent = z.infer<typeof filterEventSchema>;

const filtersOfRun = z.object({ runId: z.string(), filters: runSpecSchema.shape.filters });
const some = z.object({ runId: z.string(), indices: z.array(z.number().int().min(0)).min(1).max(10_000) });
const changed = z.object({ changed: z.number().int() });

export const filtersContract = {
  /** Counts what these filters would discard. Changes nothing. INVALID with field `filters` for one that is not understood. */
  preview: base.input(filtersOfRun).output(eventIterator(filterEventSchema)),
  /**
   * Judges all ended rollouts of a run that is not running by other filters, without model calls, both ways: the store, the run's
   * definition and its files. All of it is stored at once, or nothing. CONFLICT while it runs.
   */
  refilter: base.input(filtersOfRun).output(eventIterator(filterEventSchema)),
  /** Keeps discarded rollouts whatever filters say, now and later. CONFLICT while the run is running. */
  keep: base.input(some).output(changed),
  /** Lets the run's filters decide again on rollouts that were kept by hand. */
  unkeep: base.input(some).output(changed),
};
