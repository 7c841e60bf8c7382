import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { LocalServer, ModelInfo, Provider, ProviderLimits, ProviderTest, providerInputSchema, Settings } from '#shared/contract/settings.ts';
import type { FoundServer } from '../model/local-servers.ts';
import type { ProbedEndpoint } from '../model/probe.ts';
import type { ProviderPreset } from '../model/providers.ts';
import type { Endpoint } from '../model/types.ts';
import { type ConfigChange, ConfigError, type ConfigFile } from './config.ts';
import { BASE_URL_RULE, isBaseUrl, PROVIDER_ID } from './config-schema.ts';
import { HomeError } from './home.ts';
import { limitChanges, limitsOf } from './provider-limits.ts';
import { KeyInEnvironmentError, type KeyName, type Secrets } from './secrets.ts';

export interface SettingsDeps {
  home: string;
  config: ConfigFile;
  secrets: Secrets;
  presets: readonly ProviderPreset[];
  /** Asks `/models`; throws an error with a sentence when that fails. */
  listModels: (endpoint: ProbedEndpoint, signal?: AbortSignal) => Promise<ModelInfo[]>;
  /** Asks `/models` and says in words how it went; does not throw. */
  testEndpoint: (endpoint: ProbedEndpoint) => Promise<ProviderTest>;
  /** Looks for model servers on this machine. */
  findLocal: (signal?: AbortSignal) => Promise<FoundServer[]>;
}

export type SettingsErrorCode = 'NOT_FOUND' | 'INVALID' | 'UNAVAILABLE';

/** A setting could not be read or changed. Codes are those of the contract. */
export class SettingsError extends Error {
  readonly code: SettingsErrorCode;
  /** Input field that is to blame. */
  readonly field: string | null;

  constructor(code: SettingsErrorCode, message: string, field: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = 'SettingsError';
    this.code = code;
    this.field = field;
  }
}

type ProviderInput = z.input<typeof providerInputSchema>;

/** The operations of the settings contract, on config.yaml, the keys and the provider presets. */
export class SettingsService {
  readonly #deps: SettingsDeps;

  constructor(deps: SettingsDeps) {
    this.#deps = deps;
  }

  get(): Settings {
    const { config, secrets, home } = this.#deps;
    const { ui, problems } = config.read();
    const all = this.#providers();
    const incomplete = all.filter(({ baseUrl, scripted }) => baseUrl === '' && !scripted).map(({ id }) => `config.yaml: providers.${id} has no base_url; it cannot be used.`);
    return {
      theme: ui.theme,
      language: ui.language,
      providers: all.filter(({ baseUrl, scripted }) => baseUrl !== '' || scripted),
      keyStore: secrets.keyStore,
      home,
      problems: [...problems, ...incomplete, ...secrets.problems()],
    };
  }

  /** Changes what is given. Throws SettingsError (UNAVAILABLE) when config.yaml cannot be written. */
  update(input: { theme?: Settings['theme'] | undefined; language?: Settings['language'] | undefined }): Settings {
    const changes: ConfigChange[] = [];
    if (input.theme !== undefined) changes.push([['ui', 'theme'], input.theme]);
    if (input.language !== undefined) changes.push([['ui', 'language'], input.language]);
    this.#change(changes);
    return this.get();
  }

