import type { Client } from '#shared/contract/index.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { readRemembered, remember } from '../../../lib/remembered.ts';

export interface ModelChoice {
  provider: string;
  model: string;
}

export interface ProviderModels {
  provider: Provider;
  models: readonly { id: string; contextLength: number | null }[];
  /** Why they could not be asked for. */
  error: unknown;
}

/** A provider that can be asked: it has a key, or may need none, as servers of one's own do. */
export const isUsable = (provider: Provider): boolean => provider.scripted || provider.key !== 'none' || provider.keyEnv === null || provider.builtIn !== true;

/** The models of every provider that can be used, all asked at once; one that fails does not take the others with it. */
export async function allModels(client: Client, signal: AbortSignal): Promise<ProviderModels[]> {
  const { providers } = await client.settings.get(undefined, { signal });
  return Promise.all(
    providers.filter(isUsable).map(async (provider) => {
      try {
        const { models } = await client.settings.models({ provider: provider.id }, { signal });
        return { provider, models, error: null };
      } catch (error) {
        return { provider, models: provider.defaultModel ? [{ id: provider.defaultModel, contextLength: null }] : [], error };
      }
    }),
  );
}

/** One of the local servers that Talaria knows without being told; most people run at most one of them. */
export const isQuiet = ({ provider, models, error }: ProviderModels): boolean => error !== null && models.length === 0 && provider.builtIn === true && provider.keyEnv === null;

const RECENT = 'chat.models';
const KEPT = 6;

export function recentModels(): ModelChoice[] {
  try {
    const list: unknown = JSON.parse(readRemembered(RECENT) ?? '[]');
    return Array.isArray(list) ? list.filter((c): c is ModelChoice => typeof c === 'object' && c !== null && typeof (c as ModelChoice).provider === 'string' && typeof (c as ModelChoice).model === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberModel(choice: ModelChoice): void {
  remember(RECENT, JSON.stringify([choice, ...recentModels().filter((c) => c.provider !== choice.provider || c.model !== choice.model)].slice(0, KEPT)));
}

/** The one model that a person means by a word ("kimi-k2", "openrouter/moonshotai/kimi-k2"); null when none or several could be meant. */
export function modelNamed(word: string, all: readonly ProviderModels[]): ModelChoice | null {
  const wanted = word.trim().toLowerCase();
  const every = all.flatMap(({ provider, models }) => models.map((m) => ({ provider: provider.id, model: m.id })));
  const exact = every.filter((c) => [c.model, `${c.provider}/${c.model}`].some((name) => name.toLowerCase() === wanted));
  if (exact[0]) return exact[0];
  const close = every.filter((c) => c.model.toLowerCase().includes(wanted));
  return close.length === 1 && close[0] ? close[0] : null;
}
