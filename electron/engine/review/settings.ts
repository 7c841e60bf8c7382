import { PROPOSAL_KINDS, type ReviewSettings, reviewSettingsSchema } from '#shared/contract/reviews.ts';
import type { ConfigChange, ConfigValue, ConfigValues } from '../store/config.ts';
import { ReviewError } from './errors.ts';

/** What config.yaml says about reviews, of its sections review, skills and memory. */
export function settingsOf({ review, skills, memory }: Pick<ConfigValues, 'review' | 'skills' | 'memory'>): ReviewSettings {
  return {
    enabled: review.enabled,
    skillInterval: skills.creation_nudge_interval,
    memoryInterval: memory.nudge_interval,
    sessionEnd: review.session_end,
    model: review.model ?? null,
    maxIterations: review.max_iterations,
    dayUsd: review.day_usd ?? null,
    dayReviews: review.day_reviews,
    extraTools: review.extra_tools,
    apply: Object.fromEntries(PROPOSAL_KINDS.map((kind) => [kind, review.apply_at_once.includes(kind) ? 'at_once' : 'ask'])) as ReviewSettings['apply'],
  };
}

const KEYS = {
  enabled: ['review', 'enabled'],
  skillInterval: ['skills', 'creation_nudge_interval'],
  memoryInterval: ['memory', 'nudge_interval'],
  sessionEnd: ['review', 'session_end'],
  model: ['review', 'model'],
  maxIterations: ['review', 'max_iterations'],
  dayUsd: ['review', 'day_usd'],
  dayReviews: ['review', 'day_reviews'],
  extraTools: ['review', 'extra_tools'],
} as const satisfies Partial<Record<keyof ReviewSettings, readonly [string, string]>>;

/** The changes of config.yaml for what was chosen; null takes a value out. Throws ReviewError invalid for a model that is no route. */
export function changesOf(chosen: { [K in keyof ReviewSettings]?: ReviewSettings[K] | undefined }, now: ReviewSettings): ConfigChange[] {
  const changes: ConfigChange[] = [];
  for (const [name, path] of Object.entries(KEYS) as [keyof typeof KEYS, readonly [string, string]][]) {
    const value = chosen[name];
    if (value !== undefined) changes.push([path, (value ?? undefined) as ConfigValue | undefined]);
  }
  if (chosen.model?.trim() === '') throw new ReviewError('invalid', 'Write the model as provider/model id, or leave it out to use the model of the chat.', { field: 'model' });
  if (chosen.apply) {
    const apply = reviewSettingsSchema.shape.apply.parse({ ...now.apply, ...chosen.apply });
    changes.push([['review', 'apply_at_once'], PROPOSAL_KINDS.filter((kind) => apply[kind] === 'at_once')]);
  }
  return changes;
}
