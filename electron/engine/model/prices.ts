import type { Price, PriceRow } from '#shared/contract/spend.ts';
import type { Usage } from '#shared/trajectory.ts';

/**
 * List prices in USD for a million tokens as the providers published them, and nothing for models on one's own machine. They age:
 * people see them in Settings, and what they enter there goes before these. OpenRouter says the cost of each call itself.
 */
const BUILT_IN: Readonly<Record<string, Price>> = {
  'offline/*': { input: 0, output: 0 },
  'ollama/*': { input: 0, output: 0 },
  'lmstudio/*': { input: 0, output: 0 },
  'vllm/*': { input: 0, output: 0 },
  'sglang/*': { input: 0, output: 0 },
  'llamacpp/*': { input: 0, output: 0 },
  'openai/gpt-4o': { input: 2.5, cached: 1.25, output: 10 },
  'openai/gpt-4o-mini': { input: 0.15, cached: 0.075, output: 0.6 },
  'openai/gpt-4.1': { input: 2, cached: 0.5, output: 8 },
  'openai/gpt-4.1-mini': { input: 0.4, cached: 0.1, output: 1.6 },
  'openai/gpt-4.1-nano': { input: 0.1, cached: 0.025, output: 0.4 },
  'openai/gpt-5': { input: 1.25, cached: 0.125, output: 10 },
  'openai/gpt-5-mini': { input: 0.25, cached: 0.025, output: 2 },
  'openai/gpt-5-nano': { input: 0.05, cached: 0.005, output: 0.4 },
  'openai/o3': { input: 2, cached: 0.5, output: 8 },
  'openai/o4-mini': { input: 1.1, cached: 0.275, output: 4.4 },
};

export type PriceTable = Readonly<Record<string, Price>>;

/** Own prices, then the built-in ones that are not overridden; each sorted by model. */
export function priceRows(own: PriceTable): PriceRow[] {
  const rows = (table: PriceTable, source: PriceRow['source']): PriceRow[] =>
    Object.entries(table).map(([model, price]) => ({ model, price, source })).sort((a, b) => a.model.localeCompare(b.model));
  return [...rows(own, 'own'), ...rows(BUILT_IN, 'built-in').filter(({ model }) => !Object.hasOwn(own, model))];
}

/**
 * The price of a model: people's own, then the built-in table. A key is a model id, `provider/model id`, or either with `*` at the end;
 * of those that fit the longest counts. Null when nobody knows.
 */
export function findPrice(own: PriceTable, provider: string, model: string): Price | null {
  const ids = [`${provider}/${model}`, model];
  for (const table of [own, BUILT_IN]) {
    const fits = Object.keys(table).filter((key) => ids.some((id) => (key.endsWith('*') ? id.startsWith(key.slice(0, -1)) : id === key)));
    const best = fits.reduce<string | null>((a, b) => (a === null || b.length > a.length ? b : a), null);
    if (best !== null) return table[best] ?? null;
  }
  return null;
}

/** What a call cost, USD. Cached prompt tokens count at their own price; reasoning tokens are part of the completion tokens. */
export function costOf(price: Price, usage: Usage): number {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  return ((usage.promptTokens - cached) * price.input + cached * (price.cached ?? price.input) + usage.completionTokens * price.output) / 1_000_000;
}
