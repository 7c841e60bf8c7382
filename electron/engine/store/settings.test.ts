import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/contract/settings.ts';
import { ConfigFile } from './config.ts';
import { homePaths } from './home.ts';
import { Redactor } from './redact.ts';
import { Secrets } from './secrets.ts';
import type { FoundServer } from '../model/local-servers.ts';
import type { ProbedEndpoint } from '../model/probe.ts';
import type { ProviderPreset } from '../model/providers.ts';
import { SettingsError, SettingsService } from './settings.ts';

const PRESETS: ProviderPreset[] = [
  { id: 'offline', name: 'Offline demo', baseUrl: '', keyEnv: null, defaultModel: 'offline/demo', scripted: true },
  { id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', keyEnv: 'OPENROUTER_API_KEY', defaultModel: null, scripted: false },
];

const FOUND: FoundServer[] = [
  { kind: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: [], needsKey: false },
  { kind: 'llamacpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8000/v1', models: [], needsKey: false },
];

let home: string;
let asked: ProbedEndpoint[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'talaria-settings-'));
  asked = [];
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

function open(env: NodeJS.ProcessEnv = {}): SettingsService {
  const paths = homePaths(home);
  const log = { info: () => undefined, error: () => undefined };
  return new SettingsService({
    home,
    config: new ConfigFile(paths.config),
    secrets: new Secrets({ paths, env, redactor: new Redactor(), log }),
    presets: PRESETS,
    listModels: async (endpoint) => {
      asked.push(endpoint);
      throw new Error(`401: key ${String(endpoint.apiKey)} is wrong`);
    },
    findLocal: async () => FOUND,
    testEndpoint: async (endpoint) => {
      asked.push(endpoint);
      return { ok: false, message: `said: bad key ${String(endpoint.apiKey)}`, hint: null, latencyMs: 1, modelCount: null };
    },
  });
}
const yaml = (): string => readFileSync(join(home, 'config.yaml'), 'utf8');
const byId = (service: SettingsService, id: string) => service.get().providers.find((provider) => provider.id === id);

async function failure(work: () => unknown): Promise<SettingsError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
  throw new Error('expected a SettingsError');
}

