import { z } from 'zod';
import { base } from './base.ts';

/** Of one length of time, ms: half, nine tenths, ninety-nine hundredths were this short or shorter. */
export const percentilesSchema = z.object({ count: z.number().int(), p50: z.number(), p90: z.number(), p99: z.number() });
export type Percentiles = z.infer<typeof percentilesSchema>;

export const CAUSE_STATES = ['failed', 'discarded', 'partial'] as const;

/** Rollouts that did not complete for the same cause, with the first of them. */
export const runCauseSchema = z.object({
  state: z.enum(CAUSE_STATES),
  /** Code of the cause; a filter's name for discarded ones, the exit reason for partial ones. Null: stored before causes had codes. */
  cause: z.string().nullable(),
  count: z.number().int(),
  /** How many of them a resume would run again. */
  retryable: z.number().int(),
  example: z.object({
    index: z.number().int(),
    promptIndex: z.number().int(),
    rollout: z.number().int(),
    /** Its start. */
    prompt: z.string(),
    reason: z.string().nullable(),
    trajectoryId: z.string().nullable(),
  }),
});
export type RunCause = z.infer<typeof runCauseSchema>;

const exitReasonCount = z.object({ reason: z.string(), count: z.number().int() });

export const runDashboardSchema = z.object({
  dataset: z.object({ file: z.string(), sha256: z.string(), rows: z.number().int() }),
  /** Of all ended rollouts, most frequent first. */
  exitReasons: z.array(exitReasonCount),
  /** Most frequent first; at most 50. */
  causes: z.array(runCauseSchema),
  latency: z.object({
    /** Model calls of the newest `sampledRollouts` rollouts. */
    calls: percentilesSchema.nullable(),
    sampledRollouts: z.number().int(),
    /** Whole rollouts, all of them. */
    rollouts: percentilesSchema.nullable(),
  }),
  /** Ended rollouts, and those in which at least one turn has reasoning. */
  reasoning: z.object({ rollouts: z.number().int(), withReasoning: z.number().int() }),
  rewards: z
    .object({
      count: z.number().int(),
      mean: z.number(),
      min: z.number(),
      max: z.number(),
      /** Equal steps from `min` to `max`. */
      histogram: z.array(z.number().int()),
      /** `unknown` counts rollouts for which the rule could not say; over the newest `sampledRollouts` when that is not null. */
      rules: z.array(z.object({ name: z.string(), rule: z.string(), weight: z.number(), count: z.number().int(), unknown: z.number().int(), mean: z.number().nullable() })),
      sampledRollouts: z.number().int().nullable(),
    })
    .nullable(),
  /** Null with one rollout per prompt or without rewards. A rollout is right when its reward is above 0. */
  groups: z
    .object({
      allRight: z.number().int(),
      mixed: z.number().int(),
      allWrong: z.number().int(),
      /** Groups with a reward in fewer rollouts than the run makes. */
      incomplete: z.number().int(),
      /** Highest reward less the lowest, mean over groups of two or more. */
      meanSpread: z.number().nullable(),
      zeroSpread: z.number().int(),
    })
    .nullable(),
  /** Ends over time, from the first on, in equal steps of active time; pauses are left out. */
  series: z.array(z.object({ at: z.number(), seconds: z.number(), count: z.number().int() })),
});
export type RunDashboard = z.infer<typeof runDashboardSchema>;

export const QUADRANTS = ['both', 'onlyA', 'onlyB', 'neither'] as const;
export type Quadrant = (typeof QUADRANTS)[number];

const comparedSideSchema = z.object({
  /** Rows of its dataset, and how many of them the other run has not. */
  rows: z.number().int(),
  alone: z.number().int(),
  /** Of the rows both have ended: solved by at least one rollout. */
  solved: z.number().int(),
  /** The same of all its rows, those that the other run has not or has not ended too: what its cost is to be divided by. */
  solvedOfAll: z.number().int(),
  /** Share of ended rollouts of those rows that solved theirs; null without any. */
  share: z.number().nullable(),
  meanReward: z.number().nullable(),
  exitReasons: z.array(exitReasonCount),
  /** Whole rollouts. */
  duration: percentilesSchema.nullable(),
});
export type ComparedSide = z.infer<typeof comparedSideSchema>;

const comparedRolloutsSchema = z.object({
  promptIndex: z.number().int(),
  ended: z.number().int(),
  solved: z.number().int(),
  /** The best of its rollouts. */
  reward: z.number().nullable(),
  trajectoryId: z.string().nullable(),
});

export const comparedRowSchema = z.object({
  /** Its place among the rows that both have; the cursor of the next page. */
  place: z.number().int(),
  quadrant: z.enum(QUADRANTS),
  prompt: z.string(),
  a: comparedRolloutsSchema,
  b: comparedRolloutsSchema,
});
export type ComparedRow = z.infer<typeof comparedRowSchema>;

export const runComparisonSchema = z.object({
  /** What counts as solved: a reward (both runs have them), or that the rollout completed. */
  solvedBy: z.enum(['reward', 'completed']),
  a: comparedSideSchema,
  b: comparedSideSchema,
  quadrants: z.record(z.enum(QUADRANTS), z.number().int()),
  /** Rows of both that one of the runs has not ended yet: in no quadrant. */
  open: z.number().int(),
  items: z.array(comparedRowSchema),
  more: z.boolean(),
});
export type RunComparison = z.infer<typeof runComparisonSchema>;

export const dashboardsContract = {
  /** The numbers of one run that its summary has not, as stored at this moment. */
  get: base.input(z.object({ runId: z.string() })).output(runDashboardSchema),
  /**
   * Two runs over the rows they have in common, matched by content. Solved is a rollout with a reward of at least `threshold`; without
   * one, with a reward above 0; when a run has no rewards, one that completed.
   */
  compare: base
    .input(
      z.object({
        a: z.string(),
        b: z.string(),
        threshold: z.number().optional(),
        quadrant: z.enum(QUADRANTS).optional(),
        after: z.number().int().default(-1),
        limit: z.number().int().min(1).max(200).default(100),
      }),
    )
    .output(runComparisonSchema),
};
