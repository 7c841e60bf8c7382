import { expect, test } from 'vitest';
import type { RunSummary } from '#shared/contract/runs.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { draftFromJson, draftOf, emptyDraft, likelyProvider, promptCount, readDraft } from './draft.ts';

const good = { ...emptyDraft(), datasetFile: '/data/p.jsonl', runName: 'run-1' };

// Bug: the form's defaults drift away from the command line's.
test("the empty form is the contract's defaults", () => {
  const { spec } = readDraft(good);
  expect(spec).toMatchObject({
    batchSize: 10,
    provider: 'offline',
    model: 'offline/demo',
    numWorkers: 4,
    maxTurns: 10,
    distribution: 'default',
  });
  expect(spec).not.toHaveProperty('maxSamples', 0);
  expect(spec?.maxSamples).toBeUndefined();
  expect(spec?.outputDir).toBeUndefined();
});

test('each field is judged where it stands', () => {
  const { spec, problems } = readDraft({
    ...good,
    runName: '../etc',
    numWorkers: '513',
    maxTurns: '0',
    batchSize: '',
    maxSamples: '0',
    model: ' ',
  });
  expect(spec).toBeNull();
  expect(problems).toEqual({
    runName: 'name',
    numWorkers: 'workers',
    maxTurns: 'turns',
    batchSize: 'required',
    maxSamples: 'positive',
    model: 'required',
  });
});

// Bug: "new run with these options" silently drops an option.
test('a spec survives the way through the form', () => {
  const spec = {
    datasetFile: '/data/p.jsonl',
    runName: 'r',
    batchSize: 7,
    provider: 'lab',
    model: 'm',
    numWorkers: 2,
    maxTurns: 3,
    maxSamples: 5,
    distribution: 'mixed',
    reasoningEffort: 'high' as const,
    outputDir: '/out',
  };
  expect(readDraft(draftOf(spec)).spec).toEqual(spec);
});

// Bug: a broken or foreign value in the kept form breaks the screen.
test('a kept form takes over only what fits', () => {
  expect(draftFromJson('{"model":"m","numWorkers":5,"evil":"x"}')).toEqual({ ...emptyDraft(), model: 'm' });
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
    keyEnv: null,
    scripted,
  });
  const made = (by: string, model: string, scripted = false): Pick<RunSummary, 'spec' | 'scripted'> => ({
    spec: { ...good, provider: by, model, batchSize: 1, numWorkers: 1, maxTurns: 1, maxSamples: undefined, reasoningEffort: undefined },
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
  expect(readDraft({ ...good, provider: '', model: '' }).problems).toEqual({ provider: 'provider', model: 'required' });
});
