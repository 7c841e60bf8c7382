import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { usageSchema } from '../trajectory.ts';
import { base } from './base.ts';
import { changedFileSchema, findingSchema } from './skills.ts';

export const REVIEW_KINDS = ['memory', 'skill', 'combined'] as const;
/** `nudge`: a counter came to its interval; `session_end`: a session that never did; `learn`: trajectories of the Library. */
export const REVIEW_TRIGGERS = ['nudge', 'session_end', 'manual', 'learn'] as const;
export const REVIEW_STATES = ['queued', 'running', 'done', 'cancelled', 'failed'] as const;

export const PROPOSAL_KINDS = ['memory_add', 'memory_change', 'memory_remove', 'skill_new', 'skill_change', 'skill_remove'] as const;
export const proposalKindSchema = z.enum(PROPOSAL_KINDS);
export type ProposalKind = z.infer<typeof proposalKindSchema>;
/** `applied`: at once, by the settings; `accepted`: by the person; `failed`: what it was made for had changed meanwhile. */
export const PROPOSAL_STATES = ['waiting', 'applied', 'accepted', 'rejected', 'undone', 'failed'] as const;

/** A turn that the proposal is drawn from. */
export const evidenceSchema = z.object({ trajectoryId: z.string(), seq: z.number().int(), role: z.string(), quote: z.string() });

export const proposalSchema = z.object({
  id: z.string(),
  reviewId: z.string(),
  kind: proposalKindSchema,
  /** The skill's folder below the own root, or "memory" or "user". */
  target: z.string(),
  /** Name of the skill, or the entry in short. */
  title: z.string(),
  /** Why, in the review agent's words. */
  reason: z.string(),
  evidence: z.array(evidenceSchema),
  /** Files of a skill; for memory the entry before and after, `path` being MEMORY.md or USER.md. */
  changes: z.array(changedFileSchema),
  findings: z.array(findingSchema),
  state: z.enum(PROPOSAL_STATES),
  error: z.string().nullable(),
  createdAt: z.number(),
  decidedAt: z.number().nullable(),
});
export type Proposal = z.infer<typeof proposalSchema>;

export const reviewSchema = z.object({
  id: z.string(),
  /** Null for reviews of trajectories that are no chat. */
  sessionId: z.string().nullable(),
  /** Title of the chat, or of the first trajectory. */
  title: z.string(),
  sources: z.array(z.object({ trajectoryId: z.string(), through: z.number().int() })),
  kind: z.enum(REVIEW_KINDS),
  trigger: z.enum(REVIEW_TRIGGERS),
  focus: z.string(),
  state: z.enum(REVIEW_STATES),
  error: z.string().nullable(),
  /** The review agent's own trajectory. */
  trajectoryId: z.string().nullable(),
  model: z.string().nullable(),
  usage: usageSchema,
  costUsd: z.number().nullable(),
  proposals: z.array(proposalSchema),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
});
export type Review = z.infer<typeof reviewSchema>;

/** Tools that a review may have besides memory, skills and reading files; none of them changes anything. */
export const REVIEW_EXTRA_TOOLS = ['session_search', 'web_search', 'web_extract'] as const;
export const APPLY_MODES = ['at_once', 'ask'] as const;
export const reviewSettingsSchema = z.object({
  enabled: z.boolean(),
  /** Model calls without skill_manage; 0: never. */
  skillInterval: z.number().int().min(0).max(10_000),
  /** User turns without the memory tool; 0: never. */
  memoryInterval: z.number().int().min(0).max(10_000),
  sessionEnd: z.boolean(),
  /** `provider/model id`; null: the chat's own. */
  model: z.string().nullable(),
  maxIterations: z.number().int().min(1).max(64),
  /** USD for all reviews of a day; null: no cap of its own. */
  dayUsd: z.number().positive().nullable(),
  /** Most reviews of a day; manual ones are not counted. */
  dayReviews: z.number().int().min(1).max(10_000),
  extraTools: z.array(z.enum(REVIEW_EXTRA_TOOLS)),
  apply: z.record(proposalKindSchema, z.enum(APPLY_MODES)),
});
export type ReviewSettings = z.infer<typeof reviewSettingsSchema>;

const id = z.object({ id: z.string() });

export const reviewsContract = {
  /** Newest first. `open`: those with proposals that wait, and those that run. `paused`: why nothing is reviewed unasked at the moment (switched off, caps of the day, too many proposals that wait), a sentence. */
  list: base
    .input(z.object({ show: z.enum(['open', 'all']).default('all'), sessionId: z.string().optional(), before: z.object({ createdAt: z.number(), id: z.string() }).optional(), limit: z.number().int().min(1).max(200).default(50) }))
    .output(z.object({ items: z.array(reviewSchema), more: z.boolean(), waiting: z.number().int(), paused: z.string().nullable() })),
  get: base.input(id).output(reviewSchema),
  /** `changes` of an accept replace what was proposed (the person edited it). CONFLICT when the target is no longer what the proposal was made for. */
  decide: base.input(z.object({ proposalId: z.string(), decision: z.enum(['accept', 'reject', 'undo']), edited: z.array(z.object({ path: z.string(), after: z.string().nullable() })).optional() })).output(reviewSchema),
  /** Asked for by the person: a chat, or trajectories. */
  start: base
    .input(z.object({ sessionId: z.string().optional(), trajectoryIds: z.array(z.string()).max(20).optional(), kind: z.enum(REVIEW_KINDS).default('combined'), focus: z.string().max(2_000).default('') }))
    .output(reviewSchema),
  cancel: base.input(id).output(reviewSchema),
  settings: base.output(reviewSettingsSchema),
  configure: base.input(reviewSettingsSchema.partial()).output(reviewSettingsSchema),
  /** On change, at most 4 times a second: which reviews, and how many proposals wait in all. */
  changes: base.output(eventIterator(z.object({ changed: z.array(z.string()), waiting: z.number().int(), running: z.number().int() }))),
};
