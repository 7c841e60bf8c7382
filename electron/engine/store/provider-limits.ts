import { isDeepStrictEqual } from 'node:util';
import type { ProviderLimits, Routing } from '#shared/contract/settings.ts';
import type { ConfigChange, ConfigValue } from './config.ts';
import { type ConfigProvider, configProviderSchema } from './config-schema.ts';

/** Keys of a provider in config.yaml, by the name in the contract. */
const KEYS = {
  contextLength: 'context_length',
  concurrency: 'concurrency',
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  fallback: 'fallback',
  routing: 'openrouter',
} as const satisfies Record<keyof ProviderLimits, keyof ConfigProvider>;

/** A limit that config.yaml would not take; `field` is its name in the contract. */
export class LimitError extends Error {
  readonly field: keyof ProviderLimits;

  constructor(field: keyof ProviderLimits, message: string) {
    super(message);
    this.name = 'LimitError';
    this.field = field;
  }
}

/** The limits that config.yaml gives a provider. */
export function limitsOf(own: ConfigProvider | undefined): ProviderLimits {
  return {
    contextLength: own?.context_length ?? null,
    concurrency: own?.concurrency ?? null,
    requestsPerMinute: own?.requests_per_minute ?? null,
    tokensPerMinute: own?.tokens_per_minute ?? null,
    fallback: own?.fallback ?? null,
    routing: own?.openrouter ?? null,
  };
}

/** The changes that write `limits` of provider `id`, or what is wrong with them. `known`: ids of all providers. */
export function limitChanges(id: string, limits: ProviderLimits, known: readonly string[]): ConfigChange[] | LimitError {
  const values: ProviderLimits = { ...limits, fallback: limits.fallback?.trim() || null, routing: withoutEmpty(limits.routing) };
  const changes: ConfigChange[] = [];
  for (const field of Object.keys(KEYS) as (keyof ProviderLimits)[]) {
    const value = values[field];
    const checked = value === null ? null : configProviderSchema.shape[KEYS[field]].safeParse(value);
    if (checked?.success === false) return new LimitError(field, `${NAMES[field]} ${checked.error.issues[0]?.message ?? 'is wrong'}.`);
    changes.push([['providers', id, KEYS[field]], (value ?? undefined) as ConfigValue | undefined]);
  }
  const wrong = values.fallback === null ? null : wrongFallback(values.fallback, known);
  return wrong === null ? changes : new LimitError('fallback', wrong);
}

const NAMES: Readonly<Record<keyof ProviderLimits, string>> = {
  contextLength: 'The context length',
  concurrency: 'The number of requests at the same time',
  requestsPerMinute: 'The number of requests a minute',
  tokensPerMinute: 'The number of tokens a minute',
  fallback: 'The fallback',
  routing: 'The routing',
};

function wrongFallback(route: string, known: readonly string[]): string | null {
  const at = route.indexOf('/');
  const provider = route.slice(0, Math.max(at, 0));
  if (provider === '' || route.length === at + 1) return 'Write the fallback as provider/model id, for example openrouter/qwen/qwen3-32b.';
  return known.includes(provider) ? null : `There is no provider "${provider}" for the fallback; the providers are ${known.join(', ')}.`;
}

function withoutEmpty(routing: Routing | null): Routing | null {
  const kept = Object.fromEntries(Object.entries(routing ?? {}).filter(([, value]) => value !== undefined && !isDeepStrictEqual(value, [])));
  return Object.keys(kept).length === 0 ? null : kept;
}
