import { z } from 'zod';
import { base } from './base.ts';

const chances = z.record(z.string(), z.number());

const distributionSchema = z.object({
  name: z.string(),
  /** One sentence; empty when there is none. */
  description: z.string(),
  /** Chance of each toolset in percent, independent of each other. */
  toolsets: chances,
  /** Toolsets of it that have no tools here, and why. None usable: the distribution cannot run. */
  skipped: z.array(z.object({ name: z.string(), why: z.enum(['not_built', 'not_ready', 'unknown']) })),
  usable: z.boolean(),
  /** Of config.yaml, and not one of the built-in ones. */
  own: z.boolean(),
});
export type DistributionEntry = z.infer<typeof distributionSchema>;

export const DRAWS_SHOWN = 1_000;
export const COMBINATIONS_SHOWN = 12;

export const drawsSchema = z.object({
  draws: z.number().int(),
  /** How many draws had each toolset, in the order of the table. */
  toolsets: z.array(z.object({ name: z.string(), count: z.number().int() })),
  /** The commonest, most first; `others` is how many draws had another one. */
  combinations: z.array(z.object({ toolsets: z.array(z.string()), count: z.number().int() })),
  others: z.number().int(),
});
export type Draws = z.infer<typeof drawsSchema>;

export const distributionsContract = {
  /** Built-in ones first, then people's own. `toolsets` are the names that a table may have, those with tools here first. */
  list: base.output(z.object({ items: z.array(distributionSchema), toolsets: z.array(z.object({ name: z.string(), usable: z.boolean() })) })),
  /** What draws from a table look like. INVALID when nothing of it can be used. */
  preview: base.input(z.object({ toolsets: chances, draws: z.number().int().min(1).max(10_000).default(DRAWS_SHOWN), seed: z.number().int().min(0).default(0) })).output(drawsSchema),
  /** Writes one of people's own into config.yaml; `previous` is its name until now, when it has another. INVALID with `field` name, description or toolsets; CONFLICT when the name is taken. */
  save: base.input(z.object({ name: z.string(), previous: z.string().optional(), description: z.string().default(''), toolsets: chances })).output(distributionSchema),
  remove: base.input(z.object({ name: z.string() })).output(z.object({})),
};
