import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { runSpecSchema, type RunSpecInput } from '#shared/contract/run-spec.ts';
import { RUN_OPTION_KEYS, runOptionLimits, runOptionName, runOptionText } from '#shared/run-options.ts';
import { readRunSpec, resumeSpec, splitList } from '#shared/run-values.ts';
import { problemSentences, readRunFile, RunFileError, runYaml } from './run-file.ts';

/** A value for every option that is not its default. */
const ALL: Required<RunSpecInput> = {
  datasetFile: '/data/p.jsonl',
  datasetShape: 'gsm8k',
  columns: { prompt: 'question', answer: 'the, "last" answer', tests: 'a=b' },
  runName: '007',
  batchSize: 7,
  rollouts: 4,
  maxSamples: 50,
  provider: 'openrouter',
  model: 'a/b: c #d',
  baseUrl: 'http://localhost:8000/v1',
  temperature: 0.7,
  topP: 0.9,
  maxTokens: 1000,
  reasoningEffort: 'none',
  reasoningDisabled: true,
  providersAllowed: ['deepinfra', 'no'],
  providersIgnored: ['azure'],
  providersOrder: ['x'],
  providerSort: 'price',
  openrouterMinCodingScore: 0.5,
  numWorkers: 64,
  maxTurns: 3,
  timeoutPerPrompt: 90.5,
  budgetUsd: 2.5,
  maxFailures: 9,
  distribution: 'terminal_only',
  seed: 42,
  sandbox: 'bubblewrap',
  network: false,
  keepWorkspaces: true,
  ephemeralSystemPrompt: 'Be brief.\nAlways: "yes".',
  prefillMessagesFile: '/data/prefill.json',
  trajectoryFormat: 'openai',
  filters: ['too_short:200', 'answer contains "a, b"', 'answer matches /x,y/i'],
  scoring: ['numeric*0.8', 'length*0.2'],
  outputDir: '/out',
};

// Bug: an option is lost, or becomes another value, on its way through a run file or the command line.
test('every option survives the run file and its text on the command line', () => {
  const spec = runSpecSchema.parse(ALL);
  expect(Object.keys(ALL).toSorted()).toEqual(Object.keys(runSpecSchema.shape).toSorted());
  const file = readRunFile(runYaml(spec), 'run.yaml', '/elsewhere');
  expect(readRunSpec(file.values)).toEqual({ spec, problems: null });
  expect(readRunSpec(Object.fromEntries(RUN_OPTION_KEYS.map((key) => [key, runOptionText(spec[key])]))).spec).toEqual(spec);
});

// Bug: defaults are written and later stand in the way of better ones, or a run file leaves out what has no default.
test('defaults are left out, and what is left out is the default', () => {
  const spec = runSpecSchema.parse({ datasetFile: '/demo.jsonl', runName: 'r' });
  const text = runYaml(spec, '/demo.jsonl');
  expect(parse(text)).toEqual({ dataset_file: 'demo', run_name: 'r', model: 'offline/demo', provider: 'offline' });
  expect(readRunSpec(readRunFile(text, 'run.yaml', '/x').values, '/demo.jsonl').spec).toEqual({ ...spec, datasetFile: 'demo' });
  expect(readRunSpec(readRunFile(runYaml({ ...spec, filters: [], model: 'm', provider: 'lab' }), 'run.yaml', null).values).spec).toMatchObject({ filters: [], model: 'm', provider: 'lab' });
});

test('paths count from the folder of the file; comments, dashes, aliases and lists in one line are fine', () => {
  const text = '# mine\ndataset-file: ../p.jsonl # rows\nrun_name: &n 1e3\nmodel: *n\nprovider: lab\nprefill_messages_file: /p.json\nfilters: no_reasoning, too_short:5\nmax_samples:\noutput_dir: out\n';
  const { values, lines } = readRunFile(text, 'run.yaml', '/home/me/runs');
  expect(readRunSpec(values).spec).toMatchObject({ datasetFile: '/home/me/p.jsonl', runName: '1e3', model: '1e3', prefillMessagesFile: '/p.json', filters: ['no_reasoning', 'too_short:5'], outputDir: '/home/me/runs/out' });
  expect([lines.get('datasetFile'), lines.get('outputDir'), lines.get('maxSamples')]).toEqual([2, 9, undefined]);
});

// Bug: a typing mistake in a run file is ignored in silence, or is told without its place.
test.each([
  ['model: m\nmax_turn: 3\n', 'run.yaml line 2: there is no option max_turn. Did you mean max_turns?'],
  ['api_key: sk-1\n', 'run.yaml line 1: keys do not belong into a file.'],
  ['resume: true\n', 'run.yaml line 1: resume is an option of one call. Give it on the command line: --resume.'],
  ['__proto__: {a: 1}\n', 'run.yaml line 1: there is no option __proto__.'],
  ['model: a\nmodel: b\n', 'run.yaml line 2: not valid YAML (Map keys must be unique'],
  ['- a\n', 'run.yaml line 1: a run file holds options such as "model: NAME".'],
  ['filters: [[a]]\n', 'run.yaml line 1: filters must be one value, a list or'],
  ['model: [\n', 'not valid YAML'],
  [`model: ${'x'.repeat(1024 * 1024)}`, 'run.yaml is larger than 1 MiB'],
])('%j', (text, message) => {
  expect(() => readRunFile(text, 'run.yaml', null)).toThrow(RunFileError);
  expect(() => readRunFile(text, 'run.yaml', null)).toThrow(message);
});

