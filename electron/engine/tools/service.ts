import type { Allowed, SandboxInfo, SearchTest, ToolSettings, ToolSettingsInput, ToolsetInfo } from '#shared/contract/tools.ts';
import type { Approvals } from '../sandbox/approvals.ts';
import { type ConfigChange, ConfigError, type ConfigFile } from '../store/config.ts';
import { BASE_URL_RULE, isBaseUrl } from '../store/config-schema.ts';
import { HomeError } from '../store/home.ts';
import { KeyInEnvironmentError, type Secrets } from '../store/secrets.ts';
import { SettingsError } from '../store/settings.ts';
import { similarity } from './similarity.ts';
import { ALL_TOOLS, BUILT_TOOLSETS, COMPOSITE_NAMES, DEFAULT_TOOLSETS, knownToolsetNames, partsOf, resolveToolsets, UnknownToolsetError } from './toolsets.ts';
import type { ToolServices } from './types.ts';
import { SEARCH_KEYS, type SearchChoice } from './web/search.ts';

export interface ToolsDeps {
  config: ConfigFile;
  secrets: Secrets;
  /** What chats have: decides which tools are missing something. */
  services: () => ToolServices;
  approvals: Pick<Approvals, 'list' | 'allow' | 'revoke'>;
  sandboxes: () => SandboxInfo[] | Promise<SandboxInfo[]>;
  /** One search with a service that may differ from the one that is set; throws an error with a sentence. */
  trySearch: (choice: SearchChoice, signal: AbortSignal) => Promise<number>;
  now: () => number;
}

/** The operations of the tools contract, on config.yaml, the keys of search services and the allow list. */
export class ToolsService {
  readonly #deps: ToolsDeps;

  constructor(deps: ToolsDeps) {
    this.#deps = deps;
  }

