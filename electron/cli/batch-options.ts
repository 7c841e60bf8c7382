import { RUN_OPTION_GROUPS, RUN_OPTION_KEYS, RUN_OPTIONS, runOptionLimits, runOptionName, runOptionText, type RunOptionGroup, type RunOptionKey, type RunOptionName } from '#shared/run-options.ts';
import type { RunValues } from '#shared/run-values.ts';
import { wholePath } from '#engine/batch/plan/run-file.ts';
import { HOME_OPTION } from './command.ts';
import type { OptionDef, OptionGroups, OptionValues } from './options.ts';

const DEFAULT_PREFIX_CHARS = 100;

const RESUME_NAMES = RUN_OPTION_KEYS.filter((key) => RUN_OPTIONS[key].resume).map(runOptionName).join(', ');

/** Of one call: they are no part of the run. */
const callOptions = {
  run_file: { kind: 'text', value: 'FILE', help: 'Take options from a run file (YAML, names as here); those of the command line come first. Each run writes its own: run.yaml.' },
  dry_run: { kind: 'flag', help: 'Say what would run, what it may cost and what stands in its way. Calls no model, writes nothing.' },
  list_distributions: { kind: 'flag', help: 'List the toolset distributions with their chances, and what of them is skipped here and why.' },
  resume: { kind: 'flag', help: `Go on with this run: what is left, or failed and may work now. It keeps its options, but these may be given anew: ${RESUME_NAMES}.` },
  retry: { kind: 'text', value: 'WHAT', help: 'Run all failed or all discarded rollouts of this run again.', choices: ['failed', 'discarded'] },
  api_key: { kind: 'text', value: 'KEY', help: 'Key for this call only; never stored. Others on this machine may see it in the process list.' },
  verbose: { kind: 'flag', help: 'A line for each rollout that ends.' },
  log_prefix_chars: { kind: 'number', value: 'N', help: `verbose: so many characters of a line; default ${DEFAULT_PREFIX_CHARS}.`, min: 20, max: 10_000 },
  home: HOME_OPTION,
} as const satisfies Record<string, OptionDef>;

type RunDefs = { readonly [N in RunOptionName]: { kind: 'text'; value: string; help: string } | { kind: 'switch'; value?: string; help: string } };

const runDefs = Object.fromEntries(RUN_OPTION_KEYS.map((key) => [runOptionName(key), defOf(key)])) as RunDefs;

/** All options of `talaria batch`: those of a run from the one table of them, those of the call from here. */
export const batchOptions: RunDefs & typeof callOptions = { ...runDefs, ...callOptions };
export type BatchValues = OptionValues<typeof batchOptions>;

const TITLES: Readonly<Record<RunOptionGroup, string>> = { data: 'What is run', model: 'The model', work: 'Tools and turns', limits: 'Limits', results: 'Filters, scores and files' };

export const batchGroups: OptionGroups = [
  ...RUN_OPTION_GROUPS.map((group) => ({ title: TITLES[group], names: RUN_OPTION_KEYS.filter((key) => RUN_OPTIONS[key].group === group).map(runOptionName) })),
  { title: 'This call', names: Object.keys(callOptions) },
];

function defOf(key: RunOptionKey): OptionDef {
  const { value } = RUN_OPTIONS[key];
  const limits = runOptionLimits(key);
  // one that is on by default can only be turned off
  return limits.kind === 'switch' ? { kind: 'switch', ...(limits.default === true ? { value: 'false' } : {}), help: helpOf(key) } : { kind: 'text', value, help: helpOf(key) };
}

/** What it is, its choices or limits, its default. */
function helpOf(key: RunOptionKey): string {
  const { help, otherwise } = RUN_OPTIONS[key];
  const { choices, min, max, above, default: usual } = runOptionLimits(key);
  const parts = [help];
  if (choices.length > 0) parts.push(`One of: ${choices.join(', ')}.`);
  else if (min !== null && max !== null && max < 1e5) parts.push(`${above ? `Above ${min}, at most` : `${min} to`} ${max}.`);
  if (key === 'datasetFile' || key === 'runName') parts.push('Required.');
  else if (otherwise !== undefined) parts.push(`Default: ${otherwise}.`);
  else if (usual !== null && usual !== false && runOptionText(usual) !== '') parts.push(`Default: ${runOptionText(usual)}.`);
  return parts.join(' ');
}

/** The options of the run that were given; relative paths count from `cwd`. */
export function runValues(values: BatchValues, cwd: string): RunValues {
  const given: Partial<Record<RunOptionKey, string>> = {};
  for (const key of RUN_OPTION_KEYS) {
    const value = values[runOptionName(key)];
    if (value !== undefined) given[key] = RUN_OPTIONS[key].path ? wholePath(key, value, cwd) : value;
  }
  return given;
}

/** The option that gives a field of a run. */
export function runOptionOf(field: string): string | undefined {
  // a provider is looked up by its id
  const key = field === 'id' ? 'provider' : field;
  return Object.hasOwn(RUN_OPTIONS, key) ? runOptionName(key as RunOptionKey) : undefined;
}

/** How many characters of a line `--verbose` shows; null without it. */
export function prefixChars(values: BatchValues): number | null {
  return values.verbose ? (values.log_prefix_chars ?? DEFAULT_PREFIX_CHARS) : null;
}
