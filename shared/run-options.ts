import { z } from 'zod';
import { runSpecSchema, type RunSpec } from './contract/run-spec.ts';

/** Where an option stands in the form and in --help. */
export const RUN_OPTION_GROUPS = ['data', 'model', 'work', 'limits', 'results'] as const;
export type RunOptionGroup = (typeof RUN_OPTION_GROUPS)[number];
export type RunOptionKey = keyof RunSpec;
/** As the command line and run files call it: `numWorkers` is `num_workers`. */
export type RunOptionName = { [K in RunOptionKey]: Snake<K> }[RunOptionKey];
type Snake<S extends string> = S extends `${infer C}${infer Rest}` ? `${C extends Lowercase<C> ? C : `_${Lowercase<C>}`}${Snake<Rest>}` : '';

export interface RunOption {
  group: RunOptionGroup;
  /** Folded away in the form. */
  advanced: boolean;
  /** What stands for the value in --help. */
  value: string;
  /** For --help; the page has its own words. Limits, choices and defaults are not said here: they come from the schema. */
  help: string;
  /** What happens when it is left out, where the schema has no default. */
  otherwise?: string;
  /** A path; relative ones count from the folder of the person or of the run file. */
  path?: true;
  /** May be another one in a resume: it does not change what a rollout is. */
  resume?: true;
}

const common = (group: RunOptionGroup, value: string, help: string, more: Partial<RunOption> = {}): RunOption => ({ group, advanced: false, value, help, ...more });
const advanced = (group: RunOptionGroup, value: string, help: string, more: Partial<RunOption> = {}): RunOption => ({ group, advanced: true, value, help, ...more });

/** Every option of a run, in the order in which people are shown them. */
export const RUN_OPTIONS: Readonly<Record<RunOptionKey, RunOption>> = {
  datasetFile: common('data', 'FILE', 'Rows with a prompt: JSONL, JSON, CSV or Parquet, also .gz and .zst; "demo" is the bundled dataset.', { path: true }),
  runName: common('data', 'NAME', 'Name of the run and of its output folder.'),
  maxSamples: common('data', 'N', 'Only the first N rows.', { otherwise: 'all' }),
  rollouts: common('data', 'N', 'Attempts per row: the groups that RL needs.'),
  datasetShape: advanced('data', 'SHAPE', 'What the rows are like; auto looks at the columns.'),
  columns: advanced('data', 'OURS=THEIRS,…', 'Columns under other names, e.g. prompt=question,answer=solution.', { otherwise: 'by the shape' }),
  model: common('model', 'NAME', 'Model as the provider calls it; offline/demo is the scripted demo model.', { otherwise: 'none, and offline/demo for the demo dataset' }),
  provider: common('model', 'ID', 'Provider of Settings, e.g. openrouter; its key comes from its environment variable or Settings.', { otherwise: 'none' }),
  baseUrl: advanced('model', 'URL', 'Any OpenAI-compatible server instead of a provider; most end in /v1. Local ones need no key.', { otherwise: "the provider's" }),
  reasoningEffort: common('model', 'EFFORT', 'How much the model should think.', { otherwise: "the model's own" }),
  reasoningDisabled: advanced('model', '', 'Ask the model not to think; the same as --reasoning_effort=none.'),
  temperature: advanced('model', 'X', 'Sampling temperature.', { otherwise: "the model's own" }),
  topP: advanced('model', 'X', 'Nucleus sampling.', { otherwise: "the model's own" }),
  maxTokens: advanced('model', 'N', 'Tokens of one answer.', { otherwise: "the model's own" }),
  providersAllowed: advanced('model', 'NAME,…', "OpenRouter's providers that may answer.", { otherwise: 'any' }),
  providersIgnored: advanced('model', 'NAME,…', "OpenRouter's providers that may not answer.", { otherwise: 'none' }),
  providersOrder: advanced('model', 'NAME,…', "OpenRouter's providers in the order to try.", { otherwise: 'theirs' }),
  providerSort: advanced('model', 'BY', "How OpenRouter's providers are sorted.", { otherwise: 'theirs' }),
  openrouterMinCodingScore: advanced('model', 'X', "Least coding score of OpenRouter's auto router.", { otherwise: 'none' }),
  distribution: common('work', 'NAME', 'Which toolsets a rollout gets; --list_distributions names them.'),
  maxTurns: common('work', 'N', 'Model calls per rollout.'),
  seed: advanced('work', 'N', 'Of drawing toolsets; the same seed draws the same.', { otherwise: 'one is drawn and kept' }),
  sandbox: advanced('work', 'KIND', 'Where commands of tools run.'),
  network: advanced('work', 'YES', 'bubblewrap: false keeps commands from the network.'),
  ephemeralSystemPrompt: advanced('work', 'TEXT', 'Added to the system prompt; left out of trajectories.', { otherwise: 'none' }),
  prefillMessagesFile: advanced('work', 'FILE', 'JSON list of messages put before each conversation; left out of trajectories.', { otherwise: 'none', path: true }),
  numWorkers: common('limits', 'N', 'Rollouts worked on at once.', { resume: true }),
  budgetUsd: common('limits', 'USD', 'The run pauses when it has cost so much.', { otherwise: 'none', resume: true }),
  timeoutPerPrompt: advanced('limits', 'SECONDS', 'A rollout that takes longer ends there, as partial.', { otherwise: 'none', resume: true }),
  maxFailures: advanced('limits', 'N', 'Stop after so many failed rollouts in a row.', { otherwise: 'none', resume: true }),
  filters: common('results', 'FILTER,…', 'What is left out of the files, e.g. no_reasoning,too_short:200,tool_errors > 3; replaces the default, "none" is no filter.'),
  scoring: common('results', 'RULE,…', 'How rollouts are scored, e.g. numeric or exact*0.8,length*0.2.', { otherwise: 'not scored' }),
  outputDir: common('results', 'FOLDER', 'Holds the folder of the run.', { otherwise: './data; in the app data/ of the Talaria home', path: true }),
  batchSize: advanced('results', 'N', 'Rows per batch_<n>.jsonl file.'),
  trajectoryFormat: advanced('results', 'FORMAT', 'How rows are written.'),
  keepWorkspaces: advanced('results', '', 'The folders that rollouts worked in stay.', { resume: true }),
};

