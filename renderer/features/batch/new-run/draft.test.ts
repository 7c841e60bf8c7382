import { expect, test } from 'vitest';
import { runSpecSchema, type RunSpecInput, type RunSummary } from '#shared/contract/runs.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { draftFromJson, draftOf, draftOfValues, emptyDraft, isChanged, likelyProvider, promptCount, readDraft, type RunDraft } from './draft.ts';

const good: RunDraft = { ...emptyDraft(), datasetFile: '/data/p.jsonl', runName: 'run-1', provider: 'lab', model: 'm' };

// Bug: the form's defaults drift away from the command line's.
test("the empty form is the contract's defaults", () => {
  expect(readDraft(good).spec).toEqual(runSpecSchema.parse({ datasetFile: '/data/p.jsonl', runName: 'run-1', provider: 'lab', model: 'm' }));
});

test('each field is judged where it stands', () => {
  const { spec, problems } = readDraft({ ...good, runName: '../etc', numWorkers: '513', maxTurns: '0', topP: '0', maxSamples: '0', model: ' ', filters: ['nonsense'] });
  expect(spec).toBeNull();
  expect(Object.fromEntries(Object.entries(problems ?? {}).map(([key, { code }]) => [key, code]))).toEqual({
    runName: 'name',
    numWorkers: 'whole',
    maxTurns: 'whole',
    topP: 'number_above_to',
    maxSamples: 'whole_from',
    model: 'model',
    filters: 'expression',
  });
});

/** Every option, none at its default. */
const ALL: Required<RunSpecInput> = {
  datasetFile: '/data/p.jsonl', datasetShape: 'gsm8k', columns: { prompt: 'question' }, runName: 'r', batchSize: 7, rollouts: 4, maxSamples: 5, provider: 'lab', model: 'm', baseUrl: 'http://x/v1',
  temperature: 0.5, topP: 0.9, maxTokens: 9, reasoningEffort: 'high', reasoningDisabled: true, providersAllowed: ['a', 'b'], providersIgnored: ['c'], providersOrder: ['b', 'a'], providerSort: 'price',
  openrouterMinCodingScore: 0.5, numWorkers: 2, maxTurns: 3, timeoutPerPrompt: 60, budgetUsd: 1.5, maxFailures: 3, distribution: 'mixed', seed: 7, sandbox: 'bubblewrap', network: false, keepWorkspaces: true,
  ephemeralSystemPrompt: 'Be brief.', prefillMessagesFile: '/p.json', trajectoryFormat: 'openai', filters: ['answer contains "a, b"'], scoring: ['exact', 'turns*0.5'], outputDir: '/out',
};

// Bug: "new run with these options", or a run file that is loaded, silently drops an option.
test('a spec survives the way through the form, every option of it', () => {
  const spec = runSpecSchema.parse(ALL);
  expect(readDraft(draftOf(spec)).spec).toEqual(spec);
  const values = Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, Array.isArray(value) || typeof value === 'object' ? value : String(value)]));
  expect(readDraft(draftOfValues(values)).spec).toEqual(spec);
  expect(readDraft(draftOfValues({ ...values, filters: 'none' })).spec).toMatchObject({ filters: [] });
  expect([isChanged(draftOf(spec), 'network'), isChanged(draftOf(spec), 'filters'), isChanged(emptyDraft(), 'network'), isChanged(emptyDraft(), 'filters'), isChanged(emptyDraft(), 'seed')]).toEqual([true, true, false, false, false]);
});

// Bug: a broken or foreign value in the kept form breaks the screen.
test('a kept form takes over only what fits', () => {
  expect(draftFromJson('{"model":"m","numWorkers":5,"evil":"x","filters":[1],"network":"no"}')).toEqual({ ...emptyDraft(), model: 'm' });
  expect(draftFromJson('not json')).toEqual(emptyDraft());
  expect(draftFromJson('null')).toEqual(emptyDraft());
});

// Bug: the button promises 1,000 prompts while "only the first 16" is set.
test('the button counts what will run', () => {
  expect([promptCount(100, ''), promptCount(100, '16'), promptCount(10, '16'), promptCount(10, '0')]).toEqual([100, 16, 10, 10]);
});

// Bug: one's own prompts are sent to the scripted demo model because nobody looked at the field.
test('a new run starts with the last real model, else with a provider that has a key, else with none', () => {
  const provider = (id: string, key: Provider['key'], scripted = false): Provider => ({
    id,
    name: id,
    baseUrl: '',
    defaultModel: id === 'lab' ? 'lab-1' : null,
    key,
    keyEnv: null, limits: { contextLength: null, concurrency: null, requestsPerMinute: null, tokensPerMinute: null, fallback: null, routing: null },
    scripted,
  });
  const made = (by: string, model: string, scripted = false): Pick<RunSummary, 'spec' | 'scripted'> => ({
    spec: { ...runSpecSchema.parse({ datasetFile: '/x', runName: 'x' }), provider: by, model },
    scripted,
  });
  const offline = provider('offline', 'none', true);
  const known = [offline, provider('open', 'none'), provider('lab', 'file')];
  expect(likelyProvider([made('offline', 'offline/demo', true), made('gone', 'x'), made('open', 'o-2')], known)).toEqual({
    provider: 'open',
    model: 'o-2',
  });
  expect(likelyProvider([made('offline', 'offline/demo', true)], known)).toEqual({ provider: 'lab', model: 'lab-1' });
  expect(likelyProvider([], [offline, provider('open', 'none')])).toEqual({ provider: '', model: '' });
});

test('a run without a provider cannot start', () => {
  const codes = (draft: RunDraft, demo?: string) => Object.entries(readDraft(draft, demo).problems ?? {}).map(([key, { code }]) => `${key} ${code}`);
  expect(codes({ ...good, provider: '', model: '' })).toEqual(['model model', 'provider required']);
  expect(codes({ ...good, provider: '' })).toEqual(['provider provider']);
  expect(codes({ ...good, provider: '', baseUrl: 'http://x/v1' })).toEqual([]);
  expect(codes({ ...good, provider: '', model: '' }, '/data/p.jsonl')).toEqual([]);
});
