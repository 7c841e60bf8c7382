import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { toolStatSchema, usageSchema } from '../trajectory.ts';
import { base } from './base.ts';
import { runSpecSchema } from './run-spec.ts';

export * from './run-spec.ts';

export const RUN_STATES = ['running', 'pausing', 'paused', 'completed', 'cancelled', 'failed', 'interrupted'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** One durable disposition per prompt. */
export const PROMPT_STATES = ['pending', 'running', 'completed', 'partial', 'failed', 'discarded', 'cancelled'] as const;
export const promptStateSchema = z.enum(PROMPT_STATES);
export type PromptState = (typeof PROMPT_STATES)[number];

export const runSummarySchema = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(RUN_STATES),
  /** Why a run stopped, in a sentence, when it did not simply finish. */
  message: z.string().nullable(),
  /** Runs that are stored keep their names, whatever new ones may be called. */
  spec: runSpecSchema.extend({ runName: z.string() }),
  scripted: z.boolean(),
  outputDir: z.string(),
  /** Rollouts: rows of the dataset times `spec.rollouts`. */
  total: z.number().int(),
  states: z.record(promptStateSchema, z.number().int()),
  /** Failed and discarded rollouts by the code of their cause; a filter's name for the latter. */
  causes: z.record(z.string(), z.number().int()),
  /** Rollouts whose row an edited dataset no longer has. */
  removed: z.number().int(),
  /** What the last resume found in an edited dataset; null when it was as before. */
  changes: z.object({ added: z.number().int(), removed: z.number().int(), returned: z.number().int(), at: z.number() }).nullable(),
  /** Of the rollouts that have a reward. */
  rewards: z.object({ count: z.number().int(), mean: z.number() }).nullable(),
  usage: usageSchema,
  /** Priced calls of all attempts. */
  costUsd: z.number(),
  /** Active time over all passes, ms. */
  elapsedMs: z.number(),
  /** Prompts per second over the last minute of activity; null before the first end. */
  ratePerSecond: z.number().nullable(),
  /** Estimated ms to the end at this rate. */
  etaMs: z.number().nullable(),
  turns: z.number().int(),
  turnsWithReasoning: z.number().int(),
  toolStats: z.record(z.string(), toolStatSchema),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** One rollout of a run. `index` counts rollouts: its row of the dataset is index / spec.rollouts, rounded down. */
export const promptItemSchema = z.object({
  index: z.number().int(),
  promptIndex: z.number().int(),
  rollout: z.number().int(),
  prompt: z.string(),
  state: promptStateSchema,
  reason: z.string().nullable(),
  /** Code of the reason of a failed or discarded one. */
  cause: z.string().nullable(),
  /** The same request would not fail again for sure: a resume runs it. */
  retryable: z.boolean(),
  /** Its row is no longer in the dataset. */
  removed: z.boolean(),
  reward: z.number().nullable(),
  trajectoryId: z.string().nullable(),
});
export type PromptItem = z.infer<typeof promptItemSchema>;

export const activeRolloutSchema = z.object({
  index: z.number().int(),
  prompt: z.string(),
  trajectoryId: z.string(),
  turn: z.number().int(),
  /** e.g. "thinking", "terminal pytest -q" */
  activity: z.string(),
  startedAt: z.number(),
});
export type ActiveRollout = z.infer<typeof activeRolloutSchema>;

/** First event is the snapshot of every prompt's state (one code per prompt, see PROMPT_STATE_CODES), then changes. */
export const runEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), run: runSummarySchema, codes: z.string(), active: z.array(activeRolloutSchema) }),
  z.object({
    type: z.literal('progress'),
    run: runSummarySchema,
    changed: z.array(z.object({ index: z.number().int(), state: promptStateSchema })),
    active: z.array(activeRolloutSchema),
  }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;

/** One letter per prompt state, for compact snapshots of many thousands of prompts. */
export const PROMPT_STATE_CODES: Record<PromptState, string> = {
  pending: '.',
  running: 'r',
  completed: 'c',
  partial: 'p',
  failed: 'f',
  discarded: 'd',
  cancelled: 'x',
};

const byId = z.object({ id: z.string() });

export const runsContract = {
  list: base.output(z.object({ items: z.array(runSummarySchema) })),
  get: base.input(byId).output(runSummarySchema),
  /** Starts a new run. CONFLICT when a run of this name exists. */
  start: base.input(runSpecSchema).output(byId),
  /** Lets running prompts end, takes no new ones. */
  pause: base.input(byId).output(runSummarySchema),
  /**
   * Runs what is pending, cancelled, or failed and retryable; nothing else. An edited dataset is matched by the content of its rows:
   * changed and new ones run, removed ones do not.
   */
  resume: base
    .input(byId.extend({ /** The run's budget from now on; null takes it away. */ budgetUsd: z.number().positive().nullable().optional() }))
    .output(runSummarySchema),
  /** Makes all failed or all discarded rollouts (or those of `indices`) pending again, whatever their cause, and resumes. */
  retry: base.input(z.object({ id: z.string(), what: z.enum(['failed', 'discarded']), indices: z.array(z.number().int()).max(10_000).optional() })).output(runSummarySchema),
  /** Stops running prompts now. They can be resumed later. */
  cancel: base.input(byId).output(runSummarySchema),
  /** Removes a run that is not running, with its trajectories; output files stay. */
  remove: base.input(byId).output(z.object({ removed: z.number().int() })),
  prompts: base
    .input(z.object({ id: z.string(), after: z.number().int().default(-1), limit: z.number().int().min(1).max(500).default(100), states: z.array(promptStateSchema).optional(), cause: z.string().optional() }))
    .output(z.object({ items: z.array(promptItemSchema), more: z.boolean() })),
  watch: base.input(byId).output(eventIterator(runEventSchema)),
  /** Choices for the form. */
  options: base.output(
    z.object({
      /** `toolsets` with their chance in percent; `skipped` names those that this version has no tools for. */
      distributions: z.array(z.object({ name: z.string(), description: z.string(), toolsets: z.record(z.string(), z.number()), skipped: z.array(z.string()) })),
      demoDataset: z.string(),
      defaultOutputDir: z.string(),
      suggestedName: z.string(),
    }),
  ),
};
