import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { toolStatSchema, usageSchema } from '../trajectory.ts';
import { base } from './base.ts';

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** Device names of Windows, also with an ending, and names with a dot at the end: no folder there can be called so. */
const NOT_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/i;

/** Everything that defines a batch run. Option names are those of the command line, in camel case. */
export const runSpecSchema = z.object({
  datasetFile: z.string().min(1),
  runName: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'Use letters, digits, dot, dash and underscore; start with a letter or digit; at most 100 characters.')
    .refine((name) => !NOT_ON_WINDOWS.test(name), 'Windows cannot have a folder of this name: take one that does not end in a dot and is no device name (CON, NUL, COM1, …).'),
  /** Prompts per batch_N.jsonl file. */
  batchSize: z.number().int().min(1).default(10),
  /** Provider id of Settings; ignored when `baseUrl` is given. */
  provider: z.string().default('offline'),
  model: z.string().min(1).default('offline/demo'),
  baseUrl: z.url().optional(),
  numWorkers: z.number().int().min(1).max(512).default(4),
  maxTurns: z.number().int().min(1).max(1000).default(10),
  /** Only the first N prompts. */
  maxSamples: z.number().int().min(1).optional(),
  distribution: z.string().default('default'),
  reasoningEffort: z.enum(REASONING_EFFORTS).optional(),
  /** Folder that holds the run's own folder; the engine's default when absent. */
  outputDir: z.string().optional(),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
export type RunSpecInput = z.input<typeof runSpecSchema>;

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
  total: z.number().int(),
  states: z.record(promptStateSchema, z.number().int()),
  usage: usageSchema,
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

export const promptItemSchema = z.object({
  index: z.number().int(),
  prompt: z.string(),
  state: promptStateSchema,
  reason: z.string().nullable(),
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
  /** Runs what is pending, failed or cancelled; nothing else. */
  resume: base.input(byId).output(runSummarySchema),
  /** Stops running prompts now. They can be resumed later. */
  cancel: base.input(byId).output(runSummarySchema),
  /** Removes a run that is not running, with its trajectories; output files stay. */
  remove: base.input(byId).output(z.object({ removed: z.number().int() })),
  prompts: base
    .input(z.object({ id: z.string(), after: z.number().int().default(-1), limit: z.number().int().min(1).max(500).default(100), states: z.array(promptStateSchema).optional() }))
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
