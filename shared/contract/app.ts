import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { base } from './base.ts';

export const appInfoSchema = z.object({
  version: z.string(),
  host: z.enum(['desktop', 'browser', 'cli']),
  home: z.string(),
  /** Differs after each engine start. */
  engineEpoch: z.string(),
});
export type AppInfo = z.infer<typeof appInfoSchema>;

export const appStatusSchema = z.object({
  runsActive: z.number().int(),
  agentsActive: z.number().int(),
  trajectories: z.number().int(),
  tokensToday: z.number(),
  costTodayUsd: z.number().nullable(),
  /** Cap of the day; null when there is none. */
  dayCapUsd: z.number().nullable(),
  /** Chats that wait for the person, and those that ended unseen. */
  chatsWaiting: z.number().int(),
  /** Proposals of reviews that wait for the person. */
  proposalsWaiting: z.number().int(),
  reviewsRunning: z.number().int(),
  /** Tasks in the background: at work, and ended unseen. */
  tasksRunning: z.number().int(),
  tasksUnread: z.number().int(),
});
export type AppStatus = z.infer<typeof appStatusSchema>;

export const appContract = {
  info: base.output(appInfoSchema),
  /** The status line: now, then on change (at most 2 per second). */
  status: base.output(eventIterator(appStatusSchema)),
};
