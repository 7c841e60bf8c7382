import type { ModelInfo } from '#shared/contract/settings.ts';
import { isRecord, parseJson, textOf, type JsonRecord } from './json.ts';
import type { ProbeAnswer } from './probe-request.ts';

/** The names under which OpenRouter, Groq, vLLM, LM Studio and others tell the context length. */
const CONTEXT_FIELDS = ['context_length', 'context_window', 'max_model_len', 'max_context_length', 'max_input_tokens', 'n_ctx', 'n_ctx_train'];

/** A model as its list tells it; `owner` is the `owned_by` that gives local servers away. */
export type ListedModel = ModelInfo & { owner: string };

/** The models in an answer, sorted by id; null when it is not a list of models. */
export function modelsIn(answer: Pick<ProbeAnswer, 'status' | 'text'>): ListedModel[] | null {
  if (answer.status < 200 || answer.status > 299) return null;
  const value = parseJson(answer.text);
  const list: unknown = Array.isArray(value) ? value : isRecord(value) ? (value.data ?? value.models) : null;
  if (!Array.isArray(list)) return null;
  const models = list.flatMap((item: unknown): ListedModel[] => {
    if (!isRecord(item)) return [];
    const id = textOf(item.id) || textOf(item.name);
    const prices = pricesOf(item.pricing);
    return id === '' ? [] : [{ id, contextLength: contextLengthOf(item), ...(prices === null ? {} : { prices }), owner: textOf(item.owned_by) }];
  });
  return models.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function contextLengthOf(item: JsonRecord): number | null {
  for (const source of [item, item.top_provider, item.meta]) {
    if (!isRecord(source)) continue;
    for (const field of CONTEXT_FIELDS) {
      const value = tokens(source[field]);
      if (value !== null) return value;
    }
  }
  return null;
}

/** A count of tokens that can be believed; null for everything else. */
export function tokens(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}

/** OpenRouter's `pricing`: US dollars for one token, as text (openrouter.ai/docs/api-reference/list-available-models). */
function pricesOf(pricing: unknown): ModelInfo['prices'] | null {
  if (!isRecord(pricing)) return null;
  const [input, output, cached] = [pricing.prompt, pricing.completion, pricing.input_cache_read].map(perMillion);
  if (input === null || output === null || input === undefined || output === undefined) return null;
  return { input, output, ...(cached === null || cached === undefined ? {} : { cached }) };
}

function perMillion(value: unknown): number | null {
  if (typeof value !== 'string' || value.trim() === '') return null;
  const usd = Number(value);
  // -1 says that it depends.
  return Number.isFinite(usd) && usd >= 0 ? Number((usd * 1_000_000).toPrecision(12)) : null;
}