  /**
   * Adds a provider or changes one; of a preset only what differs is kept. The key: absent = as it is, empty = forgotten.
   * Throws SettingsError: NOT_FOUND for an unknown id, INVALID with the field, UNAVAILABLE when a file cannot be written.
   */
  async saveProvider(input: ProviderInput): Promise<Settings> {
    const name = input.name.trim();
    if (name === '') throw new SettingsError('INVALID', 'Give the provider a name.', 'name');
    if (!isBaseUrl(input.baseUrl)) {
      throw new SettingsError('INVALID', `The base URL must ${BASE_URL_RULE}.`, 'baseUrl');
    }
    const present = input.id === undefined ? null : this.#find(input.id);
    if (present?.scripted) throw new SettingsError('INVALID', 'The offline demo has nothing to change.', 'id');
    const id = present?.id ?? this.#newId(name);
    const limits = input.limits === undefined ? [] : this.#limitChanges(id, input.limits);
    const keyEnv = present?.keyEnv ?? variableFor(id);
    await this.#saveKey({ provider: id, keyEnv }, input.apiKey);

    const preset = this.#preset(id);
    const unlessPreset = (value: string | null, own: string | null | undefined): string | undefined => (preset && value === (own ?? null) ? undefined : (value ?? undefined));
    const path = (key: string): [string, string, string] => ['providers', id, key];
    this.#change([
      [path('name'), unlessPreset(name, preset?.name)],
      [path('base_url'), unlessPreset(input.baseUrl.trim(), preset?.baseUrl)],
      [path('default_model'), unlessPreset(input.defaultModel?.trim() || null, preset?.defaultModel)],
      [path('key_env'), unlessPreset(keyEnv, preset?.keyEnv)],
      ...limits,
    ]);
    if (preset && isDeepStrictEqual(this.#deps.config.read().providers[id], {})) this.#change([[['providers', id], undefined]]);
    return this.get();
  }

  /**
   * Takes a provider of the person's own away, with its key; a preset goes back to what it was and keeps its key.
   * Throws SettingsError: NOT_FOUND, UNAVAILABLE.
   */
  async removeProvider(id: string): Promise<Settings> {
    const provider = this.#find(id);
    this.#change([[['providers', id], undefined]]);
    // A variable of another name is the person's own and may serve other programs.
    const ours = provider.key === 'keychain' || (provider.key === 'file' && provider.keyEnv === variableFor(id));
    if (!this.#preset(id) && ours) await this.#saveKey({ provider: id, keyEnv: provider.keyEnv }, '');
    return this.get();
  }

  /** Tries a saved provider, or the unsaved values of a form. */
  async testProvider(input: { id?: string | undefined; baseUrl?: string | undefined; apiKey?: string | undefined }, signal?: AbortSignal): Promise<ProviderTest> {
    signal?.throwIfAborted();
    const provider = input.id === undefined ? null : this.#find(input.id);
    if (provider?.scripted) return { ok: true, message: 'The offline demo needs no connection.', hint: null, latencyMs: null, modelCount: 1 };
    const baseUrl = input.baseUrl ?? provider?.baseUrl;
    if (!baseUrl) throw new SettingsError('INVALID', 'Enter a base URL to test.', 'baseUrl');
    if (!isBaseUrl(baseUrl)) throw new SettingsError('INVALID', `The base URL must ${BASE_URL_RULE}.`, 'baseUrl');
    const typed = input.apiKey?.trim();
    if (typed) this.#deps.secrets.protect(typed);
    const apiKey = input.apiKey !== undefined ? typed || null : provider ? await this.#keyFor(provider, baseUrl) : null;
    const result = await this.#deps.testEndpoint({ baseUrl, apiKey });
    const { secrets } = this.#deps;
    return { ...result, message: secrets.redact(result.message), hint: result.hint === null ? null : secrets.redact(result.hint) };
  }

  /** The provider's models. Throws SettingsError: NOT_FOUND; UNAVAILABLE with what went wrong. */
  async models(id: string, signal?: AbortSignal): Promise<{ models: ModelInfo[] }> {
    signal?.throwIfAborted();
    const provider = this.#find(id);
    if (provider.scripted) return { models: provider.defaultModel ? [{ id: provider.defaultModel, contextLength: null }] : [] };
    try {
      const apiKey = await this.#keyFor(provider, provider.baseUrl);
      return { models: await this.#deps.listModels({ baseUrl: provider.baseUrl, apiKey }, signal) };
    } catch (error) {
      throw new SettingsError('UNAVAILABLE', this.#deps.secrets.redact(error instanceof Error ? error.message : String(error)), null, error);
    }
  }

  /** The model servers that answer on this machine, each with the provider that has its address already. */
  async findLocal(signal?: AbortSignal): Promise<{ servers: LocalServer[] }> {
    const found = await this.#deps.findLocal(signal);
    const providers = this.#providers();
    const samePlace = (a: string, b: string): boolean => placeOfLocal(a) === placeOfLocal(b);
    return { servers: found.map((server) => ({ ...server, provider: providers.find(({ baseUrl }) => samePlace(baseUrl, server.baseUrl))?.id ?? null })) };
  }

  /**
   * Where requests for `model` go, with the key. A base URL given here goes before the provider's; the provider's key is sent
   * there only when it is the same origin. A bare base URL (unknown provider "custom") finds the provider of that origin.
   * Throws SettingsError: NOT_FOUND for an unknown provider, INVALID for a bad base URL.
   */
  async endpointFor(providerId: string, model: string, baseUrlOverride?: string): Promise<Endpoint> {
    if (baseUrlOverride !== undefined) {
      if (!isBaseUrl(baseUrlOverride)) throw new SettingsError('INVALID', `The base URL must ${BASE_URL_RULE}.`, 'baseUrl');
      const all = this.#providers();
      const sameOrigin = (provider: Provider): boolean => !provider.scripted && originOf(provider.baseUrl) === originOf(baseUrlOverride);
      const provider = all.find((one) => one.id === providerId && sameOrigin(one)) ?? all.find(sameOrigin);
      if (!provider) return { provider: 'custom', baseUrl: baseUrlOverride, apiKey: null, model };
      return { provider: provider.id, baseUrl: baseUrlOverride, apiKey: await this.#keyFor(provider, baseUrlOverride), model };
    }
    const provider = this.#find(providerId);
    if (provider.baseUrl === '' && !provider.scripted) throw new SettingsError('INVALID', `The provider "${providerId}" has no base_url in config.yaml.`, 'provider');
    const apiKey = provider.scripted ? null : await this.#keyFor(provider, provider.baseUrl);
    return { provider: provider.id, baseUrl: provider.baseUrl, apiKey, model };
  }

  #providers(): Provider[] {
    const { presets, secrets, config } = this.#deps;
    const own = config.read().providers;
    const bare = Object.keys(own).filter((id) => !this.#preset(id));
    return [...presets, ...bare.map((id): ProviderPreset => ({ id, name: id, baseUrl: '', keyEnv: null, defaultModel: null, scripted: false }))].map((preset) => {
      const { scripted } = preset;
      const override = scripted ? undefined : own[preset.id];
      const keyEnv = override?.key_env ?? preset.keyEnv ?? (scripted || this.#preset(preset.id) ? null : variableFor(preset.id));
      return {
        id: preset.id,
        name: override?.name ?? preset.name,
        baseUrl: override?.base_url ?? preset.baseUrl,
        defaultModel: override?.default_model ?? preset.defaultModel,
        key: scripted ? 'none' : secrets.source({ provider: preset.id, keyEnv }),
        keyEnv,
        scripted,
        builtIn: this.#preset(preset.id) !== undefined,
        limits: limitsOf(override),
      };
    });
  }

  #limitChanges(id: string, limits: ProviderLimits): ConfigChange[] {
    const changes = limitChanges(id, limits, this.#providers().map((provider) => provider.id));
    if (changes instanceof Error) throw new SettingsError('INVALID', changes.message, changes.field);
    return changes;
  }

  #preset(id: string): ProviderPreset | undefined {
    return this.#deps.presets.find((preset) => preset.id === id);
  }

  #find(id: string): Provider {
    const provider = this.#providers().find((one) => one.id === id);
    if (!provider) throw new SettingsError('NOT_FOUND', `There is no provider "${id}". Add it in Settings or in config.yaml.`, 'id');
    return provider;
  }

  async #keyFor(provider: Provider, baseUrl: string): Promise<string | null> {
    if (originOf(baseUrl) !== originOf(provider.baseUrl)) return null;
    return this.#deps.secrets.get({ provider: provider.id, keyEnv: provider.keyEnv });
  }

  async #saveKey(name: KeyName, key: string | undefined): Promise<void> {
    if (key === undefined) return;
    try {
      if (key.trim() === '') this.#deps.secrets.forget(name);
      else await this.#deps.secrets.set(name, key);
    } catch (error) {
      if (error instanceof KeyInEnvironmentError || error instanceof RangeError) throw new SettingsError('INVALID', error.message, 'apiKey', error);
      throw asUnavailable(error);
    }
  }

  #change(changes: readonly ConfigChange[]): void {
    try {
      this.#deps.config.change(changes);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #newId(name: string): string {
    const base = name.toLowerCase().normalize('NFKD').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 32) || 'provider';
    const taken = new Set(this.#providers().map(({ id }) => id).concat('custom'));
    for (let n = 1; ; n++) {
      const id = n === 1 ? base : `${base}-${n}`;
      if (!taken.has(id) && PROVIDER_ID.test(id)) return id;
    }
  }
}

/** The variable for the key of a provider of the person's own. The prefix keeps it from picking up a key meant for other programs. */
function variableFor(id: string): string {
  return `TALARIA_${id.toUpperCase().replaceAll('-', '_')}_API_KEY`;
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** Host and port, with one name for this machine. */
function placeOfLocal(url: string): string | null {
  const host = URL.canParse(url) ? new URL(url).host : null;
  return host === null ? null : host.replace(/^(?:localhost|\[::1\])(?=:|$)/, '127.0.0.1');
}

function asUnavailable(error: unknown): unknown {
  return error instanceof ConfigError || error instanceof HomeError ? new SettingsError('UNAVAILABLE', error.message, null, error) : error;
}
