import type { ModelInfo } from '#shared/contract/settings.ts';
import type { Price } from '#shared/contract/spend.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Secrets } from '../store/secrets.ts';
import { SettingsError, type SettingsService } from '../store/settings.ts';
import { createFallbackModel } from './fallback.ts';
import { knownContextLength } from './known-models.ts';
import { nothingLearnt, type Learnt } from './learnt.ts';
import { createOfflineModel } from './offline/offline-model.ts';
import { createOpenAiChatModel } from './openai-chat.ts';
import { createProviderGate, type Limits, type ProviderGate } from './provider-gate.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER } from './providers.ts';
import { realSleep, type Sleep } from './sleep.ts';
import type { ChatModel, ChatRequest, Endpoint } from './types.ts';

/** A model of a provider. `baseUrl` goes before the provider's own. */
export interface ModelChoice {
  provider: string;
  model: string;
  baseUrl?: string | undefined;
  /** Goes before what config.yaml says of OpenRouter's providers, key by key. */
  routing?: Readonly<Record<string, unknown>> | undefined;
  /** OpenRouter's `plugins`. */
  plugins?: readonly Record<string, unknown>[] | undefined;
}

export interface ModelServiceDeps {
  settings: Pick<SettingsService, 'endpointFor' | 'models' | 'get'>;
  config: Pick<ConfigFile, 'read'>;
  secrets: Pick<Secrets, 'protect'>;
  /** Absolute path of the folder `resources`. */
  resources: string;
  /** Bytes of an attachment, for requests that do not bring their own way to them; null when they are gone. */
  attachment?: (id: string) => Promise<Uint8Array | null>;
  sleep?: Sleep;
  now?: () => number;
}

const LIST_TIMEOUT_MS = 4000;
const LIST_KEPT_MS = 10 * 60_000;
const FAILURE_KEPT_MS = 30_000;
/** With a fallback at hand, a 429 is waited for no longer. */
const LONGEST_WAIT_MS = 15_000;

/** Every model that the engine talks to is made here, so that all calls to one provider share its limits and slow down together. */
export class ModelService {
  readonly #deps: ModelServiceDeps;
  readonly #gates = new Map<string, ProviderGate>();
  readonly #learnt = new Map<string, Learnt>();
  /** The last list of each provider that came. */
  readonly #listed = new Map<string, readonly ModelInfo[]>();
  readonly #lists = new Map<string, { until: number; models: Promise<ModelInfo[] | null> }>();

  constructor(deps: ModelServiceDeps) {
    this.#deps = deps;
  }