test('wrong values are told with line and name, those of the command line with theirs', () => {
  const file = readRunFile('dataset_file: p\nmax_turns: 0\nnetwork: perhaps\nfilters: [nonsense]\nsandbox: [host]\ncolumns: x\n', 'run.yaml', '/x');
  const read = readRunSpec({ ...file.values, numWorkers: '513', runName: '../x', model: 'm', temperature: '2.5', topP: '0', budgetUsd: 'much', baseUrl: 'nowhere', maxFailures: '0' });
  expect(problemSentences(read.problems ?? {}, file, (key) => key in file.values, '--').map((s) => s.slice(0, 110))).toEqual([
    '--run_name: Use letters, digits, dot, dash and underscore; start with a letter or digit; at most 100 characters.'.slice(0, 110),
    'run.yaml line 6: columns must name our column and the one of the file: prompt=question,answer=solution.',
    '--base_url must be a whole URL like http://localhost:8000/v1.',
    '--temperature must be a number from 0 to 2, not "2.5".',
    '--top_p must be a number above 0, at most 1, not "0".',
    'run.yaml line 2: max_turns must be a whole number from 1 to 1000, not "0".',
    'run.yaml line 5: sandbox cannot be "host". It is one of: host, bubblewrap.',
    'run.yaml line 3: network must be true or false, not "perhaps".',
    '--num_workers must be a whole number from 1 to 512, not "513".',
    '--budget_usd must be a number above 0, not "much".',
    '--max_failures must be a whole number at least 1, not "0".',
    expect.stringMatching(/^run\.yaml line 4: filters: "nonsense" cannot be used\. /),
  ]);
});

test('a model needs a place, but for the demo', () => {
  const of = (more: object, demo?: string) => {
    const { spec, problems } = readRunSpec({ datasetFile: '/p', runName: 'r', ...more }, demo);
    return spec ? [spec.provider, spec.model] : Object.entries(problems).map(([key, p]) => `${key} ${p.code}`);
  };
  expect(of({})).toEqual(['model model']);
  expect(of({ model: 'm' })).toEqual(['provider provider']);
  expect(of({ model: 'm', baseUrl: 'http://x/v1' })).toEqual(['custom', 'm']);
  expect(of({ model: 'offline/demo' })).toEqual(['offline', 'offline/demo']);
  expect(of({ datasetFile: 'demo' })).toEqual(['offline', 'offline/demo']);
  expect(of({}, '/p')).toEqual(['offline', 'offline/demo']);
  expect(of({ datasetFile: 'demo', provider: 'lab' })).toEqual(['model model']);
});

// Bug: a comma within a filter cuts it in two.
test('lists are split at commas outside quotes and regular expressions', () => {
  expect(splitList('a, b="x,y" ,c matches /d,e/i,regex:/f,g/*2,tests:./t/a.sh,x/y,it"s')).toEqual(['a', 'b="x,y"', 'c matches /d,e/i', 'regex:/f,g/*2', 'tests:./t/a.sh', 'x/y', 'it"s']);
});

// Bug: a resume changes in silence what rollouts are, or cannot be given more workers.
test('a resume takes other limits and names what it keeps', () => {
  const old = runSpecSchema.parse({ ...ALL, numWorkers: 4, maxTurns: 10 });
  const changed = resumeSpec(old, { numWorkers: '8', budgetUsd: '5', maxTurns: '11', model: old.model, filters: runOptionText(old.filters), maxFailures: 'x' });
  expect(changed.spec).toEqual({ ...old, numWorkers: 8, budgetUsd: 5 });
  expect(changed.kept).toEqual([{ key: 'maxTurns', was: '10' }]);
  expect(changed.problems).toMatchObject({ maxFailures: { code: 'whole_from' } });
});

// Bug: limits in sentences differ from those of the contract.
test('the table has every key of the contract, and its names', () => {
  expect(RUN_OPTION_KEYS.toSorted()).toEqual(Object.keys(runSpecSchema.shape).toSorted());
  expect(runOptionName('openrouterMinCodingScore')).toBe('openrouter_min_coding_score');
  expect(runOptionLimits('rollouts')).toEqual({ kind: 'whole', choices: [], min: 1, max: 1024, above: false, default: 1 });
  expect(runOptionLimits('topP')).toEqual({ kind: 'number', choices: [], min: 0, max: 1, above: true, default: null });
});