describe('SettingsService', () => {
  // Bug: the answer does not fit the contract, or shows a key.
  it('answers what the contract promises, without keys', async () => {
    const service = open({ OPENROUTER_API_KEY: 'env-key-12345678' });
    await service.saveProvider({ name: 'Desk', baseUrl: 'http://desk:8000/v1', apiKey: 'desk-key-12345678' });
    const settings = settingsSchema.strict().parse(service.get());
    expect(settings.providers.map(({ id, key }) => [id, key])).toEqual([
      ['offline', 'none'],
      ['openrouter', 'env'],
      ['desk', 'file'],
    ]);
    expect(JSON.stringify(settings)).not.toContain('key-12345678');
  });

  // Bug: a preset's values are frozen into config.yaml, so that a later version cannot correct them.
  it('keeps only what differs from a preset, and nothing when all is as before', async () => {
    const service = open();
    await service.saveProvider({ id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', defaultModel: 'a/b' });
    expect(yaml()).toBe('providers:\n  openrouter:\n    default_model: a/b\n');
    expect(byId(service, 'openrouter')?.defaultModel).toBe('a/b');
    await service.saveProvider({ id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', defaultModel: null });
    expect(yaml()).not.toContain('openrouter');
  });

  // Bug: two providers of one name overwrite each other; a name in Chinese has no id; "custom" is taken twice.
  it('gives each new provider an id of its own', async () => {
    const service = open();
    for (const name of ['My Box', 'My  box!', '本地', 'Custom', 'OpenRouter', 'Émile']) await service.saveProvider({ name, baseUrl: 'http://x/v1' });
    expect(service.get().providers.slice(2).map(({ id }) => id)).toEqual(['my-box', 'my-box-2', 'provider', 'custom-2', 'openrouter-2', 'e-mile']);
    expect(service.get().providers.find(({ id }) => id === 'provider')?.name).toBe('本地');
    expect(service.get().problems).toEqual([]);
  });

  // Bug: removing a provider leaves its key behind, or removes a variable that the person made for other programs.
  it('removes a provider with its key, and nothing else', async () => {
    writeFileSync(join(home, '.env'), 'SHARED_KEY=shared-12345678\n');
    writeFileSync(join(home, 'config.yaml'), 'providers:\n  lent:\n    base_url: http://lent/v1\n    key_env: SHARED_KEY\n');
    const service = open();
    await service.saveProvider({ name: 'Desk', baseUrl: 'http://desk/v1', apiKey: 'desk-key-12345678' });
    expect(readFileSync(join(home, '.env'), 'utf8')).toContain('TALARIA_DESK_API_KEY=desk-key-12345678');
    await service.removeProvider('desk');
    await service.removeProvider('lent');
    expect(readFileSync(join(home, '.env'), 'utf8')).toBe('SHARED_KEY=shared-12345678\n');
    expect(service.get().providers.map(({ id }) => id)).toEqual(['offline', 'openrouter']);
    expect((await failure(() => service.removeProvider('desk'))).code).toBe('NOT_FOUND');
  });

  // Bug: "Save" without touching the key field forgets the key, or emptying the field does not.
  it('keeps the key when none is given and forgets it when empty', async () => {
    const service = open();
    const desk = { name: 'Desk', baseUrl: 'http://desk/v1' };
    await service.saveProvider({ ...desk, apiKey: 'desk-key-12345678' });
    await service.saveProvider({ ...desk, id: 'desk', defaultModel: 'm' });
    expect((await service.endpointFor('desk', 'm')).apiKey).toBe('desk-key-12345678');
    await service.saveProvider({ ...desk, id: 'desk', apiKey: '' });
    expect((await service.endpointFor('desk', 'm')).apiKey).toBeNull();
    expect(byId(service, 'desk')).toMatchObject({ key: 'none', defaultModel: null });
  });

  // Bug: OpenRouter's key is sent to whatever address a command line or form names.
  it('sends a key only to the origin that it belongs to', async () => {
    const service = open({ OPENROUTER_API_KEY: 'env-key-12345678' });
    const keyAt = async (id: string, url?: string) => (await service.endpointFor(id, 'm', url)).apiKey;
    expect(await keyAt('openrouter')).toBe('env-key-12345678');
    expect(await keyAt('openrouter', 'https://openrouter.ai/other')).toBe('env-key-12345678');
    expect(await service.endpointFor('custom', 'm', 'https://openrouter.ai/api/v1')).toMatchObject({ provider: 'openrouter', apiKey: 'env-key-12345678' });
    expect(await service.endpointFor('openrouter', 'm', 'http://openrouter.ai/api/v1')).toEqual({
      provider: 'custom',
      baseUrl: 'http://openrouter.ai/api/v1',
      apiKey: null,
      model: 'm',
    });
    expect(await keyAt('openrouter', 'https://openrouter.ai.evil.example/v1')).toBeNull();
    await service.testProvider({ id: 'openrouter', baseUrl: 'https://evil.example/v1' });
    await service.testProvider({ id: 'openrouter' });
    await service.testProvider({ id: 'openrouter', baseUrl: 'https://evil.example/v1', apiKey: 'typed-key-12345' });
    expect(asked.map(({ apiKey }) => apiKey)).toEqual([null, 'env-key-12345678', 'typed-key-12345']);
  });

  // Bug: a server that repeats the key in its error makes it show in the page.
  it('shows no key in what a server says', async () => {
    const service = open({ OPENROUTER_API_KEY: 'env-key-12345678' });
    expect((await service.testProvider({ id: 'openrouter', apiKey: 'typed-key-12345' })).message).toBe('said: bad key [secret]');
    const error = await failure(() => service.models('openrouter'));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: '401: key [secret] is wrong' });
  });

  // Bug: the offline demo asks the network, takes a key, or can be edited into something else.
  it('leaves the scripted provider alone', async () => {
    const service = open();
    expect(await service.endpointFor('offline', 'offline/demo')).toMatchObject({ provider: 'offline', apiKey: null });
    expect((await service.testProvider({ id: 'offline' })).ok).toBe(true);
    expect((await service.models('offline')).models).toEqual([{ id: 'offline/demo', contextLength: null }]);
    expect((await failure(() => service.saveProvider({ id: 'offline', name: 'x', baseUrl: 'http://x' }))).code).toBe('INVALID');
    expect(asked).toEqual([]);
  });

  // Bug: a wrong value or a broken file ends as an internal error, without the field or the line.
  it('says which field is wrong and why a file cannot be written', async () => {
    const service = open({ OPENROUTER_API_KEY: 'env-key-12345678' });
    const desk = { name: 'Desk', baseUrl: 'http://desk/v1' };
    expect((await failure(() => service.saveProvider({ ...desk, baseUrl: 'file:///etc/passwd' }))).field).toBe('baseUrl');
    // a key in the address would stand in config.yaml in the clear
    for (const baseUrl of ['http://desk/v1?key=abcdef', 'http://desk/v1#abcdef', 'http://me:abcdef@desk/v1']) {
      const refused = await failure(() => service.saveProvider({ ...desk, baseUrl }));
      expect(refused).toMatchObject({ code: 'INVALID', field: 'baseUrl', message: expect.stringContaining('a key goes into its own field') });
      expect((await failure(() => service.endpointFor('custom', 'm', baseUrl))).message).not.toContain('abcdef');
    }
    expect((await failure(() => service.saveProvider({ ...desk, name: ' ' }))).field).toBe('name');
    expect((await failure(() => service.saveProvider({ ...desk, id: 'openrouter', apiKey: 'another-key' }))).field).toBe('apiKey');
    expect((await failure(() => service.saveProvider({ ...desk, id: 'gone' }))).code).toBe('NOT_FOUND');
    expect(existsSync(join(home, 'config.yaml'))).toBe(false);
    writeFileSync(join(home, 'config.yaml'), 'ui:\n\ttheme: dark\n');
    expect(await failure(() => service.update({ theme: 'dark' }))).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('line 2') });
    expect(service.get().problems[0]).toContain('line 2');
  });

  // Bug: a hand-written provider without an address is offered, and a run with it fails in a strange way.
  it('reports a provider without an address', async () => {
    writeFileSync(join(home, 'config.yaml'), 'providers:\n  desk:\n    name: Desk\n');
    const service = open();
    expect(byId(service, 'desk')).toBeUndefined();
    expect(service.get().problems).toEqual(['config.yaml: providers.desk has no base_url; it cannot be used.']);
    expect((await failure(() => service.endpointFor('desk', 'm'))).code).toBe('INVALID');
  });

  const LIMITS = { contextLength: 32_768, concurrency: 2, requestsPerMinute: 60, tokensPerMinute: 90_000, fallback: 'openrouter/qwen/qwen3-32b', routing: null };
  const NO_LIMITS = { contextLength: null, concurrency: null, requestsPerMinute: null, tokensPerMinute: null, fallback: null, routing: null };

  // Bug: limits are lost on saving, or stay in config.yaml as nulls after they were taken away.
  it('keeps limits, routing and fallback in config.yaml, and takes them out again', async () => {
    const service = open();
    const desk = { name: 'Desk', baseUrl: 'http://desk:8000/v1' };
    const routing = { order: ['deepinfra', 'together'], ignore: [], sort: 'price' as const, allow_fallbacks: false, data_collection: 'deny' as const };
    await service.saveProvider({ ...desk, limits: LIMITS });
    expect(byId(service, 'desk')?.limits).toEqual(LIMITS);
    expect(yaml()).toContain('    context_length: 32768\n    concurrency: 2\n    requests_per_minute: 60\n    tokens_per_minute: 90000\n    fallback: openrouter/qwen/qwen3-32b\n');
    await service.saveProvider({ ...desk, id: 'desk' });
    expect(byId(service, 'desk')?.limits).toEqual(LIMITS);
    await service.saveProvider({ id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', limits: { ...NO_LIMITS, routing } });
    const { ignore: _, ...kept } = routing;
    expect(byId(service, 'openrouter')?.limits.routing).toEqual(kept);
    await service.saveProvider({ ...desk, id: 'desk', limits: NO_LIMITS });
    await service.saveProvider({ id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', limits: NO_LIMITS });
    expect(yaml()).not.toMatch(/openrouter|concurrency|fallback|null/);
    expect(service.get().problems).toEqual([]);
  });

  // Bug: a limit of 0 stops every call for ever; a fallback that is not there is noticed only when it is needed.
  it.each([
    ['concurrency', { concurrency: 0 }, 'at least 1'],
    ['requestsPerMinute', { requestsPerMinute: 1.5 }, 'whole number'],
    ['tokensPerMinute', { tokensPerMinute: -1 }, 'at least 1'],
    ['contextLength', { contextLength: 10 }, 'at least 1000'],
    ['fallback', { fallback: 'qwen3' }, 'provider/model id'],
    ['fallback', { fallback: 'nowhere/qwen3' }, 'no provider "nowhere"'],
  ])('refuses wrong limits by field: %s', async (field, limits, message) => {
    const refused = await failure(() => open().saveProvider({ name: 'Desk', baseUrl: 'http://desk/v1', limits: { ...NO_LIMITS, ...limits } }));
    expect(refused).toMatchObject({ code: 'INVALID', field, message: expect.stringContaining(message) as string });
    expect(existsSync(join(home, 'config.yaml'))).toBe(false);
  });

  // Bug: a server that is in the list already is offered a second time.
  it('says which found servers it has already', async () => {
    const service = open();
    await service.saveProvider({ name: 'My Ollama', baseUrl: 'http://localhost:11434/v1' });
    expect((await service.findLocal()).servers.map(({ name, provider }) => [name, provider])).toEqual([['Ollama', 'my-ollama'], ['llama.cpp', null]]);
  });
});