  /**
   * The model of a choice, with the fallback that its provider names in config.yaml behind it; a key given here is used instead
   * of the stored one and never kept. With `patienceMs` troubles of the provider are waited out for so long. Throws SettingsError: NOT_FOUND for an unknown provider, INVALID for a bad base URL.
   */
  async create(choice: ModelChoice, { patienceMs, ...key }: { apiKey?: string; patienceMs?: number } = {}): Promise<ChatModel> {
    const { resources, config } = this.#deps;
    if (choice.provider === OFFLINE_PROVIDER && choice.baseUrl === undefined) return createOfflineModel({ resources });
    const endpoint = await this.#endpoint(choice, key);
    const route = config.read().providers[endpoint.provider]?.fallback;
    const fallback = route === undefined ? null : this.#fallback(route, endpoint);
    const { routing, plugins } = choice;
    if (fallback === null) return this.#model(endpoint, { patienceMs, routing, plugins });
    return createFallbackModel(this.#model(endpoint, { longestWaitMs: LONGEST_WAIT_MS, routing, plugins }), { route: fallback, open: () => this.#withoutFallback(fallback) });
  }

  /**
   * The choice that a route of config.yaml means: `provider/model id`, where the id may have slashes of its own.
   * Throws SettingsError INVALID when it is no route, NOT_FOUND when there is no such provider.
   */
  parse(route: string): ModelChoice {
    const at = route.indexOf('/');
    const provider = route.slice(0, Math.max(at, 0)).trim();
    const model = route.slice(at + 1).trim();
    if (provider === '' || model === '') throw new SettingsError('INVALID', `"${route}" names no model: write it as provider/model id, for example openrouter/qwen/qwen3-32b.`, 'model');
    if (provider === OFFLINE_PROVIDER) return { provider, model: OFFLINE_MODEL };
    const known = this.#deps.settings.get().providers.map(({ id }) => id);
    if (!known.includes(provider)) throw new SettingsError('NOT_FOUND', `There is no provider "${provider}". Add it in Settings or in config.yaml.`, 'model');
    return { provider, model };
  }

  /**
   * How many tokens the model can take: what config.yaml says, else what the provider's list says (asked at most every ten
   * minutes, waited for a few seconds at most), else what is known of well-known models, else null. Never throws.
   */
  async contextLength(provider: string, model: string): Promise<number | null> {
    const own = this.#deps.config.read().providers[provider]?.context_length;
    if (own !== undefined) return own;
    const listed = (await this.#list(provider))?.find(({ id }) => id === model)?.contextLength;
    return listed ?? knownContextLength(model);
  }

  /** The price that the provider's list of models gave when it was last asked, as `contextLength` does; null when it gave none. */
  listedPrice(provider: string, model: string): Price | null {
    return this.#listed.get(provider)?.find(({ id }) => id === model)?.prices ?? null;
  }

  async #endpoint(choice: ModelChoice, key: { apiKey?: string } = {}): Promise<Endpoint> {
    const endpoint = await this.#deps.settings.endpointFor(choice.provider, choice.model, choice.baseUrl);
    if (!key.apiKey) return endpoint;
    this.#deps.secrets.protect(key.apiKey);
    return { ...endpoint, apiKey: key.apiKey };
  }

  /** One level only: a fallback has none of its own, so nothing goes in circles. */
  async #withoutFallback(choice: ModelChoice): Promise<ChatModel> {
    if (choice.provider === OFFLINE_PROVIDER) return createOfflineModel({ resources: this.#deps.resources });
    return this.#model(await this.#endpoint(choice));
  }

  /** Null when it means the model itself, or nothing that is there. */
  #fallback(route: string, { provider, model }: Endpoint): { provider: string; model: string } | null {
    try {
      const { provider: otherProvider, model: otherModel } = this.parse(route);
      return otherProvider === provider && otherModel === model ? null : { provider: otherProvider, model: otherModel };
    } catch (error) {
      if (error instanceof SettingsError) return null;
      throw error;
    }
  }

  #model(endpoint: Endpoint, how: { longestWaitMs?: number; patienceMs?: number | undefined } & Pick<ModelChoice, 'routing' | 'plugins'> = {}): ChatModel {
    const { sleep = realSleep, now = Date.now, config, attachment } = this.#deps;
    const model = createOpenAiChatModel(endpoint, {
      gate: this.#gateOf(endpoint),
      learnt: this.#learntOf(endpoint),
      ...how,
      routing: { ...config.read().providers[endpoint.provider]?.openrouter, ...how.routing },
      sleep,
      now,
    });
    if (attachment === undefined) return model;
    return { ...model, stream: (request: ChatRequest, signal: AbortSignal) => model.stream({ attachment, ...request }, signal) };
  }

  #gateOf({ provider, baseUrl }: Endpoint): ProviderGate {
    const { sleep = realSleep, now = Date.now, config } = this.#deps;
    const name = `${provider} ${new URL(baseUrl).origin}`;
    const limits = (): Limits => {
      const own = config.read().providers[provider];
      return { concurrency: own?.concurrency, requestsPerMinute: own?.requests_per_minute, tokensPerMinute: own?.tokens_per_minute };
    };
    const gate = this.#gates.get(name) ?? createProviderGate({ limits, sleep, now });
    this.#gates.set(name, gate);
    return gate;
  }

  #learntOf({ baseUrl, model }: Endpoint): Learnt {
    const name = `${baseUrl} ${model}`;
    const learnt = this.#learnt.get(name) ?? nothingLearnt();
    this.#learnt.set(name, learnt);
    return learnt;
  }

  /** The provider's models, remembered for a while; null when it could not be asked. */
  #list(provider: string): Promise<ModelInfo[] | null> {
    const { settings, now = Date.now } = this.#deps;
    const kept = this.#lists.get(provider);
    if (kept !== undefined && now() < kept.until) return kept.models;
    const entry = { until: now() + LIST_KEPT_MS, models: settings.models(provider, AbortSignal.timeout(LIST_TIMEOUT_MS)).then(({ models }) => models, () => null) };
    this.#lists.set(provider, entry);
    void entry.models.then((models) => {
      if (models === null) entry.until = now() + FAILURE_KEPT_MS;
      else this.#listed.set(provider, models);
    });
    return entry.models;
  }
}
