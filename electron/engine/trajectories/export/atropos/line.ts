import { decimal, jsonLine } from '../json-text.ts';
import type { Rollout } from './rollout.ts';

/** A rollout that goes into a line, with the trajectory it is of. */
export interface Member extends Rollout {
  id: string;
  score: number;
}

/**
 * One line (without its newline) with the keys of `ScoredDataGroup` in atroposlib's `envs/base.py`, absent values as its `process` command
 * writes them: `group_overrides` must be an object and `inference_logprobs` a list, or its trainer falls over. `tokens` and `masks` are only
 * there when they were made. Its server and trainers pass over the last five keys, which say where the group comes from.
 * @param groupId the run and the row of its dataset
 * @param params sampling parameters of the run
 */
export function groupLine(groupId: string, members: readonly Member[], params: Record<string, number> | null): string {
  return jsonLine({
    ...(members.every((m) => m.tokens && m.masks) ? { tokens: members.map((m) => m.tokens), masks: members.map((m) => m.masks) } : {}),
    scores: members.map((m) => decimal(m.score)),
    advantages: null,
    ref_logprobs: null,
    messages: members.map((m) => m.messages),
    inference_logprobs: [],
    generation_params: params,
    group_overrides: {},
    overrides: [],
    images: [],
    distill_token_ids: null,
    distill_logprobs: null,
    group_id: groupId,
    trajectory_ids: members.map((m) => m.id),
    tools: members.map((m) => m.tools),
    finish_reason: members.map((m) => m.finishReason),
  });
}

/** `generation_params` of a run: those sampling parameters that its spec sets; null when the server's own were used. */
export function generationParams(spec: string): Record<string, number> | null {
  const { temperature, topP, maxTokens } = JSON.parse(spec) as { temperature?: unknown; topP?: unknown; maxTokens?: unknown };
  const set = Object.entries({ temperature, top_p: topP, max_tokens: maxTokens }).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return set.length > 0 ? Object.fromEntries(set) : null;
}
