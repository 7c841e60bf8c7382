import { expect, test } from 'vitest';
import { draftFromJson, draftOf, emptyDraft, promptCount, readDraft } from './draft.ts';

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
