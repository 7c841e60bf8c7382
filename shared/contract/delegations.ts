import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';

/** `unknown`: it ran when the engine was killed; `stalled`: nothing came from it for too long. Every child ends in exactly one of the last six. */
export const CHILD_STATES = ['queued', 'running', 'completed', 'failed', 'interrupted', 'timeout', 'stalled', 'unknown'] as const;
export const childStateSchema = z.enum(CHILD_STATES);
export type ChildState = z.infer<typeof childStateSchema>;

export const childSchema = z.object({
  id: z.string(),
  index: z.number().int(),
  goal: z.string(),
  state: childStateSchema,
  trajectoryId: z.string().nullable(),
  model: z.string().nullable(),
  /** What it does now, in a few words. */
  activity: z.string().nullable(),
  turns: z.number().int(),
  toolCalls: z.number().int(),
  tokens: z.number().int(),
  costUsd: z.number().nullable(),
  /** The beginning of what it reported, or of what it had said when it failed. */
  summary: z.string().nullable(),
  error: z.string().nullable(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** Delegations of its own, when it may delegate. */
  depth: z.number().int(),
});
export type Child = z.infer<typeof childSchema>;

export const delegationSchema = z.object({
  id: z.string(),
  sessionId: z.string().nullable(),
  /** The trajectory that asked, and by which call. */
  trajectoryId: z.string(),
  callId: z.string(),
  background: z.boolean(),
  children: z.array(childSchema),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  /** Background: when the results had become a message. */
  deliveredAt: z.number().nullable(),
});
export type Delegation = z.infer<typeof delegationSchema>;

export const delegationsContract = {
  /** All delegations of a session, or of a trajectory, oldest first: now, then on change, at most 4 times a second. */
  watch: base.input(z.object({ sessionId: z.string().optional(), trajectoryId: z.string().optional() })).output(eventIterator(z.object({ items: z.array(delegationSchema) }))),
  get: base.input(z.object({ id: z.string() })).output(delegationSchema),
  /** A message before the child's next model call; CONFLICT when it has ended. */
  steer: base.input(z.object({ childId: z.string(), text: z.string().trim().min(1).max(100_000) })).output(z.object({})),
  /** One child, or all of a delegation; resolves when they have ended. Its siblings go on. */
  stop: base.input(z.object({ childId: z.string().optional(), delegationId: z.string().optional() })).output(z.object({ stopped: z.number().int() })),
};