  async list(): Promise<{ toolsets: ToolsetInfo[]; sandboxes: SandboxInfo[]; unknown: string[] }> {
    const known = new Set(knownToolsetNames());
    return { toolsets: this.#toolsets(), sandboxes: await this.#deps.sandboxes(), unknown: this.#names().filter((name) => !known.has(name)) };
  }

  /** Toolsets of new chats, composites opened. Names in config.yaml that nobody knows are passed over. */
  enabledToolsets(): string[] {
    const known = new Set(knownToolsetNames());
    return resolveToolsets(this.#names().filter((name) => known.has(name))).toolsets;
  }

  /**
   * Switches a toolset or composite for new chats, in config.yaml. Switching a part off opens the composites it is in, so that the
   * others stay on. Throws SettingsError: INVALID for a name nobody knows, UNAVAILABLE when the file cannot be written.
   */
  enable({ name, enabled }: { name: string; enabled: boolean }): { toolsets: ToolsetInfo[] } {
    const touched = this.#partsOfName(name);
    const names = this.#names();
    const on = new Set(this.enabledToolsets());
    if (enabled && touched.some((part) => !on.has(part))) this.#change([[['toolsets'], [...names, name]]]);
    if (!enabled && touched.some((part) => on.has(part))) {
      const rest = names.flatMap((entry) => (partsOf(entry)?.some((part) => touched.includes(part)) ? (partsOf(entry) ?? []) : [entry]));
      this.#change([[['toolsets'], [...new Set(rest)].filter((entry) => entry !== name && !touched.includes(entry))]]);
    }
    return { toolsets: this.#toolsets() };
  }

  /** Throws SettingsError (INVALID, with the closest name) unless `name` is a toolset or composite with tools. */
  check(name: string): void {
    this.#partsOfName(name);
  }

  allowed(): { items: Allowed[] } {
    return { items: this.#deps.approvals.list() };
  }

  revoke({ key }: { key: string }): { items: Allowed[] } {
    this.#guard(() => this.#deps.approvals.revoke(key));
    return this.allowed();
  }

  /** Takes a revoke back. Throws SettingsError: INVALID for what is no such key, UNAVAILABLE. */
  allow({ key }: { key: string }): { items: Allowed[] } {
    if (!/^(command|read|write):./s.test(key)) throw new SettingsError('INVALID', `"${key}" is nothing that can be allowed.`, 'key');
    this.#guard(() => this.#deps.approvals.allow(key));
    return this.allowed();
  }

  settings(): ToolSettings {
    const { config, secrets } = this.#deps;
    const { web, terminal, approvals } = config.read();
    const key = (name: 'brave' | 'tavily') => ({ source: secrets.source(SEARCH_KEYS[name]), variable: SEARCH_KEYS[name].keyEnv });
    return {
      search: web.search ?? null,
      searxngUrl: web.searxng_url ?? null,
      keys: { brave: key('brave'), tavily: key('tavily') },
      keyStore: secrets.keyStore,
      allowPrivate: web.allow_private,
      sandbox: terminal.sandbox,
      network: terminal.network,
      approvals: approvals.mode,
    };
  }

  /** Changes what is given. Throws SettingsError: INVALID with the field, UNAVAILABLE when a file cannot be written. */
  async configure(input: ToolSettingsInput): Promise<ToolSettings> {
    const changes: ConfigChange[] = [];
    const url = input.searxngUrl?.trim();
    if (url && !isBaseUrl(url)) throw new SettingsError('INVALID', `The address must ${BASE_URL_RULE}.`, 'searxngUrl');
    if (input.searxngUrl !== undefined) changes.push([['web', 'searxng_url'], url || undefined]);
    if (input.search !== undefined) changes.push([['web', 'search'], input.search ?? undefined]);
    if (input.allowPrivate !== undefined) changes.push([['web', 'allow_private'], input.allowPrivate]);
    if (input.sandbox !== undefined) changes.push([['terminal', 'sandbox'], input.sandbox]);
    if (input.network !== undefined) changes.push([['terminal', 'network'], input.network]);
    if (input.approvals !== undefined) changes.push([['approvals', 'mode'], input.approvals]);
    await this.#saveKey('brave', input.braveKey);
    await this.#saveKey('tavily', input.tavilyKey);
    this.#change(changes);
    return this.settings();
  }

  /** Searches once with what is typed, else with what is set, and says in words how it went. */
  async testSearch(input: { search: SearchChoice['service']; searxngUrl?: string | undefined; key?: string | undefined }, signal: AbortSignal = new AbortController().signal): Promise<SearchTest> {
    const { config, secrets, trySearch, now } = this.#deps;
    const address = input.searxngUrl?.trim() || config.read().web.searxng_url || null;
    if (input.search === 'searxng' && (address === null || !isBaseUrl(address))) throw new SettingsError('INVALID', `The address must ${BASE_URL_RULE}.`, 'searxngUrl');
    const typed = input.key?.trim();
    if (typed) secrets.protect(typed);
    const key = input.search === 'searxng' ? null : typed || (await secrets.get(SEARCH_KEYS[input.search]));
    const begun = now();
    try {
      const found = await trySearch({ service: input.search, address, key }, signal);
      return { ok: true, message: found > 0 ? 'The search works.' : 'The service answers, but found nothing for a test search.', latencyMs: now() - begun };
    } catch (error) {
      return { ok: false, message: secrets.redact(error instanceof Error ? error.message : String(error)), latencyMs: null };
    }
  }

  #toolsets(): ToolsetInfo[] {
    const services = this.#deps.services();
    const on = new Set(this.enabledToolsets());
    const toolsOf = (toolset: string) =>
      ALL_TOOLS.filter((tool) => tool.toolset === toolset).map((tool) => ({ name: tool.spec.name, description: tool.spec.description, missing: tool.missing?.(services) ?? null }));
    return [
      ...BUILT_TOOLSETS.map((name) => ({ name, parts: [], tools: toolsOf(name), enabled: on.has(name) })),
      ...COMPOSITE_NAMES.map((name) => {
        const parts = partsOf(name) ?? [];
        return { name, parts, tools: [], enabled: parts.every((part) => on.has(part)) };
      }),
    ];
  }

  /** Names as config.yaml has them, also those of other versions. */
  #names(): readonly string[] {
    return this.#deps.config.read().toolsets ?? DEFAULT_TOOLSETS;
  }

  #partsOfName(name: string): string[] {
    try {
      const { toolsets, skipped } = resolveToolsets([name]);
      if (toolsets.length === 0) throw new SettingsError('INVALID', skipped[0]?.note.replace('and is skipped', 'yet') ?? `The toolset "${name}" has no tools.`, 'name');
      return toolsets;
    } catch (error) {
      if (error instanceof UnknownToolsetError) throw new SettingsError('INVALID', unknownToolset(name), 'name', error);
      throw error;
    }
  }

  async #saveKey(service: 'brave' | 'tavily', key: string | undefined): Promise<void> {
    if (key === undefined) return;
    try {
      if (key.trim() === '') this.#deps.secrets.forget(SEARCH_KEYS[service]);
      else await this.#deps.secrets.set(SEARCH_KEYS[service], key);
    } catch (error) {
      if (error instanceof KeyInEnvironmentError || error instanceof RangeError) throw new SettingsError('INVALID', error.message, `${service}Key`, error);
      throw asUnavailable(error);
    }
  }

  #change(changes: readonly ConfigChange[]): void {
    if (changes.length > 0) this.#guard(() => this.#deps.config.change(changes));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

function asUnavailable(error: unknown): unknown {
  return error instanceof ConfigError || error instanceof HomeError ? new SettingsError('UNAVAILABLE', error.message, null, error) : error;
}

/** Says which names there are, closest first; a tool's name leads to its toolset. */
function unknownToolset(name: string): string {
  const tool = ALL_TOOLS.find(({ spec }) => spec.name === name.toLowerCase());
  if (tool) return `"${name}" is a tool; tools are switched by toolset. It belongs to "${tool.toolset}".`;
  const names = knownToolsetNames();
  const wanted = name.toLowerCase().replaceAll('-', '_');
  const near = names.map((known) => ({ known, score: similarity(wanted, known) })).sort((a, b) => b.score - a.score)[0];
  const advice = near && near.score >= 0.4 ? `Did you mean "${near.known}"?` : `There are: ${names.join(', ')}.`;
  return `There is no toolset "${name}". ${advice}`;
}
