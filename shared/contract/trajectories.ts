import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { OUTCOMES, storedMessageSchema, trajectoryDetailSchema, trajectoryKindSchema, trajectorySummarySchema } from '../trajectory.ts';
import { base } from './base.ts';

/** Which trajectories a list, a count or an export means. All given conditions must hold. */
export const trajectoryFilterSchema = z.object({
  runId: z.string().optional(),
  sessionId: z.string().optional(),
  kinds: z.array(trajectoryKindSchema).optional(),
  outcomes: z.array(z.enum(OUTCOMES)).optional(),
  models: z.array(z.string()).optional(),
  /** Full-text query over the visible text; words are ANDed, "quotes" make a phrase, two Chinese characters suffice. */
  query: z.string().max(500).optional(),
  ids: z.array(z.string()).max(10_000).optional(),
  /** Reward within these bounds, inclusive; what has none is left out by either. */
  minReward: z.number().optional(),
  maxReward: z.number().optional(),
  /** A person's rating; 0 stands for none. */
  ratings: z.array(z.number().int().min(0).max(5)).optional(),
});
export type TrajectoryFilter = z.infer<typeof trajectoryFilterSchema>;

/** Orders of a list. By reward, what has none is last either way; of what is equal the newest is first. */
export const TRAJECTORY_SORTS = ['newest', 'reward_high', 'reward_low'] as const;
export type TrajectorySort = (typeof TRAJECTORY_SORTS)[number];

/** A row's place in any of these orders. */
const listPlaceSchema = z.object({ n: z.number().int(), reward: z.number().nullable() });
export type ListPlace = z.infer<typeof listPlaceSchema>;

export const listInputSchema = z.object({
  filter: trajectoryFilterSchema,
  sort: z.enum(TRAJECTORY_SORTS).default('newest'),
  /** The last row of the previous page. */
  after: listPlaceSchema.optional(),
  /** Leaves out what came later: the `newest` of the first page. */
  upTo: z.number().int().optional(),
  limit: z.number().int().min(1).max(500).default(100),
});

/** Events of one live trajectory. `seq` of deltas is the seq the finished message will have. */
export const liveEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), message: storedMessageSchema }),
  z.object({ type: z.literal('delta'), seq: z.number().int(), channel: z.enum(['content', 'reasoning', 'tool']), text: z.string() }),
  /** A call of the last assistant message begins; its output follows until its result is stored. */
  z.object({ type: z.literal('tool_start'), callId: z.string(), name: z.string(), summary: z.string(), startedAt: z.number() }),
  z.object({ type: z.literal('tool_output'), callId: z.string(), text: z.string() }),
  z.object({ type: z.literal('header'), detail: trajectoryDetailSchema }),
  /** The subscriber fell behind or the engine restarted: refetch. */
  z.object({ type: z.literal('reset') }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

export const trajectoriesContract = {
  /** One keyset page. `more`: there are further ones; `newest`: the highest `n` there was, of whatever. */
  list: base.input(listInputSchema).output(z.object({ items: z.array(trajectorySummarySchema), more: z.boolean(), newest: z.number().int() })),
  /** How many match, and how many there are; facets count within the filter without its own dimension. */
  counts: base.input(z.object({ filter: trajectoryFilterSchema })).output(
    z.object({
      total: z.number().int(),
      matching: z.number().int(),
      kinds: z.record(z.string(), z.number().int()),
      outcomes: z.record(z.string(), z.number().int()),
      runs: z.array(z.object({ id: z.string(), name: z.string(), count: z.number().int() })),
      models: z.array(z.object({ model: z.string(), count: z.number().int() })),
      /** By rating; "0" for those without one. */
      ratings: z.record(z.string(), z.number().int()),
      /** Of those that have a reward. Null when none has. */
      rewards: z.object({ count: z.number().int(), min: z.number(), max: z.number() }).nullable(),
    }),
  ),
  get: base.input(z.object({ id: z.string() })).output(trajectoryDetailSchema),
  /**
   * Messages with seq > after (default all from the start), or with `before` the last ones below that seq, in rising order either way.
   * Large contents are cut, see `contentBytes`. `more`: there are further ones in the asked direction.
   */
  messages: base
    .input(z.object({ id: z.string(), after: z.number().int().default(-1), before: z.number().int().optional(), limit: z.number().int().min(1).max(1000).default(200) }))
    .output(z.object({ items: z.array(storedMessageSchema), more: z.boolean() })),
  /** The whole content of one message. */
  content: base.input(z.object({ id: z.string(), seq: z.number().int() })).output(z.object({ content: z.string() })),
  /** The trajectory as pretty JSON text, exactly as stored; `truncated` when it was cut at 5 MB for display. */
  raw: base.input(z.object({ id: z.string() })).output(z.object({ json: z.string(), truncated: z.boolean() })),
  /** Stored messages after `since`, then live deltas and messages until the trajectory ends; that of a chat stays open for its next turns. */
  subscribe: base.input(z.object({ id: z.string(), since: z.number().int().default(-1) })).output(eventIterator(liveEventSchema)),
  /** Ticks (at most 2 per second) when trajectories were added, ended or removed; `newest` is the highest `n`. */
  changes: base.output(eventIterator(z.object({ total: z.number().int(), newest: z.number().int() }))),
};
