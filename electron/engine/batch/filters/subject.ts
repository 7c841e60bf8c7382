import type { Selectable } from 'kysely';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { Tables } from '../../store/schema.ts';
import { getMessages } from '../../trajectories/query.ts';
import type { FilterFacts, FilterSubject, OtherRollout } from './types.ts';

/** Which rollout of a run. `index` counts rollouts; a row of the dataset has `rollouts` of them. */
export interface RolloutPlace {
  runId: string;
  index: number;
  rollouts: number;
}

/** What is known and not stored yet, while a rollout is being settled. */
export type FreshFacts = Partial<FilterFacts> & { scores?: Readonly<Record<string, number | null>> };

type Stored = Pick<
  Selectable<Tables['trajectories']>,
  | 'n' | 'exit_reason' | 'model' | 'provider' | 'toolsets' | 'tools' | 'turns' | 'turns_with_reasoning' | 'tool_calls' | 'tool_errors' | 'api_calls'
  | 'prompt_tokens' | 'completion_tokens' | 'reasoning_tokens' | 'cached_tokens' | 'cost_usd' | 'reward' | 'rating' | 'created_at' | 'ended_at'
>;

/** Compiled once: it is asked for every rollout. */
let selectStored: string | undefined;

/**
 * A rollout as its filters see it, read from the store when they ask. Null when it has no trajectory. `sameAnswer` looks in `answers`.
 */
export function storedSubject(db: Database, place: RolloutPlace, answers: (answer: string, samePrompt: boolean) => OtherRollout | null, fresh: FreshFacts = {}): FilterSubject | null {
  const { runId, index, rollouts } = place;
  selectStored ??= sqlFor
    .selectFrom('prompts as p')
    .innerJoin('trajectories as t', 't.id', 'p.trajectory_id')
    .select([
      't.n', 't.exit_reason', 't.model', 't.provider', 't.toolsets', 't.tools', 't.turns', 't.turns_with_reasoning', 't.tool_calls', 't.tool_errors', 't.api_calls',
      't.prompt_tokens', 't.completion_tokens', 't.reasoning_tokens', 't.cached_tokens', 't.cost_usd', 't.reward', 't.rating', 't.created_at', 't.ended_at',
    ])
    .where('p.run_id', '=', runId)
    .where('p.idx', '=', index)
    .compile().sql;
  const trajectory = db.getSql<Stored>(selectStored, [runId, index]);
  if (!trajectory) return null;
  const { scores, ...facts } = fresh;
  const prompt = once(() => db.get(sqlFor.selectFrom('prompts').select(['prompt', 'row']).where('run_id', '=', runId).where('idx', '=', index)));
  return {
    facts: { ...storedFacts(trajectory), ...facts },
    promptIndex: Math.floor(index / rollouts),
    rollout: index % rollouts,
    messages: once((): Message[] => getMessages(db, trajectory.n, -1, Number.MAX_SAFE_INTEGER, true)),
    prompt: () => prompt()?.prompt ?? '',
    row: once(() => (prompt() ? (JSON.parse(prompt()!.row) as Record<string, unknown>) : {})),
    scores: once(() => scores ?? storedScores(db, trajectory.n)),
    sameAnswer: answers,
  };
}

function storedFacts(t: Stored): FilterFacts {
  return {
    exitReason: t.exit_reason as FilterFacts['exitReason'],
    model: t.model,
    provider: t.provider,
    toolsets: JSON.parse(t.toolsets) as string[],
    tools: JSON.parse(t.tools) as ToolSpec[],
    turns: t.turns,
    turnsWithReasoning: t.turns_with_reasoning,
    toolCalls: t.tool_calls,
    toolErrors: t.tool_errors,
    apiCalls: t.api_calls,
    usage: { promptTokens: t.prompt_tokens, completionTokens: t.completion_tokens, reasoningTokens: t.reasoning_tokens, cachedTokens: t.cached_tokens },
    costUsd: t.cost_usd,
    reward: t.reward,
    rating: t.rating,
    startedAt: t.created_at,
    endedAt: t.ended_at ?? t.created_at,
  };
}

function storedScores(db: Database, n: number): Record<string, number | null> {
  const rows = db.all(sqlFor.selectFrom('scores').select(['name', 'value']).where('trajectory_n', '=', n));
  return Object.fromEntries(rows.map((r) => [r.name, r.value]));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