export const RUN_OPTION_KEYS = Object.keys(RUN_OPTIONS) as readonly RunOptionKey[];

/** The option's name on the command line and in run files. */
export function runOptionName(key: RunOptionKey): RunOptionName {
  return key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`) as RunOptionName;
}

const keysByName = new Map(RUN_OPTION_KEYS.map((key) => [runOptionName(key) as string, key]));

/** The option that is called so; undefined when none is. */
export function runOptionKey(name: string): RunOptionKey | undefined {
  return keysByName.get(name);
}

/** What the schema says of an option's values. */
export interface RunOptionLimits {
  kind: 'text' | 'url' | 'whole' | 'number' | 'choice' | 'switch' | 'list' | 'map';
  choices: readonly string[];
  /** Null: no limit that a person would meet. */
  min: number | null;
  max: number | null;
  /** Values must be greater than `min`, not only as great. */
  above: boolean;
  /** Null when there is none. */
  default: RunSpec[RunOptionKey] | null;
}

interface Property {
  type: string;
  enum?: string[];
  format?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  default?: RunSpec[RunOptionKey];
}

const KINDS: Record<string, RunOptionLimits['kind']> = { boolean: 'switch', integer: 'whole', number: 'number', array: 'list', object: 'map', string: 'text' };
let limits: Record<RunOptionKey, RunOptionLimits> | null = null;

/** Limits, choices and default of an option, from `runSpecSchema`. */
export function runOptionLimits(key: RunOptionKey): RunOptionLimits {
  limits ??= Object.fromEntries(Object.entries(z.toJSONSchema(runSpecSchema, { io: 'input' }).properties as Record<string, Property>).map(([name, p]) => [name, limitsOf(p)])) as Record<RunOptionKey, RunOptionLimits>;
  return limits[key];
}

function limitsOf(p: Property): RunOptionLimits {
  return {
    kind: p.enum ? 'choice' : p.format === 'uri' ? 'url' : (KINDS[p.type] ?? 'text'),
    choices: p.enum ?? [],
    min: p.exclusiveMinimum ?? p.minimum ?? null,
    max: p.maximum === undefined || p.maximum >= Number.MAX_SAFE_INTEGER ? null : p.maximum,
    above: p.exclusiveMinimum !== undefined,
    default: p.default ?? null,
  };
}

/** A value as the command line writes it; the empty text when there is none. */
export function runOptionText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',');
  if (typeof value === 'object') return Object.entries(value as Record<string, string>).map(([ours, theirs]) => `${ours}=${/[,"]|^\s|\s$/.test(theirs) ? JSON.stringify(theirs) : theirs}`).join(',');
  return String(value as string | number | boolean);
}
