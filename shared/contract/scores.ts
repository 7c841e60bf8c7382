import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { SCORE_KINDS } from '../scoring.ts';
import { base } from './base.ts';
import { trajectoryFilterSchema } from './trajectories.ts';

/** What one rule, or a person, said of a trajectory. */
export const scoreSchema = z.object({
  name: z.string(),
  source: z.enum(['rule', 'person']),
  /** As it was written; empty for a rating that no rule uses. */
  rule: z.string(),
  kind: z.enum(SCORE_KINDS).nullable(),
  /** Null when it could not be said; `detail.why` tells why. */
  value: z.number().nullable(),
  /** 0: no part of the reward. */
  weight: z.number(),
  /** e.g. expected and given; passed, total and output of tests; why. */
  detail: z.record(z.string(), z.unknown()),
  createdAt: z.number(),
});
export type Score = z.infer<typeof scoreSchema>;

export const trajectoryScoresSchema = z.object({ reward: z.number().nullable(), rating: z.number().int().nullable(), scores: z.array(scoreSchema) });
export type TrajectoryScores = z.infer<typeof trajectoryScoresSchema>;

/** What a new scoring did. Counts of trajectories. */
export const rescoreSummarySchema = z.object({
  scored: z.number().int(),
  /** Of those scored, whose reward is another one now. */
  changed: z.number().int(),
  /** Of those scored, with a rule that could not be asked again and keeps what it said. */
  kept: z.number().int(),
  /** Of those scored, with a rule that cannot say. */
  unknown: z.number().int(),
  /** Not scored: nothing names rules for them, they run still, or they failed. */
  skipped: z.number().int(),
  durationMs: z.number(),
});
export type RescoreSummary = z.infer<typeof rescoreSummarySchema>;

export const rescoreEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), done: z.number().int(), total: z.number().int() }),
  z.object({ type: z.literal('done'), summary: rescoreSummarySchema }),
]);
export type RescoreEvent = z.infer<typeof rescoreEventSchema>;

const rescoreRequestSchema = z.object({
  /** All rollouts of a run that is not running; `scoring` then becomes the run's. */
  runId: z.string().optional(),
  /** Instead of a run: these trajectories, by `scoring` or else the rules of their own run. */
  filter: trajectoryFilterSchema.optional(),
  /** Each as `parseScoreRule` reads it. A row's own rules go before. */
  scoring: z.array(z.string().trim().min(1)).max(100).optional(),
});
export type RescoreRequest = z.infer<typeof rescoreRequestSchema>;

export const scoresContract = {
  of: base.input(z.object({ trajectoryId: z.string() })).output(trajectoryScoresSchema),
  /** A person's rating, 1 to 5; null takes it back. */
  rate: base.input(z.object({ trajectoryId: z.string(), rating: z.number().int().min(1).max(5).nullable() })).output(trajectoryScoresSchema),
  /**
   * Scores again from the store, without any model call. Tests that need a workspace run where it was kept. Ending the stream cancels;
   * what is scored by then stays scored. CONFLICT while the run is running.
   */
  rescore: base.input(rescoreRequestSchema).output(eventIterator(rescoreEventSchema)),
};
