import { nearestEffort } from './effort.ts';
import type { ModelError, ReasoningEffort } from './types.ts';

/** Fields and forms that not every server takes. `max_tokens` is then sent as `max_completion_tokens`. */
const OPTIONAL = ['reasoning_content', 'reasoning_details', 'stream_options', 'chat_template_kwargs', 'reasoning_effort', 'thinking', 'reasoning', 'max_tokens', 'seed', 'pictures'] as const;
export type OptionalField = (typeof OPTIONAL)[number];

/** What a server has refused for a model, so that nothing is refused twice. Shared by all calls to that model. */
export interface Learnt {
  readonly without: Set<OptionalField>;
  /** Efforts that were refused, and what is asked for instead. */
  readonly effort: Map<ReasoningEffort, ReasoningEffort>;
  /** Assistant messages with calls must carry reasoning, also those that had none. */
  needsReasoning: boolean;
  /** A user message must not stand directly behind a tool's result. */
  answersTools: boolean;
}

export function nothingLearnt(): Learnt {
  return { without: new Set(), effort: new Map(), needsReasoning: false, answersTools: false };
}

const REFUSAL = /unsupported|not supported|does not support|unknown|unrecogni[sz]ed|unexpected|extra|not (?:be )?(?:permitted|allowed)|invalid|input should be|additional properties/i;
/** DeepSeek and Kimi, when an assistant message with calls has no `reasoning_content`. */
const MISSING_REASONING = /reasoning_content.{0,60}(?:must be passed back|is missing)|missing\W+reasoning_content/i;
/** Mistral's API, and its chat templates on llama.cpp, vLLM and others: results may only be followed by the assistant. */
const USER_AFTER_TOOL = /roles must alternate|unexpected role .{0,3}user.{0,3} after role .{0,3}tool/i;
/** Reasoning blocks that another model had signed. */
const FOREIGN_SIGNATURE = /signature.{0,60}(?:invalid|not valid|verif)|(?:invalid|bad).{0,20}signature/i;
/**
 * OpenRouter, vLLM, llama.cpp, Ollama, OpenAI, DeepSeek and llama-cpp-python, when a model takes no pictures. The last two know
 * messages only as text.
 */
const NO_PICTURES =
  /(?:image|vision|multi-?modal).{0,60}(?:not support|unsupported|not allowed|not available)|(?:not|n't) support.{0,40}(?:image|vision|multi-?modal)|support image input|not a multi-?modal model|(?:unknown variant|unsupported|unexpected|expected).{0,40}image_url|image_url.{0,40}(?:not support|unsupported|expected|not allowed)|content part type|content.{0,40}(?:must|should) be a (?:valid )?string|concatenate str|missing data required for image/i;

/**
 * Learns from a refused request what to leave out or to change; true when the request should be made again for it, once for
 * each thing. `sent` says what was in the request.
 */
export function learnFrom(learnt: Learnt, error: ModelError, sent: { effort: ReasoningEffort | undefined; pictures: boolean; replayed: boolean; userAfterTool: boolean }): boolean {
  const said = error.providerMessage;
  if (said === null) return false;
  const drop = (field: OptionalField): boolean => {
    if (learnt.without.has(field)) return false;
    learnt.without.add(field);
    return true;
  };
  if (sent.pictures && ['bad_request', 'not_found', 'server'].includes(error.code) && NO_PICTURES.test(said)) return drop('pictures');
  // a template that fails is a 500 at llama.cpp
  if (sent.userAfterTool && !learnt.answersTools && ['bad_request', 'server'].includes(error.code) && USER_AFTER_TOOL.test(said)) {
    learnt.answersTools = true;
    return true;
  }
  if (error.code !== 'bad_request') return false;
  if (MISSING_REASONING.test(said) && !learnt.needsReasoning) {
    learnt.without.delete('reasoning_content');
    learnt.needsReasoning = true;
    return true;
  }
  if (sent.replayed && FOREIGN_SIGNATURE.test(said)) return drop('reasoning_details');
  if (!REFUSAL.test(said)) return false;
  const { effort } = sent;
  if (effort !== undefined && /reasoning_effort|does not support thinking|reasoning.effort|reasoning value/i.test(said)) {
    const asked = learnt.effort.get(effort) ?? effort;
    const nearest = nearestEffort(asked, said);
    if (nearest === null || learnt.effort.has(effort)) return drop('reasoning_effort');
    learnt.effort.set(effort, nearest);
    return true;
  }
  const field = OPTIONAL.find((name) => name !== 'pictures' && new RegExp(`\\b${name === 'max_tokens' ? 'max_completion_tokens' : name}\\b`).test(said));
  return field === undefined ? false : drop(field);
}
