import { z } from 'zod';
import { base } from './base.ts';
import { drawsSchema } from './distributions.ts';
import { runSpecSchema } from './run-spec.ts';

/** What a run is likely to use, and what that may cost. */
const estimateSchema = z.object({
  /** US dollars; null when no price of the model is known. */
  lowUsd: z.number().nullable(),
  highUsd: z.number().nullable(),
  /** US dollars for a million tokens. */
  price: z.object({ input: z.number(), output: z.number() }).nullable(),
  /** Tokens of one prompt on average, by the length of its text; of the system prompt with tools; of one answer, as assumed. */
  promptTokens: z.number(),
  systemTokens: z.number(),
  answerTokens: z.number(),
  /** Model calls of one rollout that are assumed. */
  turnsLow: z.number(),
  turnsHigh: z.number(),
  /** Tokens in all, both ways. */
  tokensLow: z.number(),
  tokensHigh: z.number(),
});
export type Estimate = z.infer<typeof estimateSchema>;

const planProblemSchema = z.object({
  /** The option at fault, as in RunSpec; null when it is none. */
  field: z.string().nullable(),
  /** Warnings do not keep a run from starting. */
  level: z.enum(['error', 'warning']),
  /** For a page that has its own words, with what they need; `message` says it in English. */
  code: z.string(),
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  message: z.string(),
});
export type PlanProblem = z.infer<typeof planProblemSchema>;

/** What a run would do. Numbers are null when the dataset cannot be read. */
const planSchema = z.object({
  /** Of the dataset, of those that run, and lines that cannot be used. */
  rows: z.number().int().nullable(),
  used: z.number().int().nullable(),
  rejected: z.number().int().nullable(),
  rollouts: z.number().int().nullable(),
  outputDir: z.string(),
  /** Files that the run will write, with how many rows at most. */
  files: z.array(z.object({ name: z.string(), count: z.number().int(), rows: z.number().int().nullable() })),
  /** Of the run's rollouts when it has a seed, of as many by another seed when it has none. Null when the distribution cannot be used. */
  draws: drawsSchema.extend({ seeded: z.boolean() }).nullable(),
  estimate: estimateSchema.nullable(),
  problems: z.array(planProblemSchema),
});
export type Plan = z.infer<typeof planSchema>;

const runValue = z.union([z.string(), z.array(z.string()), z.record(z.string(), z.string())]);

export const plansContract = {
  /** What would run, what it may cost and everything that stands in its way. Calls no model and writes nothing. */
  dryRun: base.input(runSpecSchema).output(planSchema),
  /**
   * A run file as values for the form. `path` is on the engine's machine: relative paths in it count from its folder. INVALID with a
   * sentence with line and key when it cannot be read; whether the values fit their options is not looked at.
   */
  readRunFile: base
    .input(z.object({ text: z.string().max(1024 * 1024).optional(), path: z.string().optional(), name: z.string().max(255).default('run.yaml') }))
    .output(z.object({ values: z.record(z.string(), runValue) })),
  /** The options as a run file. */
  runFile: base.input(z.object({ spec: runSpecSchema.extend({ runName: z.string() }) })).output(z.object({ text: z.string() })),
};
