import type { JsonRecord } from './json.ts';
import type { ServerKind } from './server-kind.ts';
import type { ReasoningEffort } from './types.ts';

const ORDER: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** Low, medium and high, which every server with efforts at all knows. */
const THREE: Readonly<Record<ReasoningEffort, string>> = { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' };

/** Request fields that say how much the model may think; `reasoning_effort` is the one whose value a server may refuse. */
type EffortFields = (effort: ReasoningEffort) => JsonRecord;

const named: EffortFields = (effort) => ({ reasoning_effort: effort });
const three: EffortFields = (effort) => ({ reasoning_effort: THREE[effort] });
const switched: EffortFields = (effort) => ({ thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } });
/** Which name a chat template listens to differs: `enable_thinking` for Qwen and GLM, `thinking` for DeepSeek and Granite. */
const template = (on: boolean): JsonRecord => ({ enable_thinking: on, thinking: on });

/**
 * How each server is told the effort. Sources, read in 2026:
 * - OpenRouter: `reasoning.effort`, none to xhigh (openrouter.ai/docs/use-cases/reasoning-tokens).
 * - OpenAI: `reasoning_effort`, the values differ by model and are named when one is refused (platform.openai.com, reasoning guide).
 * - Ollama: `reasoning_effort` of high, medium, low, none (docs.ollama.com/api/openai-compatibility).
 * - vLLM and SGLang: `chat_template_kwargs` turn thinking off; `reasoning_effort` of low, medium, high
 *   (docs.vllm.ai, reasoning outputs; qwen.readthedocs.io, deployment).
 * - llama.cpp: all of it by `chat_template_kwargs` (tools/server/README.md).
 * - DeepSeek: `thinking.type`, and `reasoning_effort` of low, high, max, where medium and xhigh count as high
 *   (api-docs.deepseek.com/guides/thinking_mode).
 * - Z.ai and Moonshot: `thinking.type` (docs.z.ai thinking mode; platform.kimi.ai).
 * Others get `reasoning_effort`. What a server refuses by name is left out or lessened from then on (see `learnFrom`).
 */
const BY_KIND: Partial<Record<ServerKind, EffortFields>> = {
  openrouter: (effort) => ({ reasoning: { effort } }),
  nous: (effort) => ({ reasoning: effort === 'none' ? { enabled: false } : { enabled: true, effort } }),
  ollama: three,
  lmstudio: three,
  vllm: (effort) => ({ ...(effort === 'none' ? {} : three(effort)), chat_template_kwargs: template(effort !== 'none') }),
  sglang: (effort) => ({ ...(effort === 'none' ? {} : three(effort)), chat_template_kwargs: template(effort !== 'none') }),
  llamacpp: (effort) => ({ chat_template_kwargs: { ...template(effort !== 'none'), ...(effort === 'none' ? {} : three(effort)) } }),
  deepseek: (effort) => ({ ...switched(effort), ...(effort === 'none' ? {} : { reasoning_effort: ORDER.indexOf(effort) > ORDER.indexOf('low') ? 'high' : 'low' }) }),
  zai: switched,
  moonshot: switched,
};

/** The fields of a request for an effort, by server. */
export function effortFields(kind: ServerKind, effort: ReasoningEffort): JsonRecord {
  return (BY_KIND[kind] ?? named)(effort);
}

/** Of the efforts that a refusal names as possible, the one nearest to `effort`, rather less than more; null when it names none. */
export function nearestEffort(effort: ReasoningEffort, refusal: string): ReasoningEffort | null {
  const list = /(?:supported values are|must be|input should be|valid values|expected)\b(.*)/is.exec(refusal)?.[1] ?? '';
  const possible = ORDER.filter((one) => one !== effort && new RegExp(`["'\`]${one}["'\`]`, 'i').test(list));
  const at = ORDER.indexOf(effort);
  const distance = (one: ReasoningEffort): number => Math.abs(ORDER.indexOf(one) - at) + (ORDER.indexOf(one) > at ? 0.5 : 0);
  return possible.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}
