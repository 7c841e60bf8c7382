import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';

export const TASK_STATES = ['running', 'completed', 'partial', 'failed', 'interrupted'] as const;

/** Work in the background: a session of its own, without the history of the chat it was asked in. */
export const taskSchema = z.object({
  /** Id of its session: it can be opened, and talked to when it has ended. */
  id: z.string(),
  /** Its beginning. */
  prompt: z.string(),
  title: z.string(),
  state: z.enum(TASK_STATES),
  trajectoryId: z.string().nullable(),
  model: z.string(),
  /** What it does now, in a few words; null when it does not run. */
  activity: z.string().nullable(),
  /** Model calls that were answered, and how many it may have. */
  turns: z.number().int(),
  maxTurns: z.number().int(),
  /** Prompt and completion tokens of all calls. */
  tokens: z.number().int(),
  costUsd: z.number().nullable(),
  /** The last thing it said, its beginning. */
  result: z.string().nullable(),
  error: z.string().nullable(),
  /** It ended, and nobody has looked since. */
  unread: z.boolean(),
  createdAt: z.number(),
  /** When it began to work, the last time: what its elapsed time counts from. */
  startedAt: z.number(),
  endedAt: z.number().nullable(),
});
export type Task = z.infer<typeof taskSchema>;

const id = z.object({ id: z.string() });

export const tasksContract = {
  /** Provider, model and the other settings are as in the session `like` unless given, else as in new chats; its messages are never taken along. */
  start: base.input(z.object({ prompt: z.string().trim().min(1).max(1_000_000), like: z.string().optional(), provider: z.string().optional(), model: z.string().optional() })).output(taskSchema),
  /** Newest first, the newest 200: now, then on change, at most 4 times a second. What a person went on with is a chat from then on, and no longer here. */
  watch: base.output(eventIterator(z.object({ items: z.array(taskSchema) }))),
  stop: base.input(id).output(taskSchema),
  /** Goes on from where it ended, without asking again for what was answered; CONFLICT for one that runs or was completed. */
  resume: base.input(id).output(taskSchema),
  seen: base.input(id).output(z.object({})),
  /** Stops it and hides it with what it did, as chats are removed. */
  remove: base.input(id).output(z.object({})),
  restore: base.input(id).output(taskSchema),
};
