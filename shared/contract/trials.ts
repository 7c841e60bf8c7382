import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { OUTCOMES, exitReasonSchema } from '../trajectory.ts';
import { base } from './base.ts';
import { SANDBOX_KINDS } from './chats.ts';
import { REASONING_EFFORTS } from './runs.ts';

export const MAX_TRIAL_PROMPTS = 50;
/** `with`: the skill is offered as in a real session (index, skill_view); `without`: nothing of it is seen, all else is the same. */
export const TRIAL_ARMS = ['with', 'without'] as const;
export type TrialArm = (typeof TRIAL_ARMS)[number];
/** `interrupted`: the engine was stopped; it can go on, as a cancelled one can. `paused`: the budget was used up, or the provider refused. */
export const TRIAL_STATES = ['running', 'done', 'cancelled', 'interrupted', 'paused', 'failed'] as const;
export const TRIAL_DECISIONS = ['keep', 'discard'] as const;

export const trialPromptSchema = z.object({
  prompt: z.string().trim().min(1).max(100_000),
  /** Other columns of its row, for scoring: answer, tests, … */
  row: z.record(z.string(), z.unknown()).default({}),
});
export type TrialPrompt = z.infer<typeof trialPromptSchema>;

export const trialSpecSchema = z.object({
  skillId: z.string().max(400),
  prompts: z.array(trialPromptSchema).min(1).max(MAX_TRIAL_PROMPTS),
  provider: z.string().min(1),
  model: z.string().min(1),
  /** Sent with each call, as providers know it; the same for both arms. One is drawn when it is left out. */
  seed: z.number().int().min(0).max(2_147_483_647).optional(),
  temperature: z.number().min(0).max(2).nullable().default(null),
  reasoningEffort: z.enum(REASONING_EFFORTS).nullable().default(null),
  /** Besides `skills`, which both arms have. */
  toolsets: z.array(z.string()).max(50).default(['terminal', 'file', 'todo']),
  maxTurns: z.number().int().min(1).max(200).default(20),
  /** Seconds for one attempt. */
  timeoutSeconds: z.number().int().min(5).max(86_400).default(600),
  sandbox: z.enum(SANDBOX_KINDS).default('host'),
  /** The arm with the skill gets its text with the prompt, as `/skill-name` does, instead of having to find it. */
  runByName: z.boolean().default(false),
  /** As `parseScoreRule` reads them; a row's own `scoring` goes first. */
  scoring: z.array(z.string().trim().min(1)).max(20).default([]),
  /** US dollars for the whole trial. */
  budgetUsd: z.number().positive().nullable().default(null),
  /** Attempts at the same time. */
  concurrency: z.number().int().min(1).max(16).default(2),
});
export type TrialSpec = z.infer<typeof trialSpecSchema>;
export type TrialSpecInput = z.input<typeof trialSpecSchema>;

/** One attempt. Numbers are null until it has ended. */
export const trialRunSchema = z.object({
  arm: z.enum(TRIAL_ARMS),
  state: z.enum(['pending', 'running', 'ended']),
  trajectoryId: z.string().nullable(),
  outcome: z.enum(OUTCOMES).nullable(),
  exitReason: exitReasonSchema.nullable(),
  error: z.string().nullable(),
  /** The beginning of the last answer. */
  answer: z.string().nullable(),
  /** Whether the skill's text was read (or given, when run by name). */
  usedSkill: z.boolean(),
  turns: z.number().int().nullable(),
  toolCalls: z.number().int().nullable(),
  toolErrors: z.number().int().nullable(),
  tokens: z.number().int().nullable(),
  costUsd: z.number().nullable(),
  durationMs: z.number().nullable(),
  /** Reward of the scoring rules. */
  score: z.number().nullable(),
});
export type TrialRun = z.infer<typeof trialRunSchema>;

/** Over the prompts that ended in both arms, so that the two can be compared. */
export const trialTotalsSchema = z.object({
  completed: z.number().int(),
  usedSkill: z.number().int(),
  turns: z.number(),
  toolCalls: z.number(),
  toolErrors: z.number(),
  tokens: z.number(),
  /** Null when no call had a known price. */
  costUsd: z.number().nullable(),
  durationMs: z.number(),
  /** Mean over the prompts that have one in both arms; null when none has. */
  score: z.number().nullable(),
});
export type TrialTotals = z.infer<typeof trialTotalsSchema>;

export const trialSchema = z.object({
  id: z.string(),
  skillId: z.string(),
  /** Its name when the trial began. */
  skill: z.string(),
  spec: trialSpecSchema.extend({ seed: z.number().int() }),
  state: z.enum(TRIAL_STATES),
  error: z.string().nullable(),
  decision: z.enum(TRIAL_DECISIONS).nullable(),
  /** The skill was changed since. */
  stale: z.boolean(),
  rows: z.array(z.object({ index: z.number().int(), prompt: z.string(), with: trialRunSchema, without: trialRunSchema })),
  totals: z.object({
    /** Prompts that ended in both arms; the basis of `with` and `without`. */
    pairs: z.number().int(),
    with: trialTotalsSchema,
    without: trialTotalsSchema,
    /** By score where there is one, else by outcome: in how many pairs the skill did better, worse, the same. */
    better: z.number().int(),
    worse: z.number().int(),
    equal: z.number().int(),
    /** Chance of a split at least as uneven if the skill made no difference (two-sided sign test); null without a difference. */
    chance: z.number().nullable(),
  }),
  spentUsd: z.number(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Trial = z.infer<typeof trialSchema>;

export const trialEstimateSchema = z.object({
  attempts: z.number().int(),
  lowUsd: z.number().nullable(),
  highUsd: z.number().nullable(),
  tokensLow: z.number(),
  tokensHigh: z.number(),
  /** Tokens that the skill's text adds to a call once it has been read. */
  skillTokens: z.number().int(),
  /** What keeps it from starting, in sentences. */
  problems: z.array(z.string()),
});
export type TrialEstimate = z.infer<typeof trialEstimateSchema>;

const id = z.object({ id: z.string().max(64) });

export const trialsContract = {
  /** What it would take. Calls no model and writes nothing. */
  estimate: base.input(trialSpecSchema).output(trialEstimateSchema),
  /** The first rows of a dataset file on the engine's machine as prompts. */
  prompts: base.input(z.object({ path: z.string().min(1).max(4_096) })).output(z.object({ prompts: z.array(trialPromptSchema), rows: z.number().int(), suggestedScoring: z.array(z.string()) })),
  start: base.input(trialSpecSchema).output(trialSchema),
  /** Newest first. */
  list: base.input(z.object({ skillId: z.string().max(400) })).output(z.object({ items: z.array(trialSchema) })),
  /** Now, then on change, at most 4 times a second; ends when the trial has. */
  watch: base.input(id).output(eventIterator(trialSchema)),
  /** Resolves when all of its attempts have ended. */
  cancel: base.input(id).output(trialSchema),
  /** Runs what has not ended: of a cancelled, interrupted or paused one. */
  resume: base.input(id.extend({ budgetUsd: z.number().positive().nullable().optional() })).output(trialSchema),
  /** `keep` enables the skill; `discard` disables it, or with `remove` puts one that an agent made into the trash. Taken back by `undo`. */
  decide: base.input(id.extend({ decision: z.enum(TRIAL_DECISIONS), remove: z.boolean().default(false) })).output(trialSchema),
  undo: base.input(id).output(trialSchema),
  /** The trial and its trajectories. */
  remove: base.input(id).output(z.object({})),
};
