import { runSpecSchema, type RunSpec, type RunSummary } from '#shared/contract/runs.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { RUN_OPTION_KEYS, runOptionLimits, runOptionText, type RunOptionKey } from '#shared/run-options.ts';
import { type OptionProblem, readRunSpec, splitList, type RunValue, type RunValues } from '#shared/run-values.ts';

type ListField = 'filters' | 'scoring';
type SwitchField = { [K in RunOptionKey]: RunSpec[K] extends boolean ? K : never }[RunOptionKey];
type TextField = Exclude<RunOptionKey, ListField | SwitchField>;

/**
 * The form as typed: everything but switches and the lists of expressions is text until the start, so that nothing is rewritten under
 * the hand. Empty text is the default.
 */
export type RunDraft = Record<TextField, string> & Record<ListField, string[]> & Record<SwitchField, boolean>;
export type DraftField = RunOptionKey;

const LISTS: readonly RunOptionKey[] = ['filters', 'scoring'];
/** Shown as they are, also where they are what the schema has as default: nobody should run a model that they did not see. */
const NO_DEFAULT: readonly RunOptionKey[] = ['datasetFile', 'runName', 'model', 'provider'];

export function isList(key: RunOptionKey): key is ListField {
  return LISTS.includes(key);
}

export function isSwitch(key: RunOptionKey): key is SwitchField {
  return runOptionLimits(key).kind === 'switch';
}

/** The contract's defaults as a form; no dataset, name, provider and model. */
export function emptyDraft(): RunDraft {
  return { ...draftOf(runSpecSchema.parse({ datasetFile: 'x', runName: 'x' })), datasetFile: '', runName: '', provider: '', model: '' };
}

/** A run's options as a form, for "new run with these options". */
export function draftOf(spec: RunSpec): RunDraft {
  return Object.fromEntries(
    RUN_OPTION_KEYS.map((key) => {
      const value = spec[key];
      if (isList(key)) return [key, [...(value as string[])]];
      if (isSwitch(key)) return [key, value];
      const text = runOptionText(value);
      const usual = runOptionText(runOptionLimits(key).default);
      return [key, !NO_DEFAULT.includes(key) && text === usual ? '' : text];
    }),
  ) as unknown as RunDraft;
}

/** Values of a run file as a form; what the file does not say has its default. */
export function draftOfValues(values: Readonly<Record<string, RunValue>>): RunDraft {
  const draft: Record<string, unknown> = emptyDraft();
  for (const key of RUN_OPTION_KEYS) {
    const value = values[key];
    if (value === undefined) continue;
    if (isList(key)) draft[key] = typeof value === 'string' ? (value.trim() === 'none' ? [] : splitList(value)) : Array.isArray(value) ? [...(value as string[])] : [runOptionText(value)];
    // a switch that is neither on nor off has no place in the form: the reader says so
    else if (isSwitch(key)) draft[key] = /^(?:true|yes|1)$/i.test(runOptionText(value).trim());
    else draft[key] = runOptionText(value);
  }
  return draft as unknown as RunDraft;
}

/** A kept form; whatever does not fit is left at its default. */
export function draftFromJson(json: string | null): RunDraft {
  const draft = emptyDraft();
  if (json === null) return draft;
  try {
    const kept: unknown = JSON.parse(json);
    if (typeof kept !== 'object' || kept === null) return draft;
    for (const key of RUN_OPTION_KEYS) {
      const value = (kept as Record<string, unknown>)[key];
      const fits = isList(key) ? Array.isArray(value) && value.every((item) => typeof item === 'string') : typeof value === typeof draft[key];
      if (fits) Object.assign(draft, { [key]: value });
    }
  } catch {
    // A broken draft is no draft.
  }
  return draft;
}

/**
 * The provider and model that a new run most likely wants: those of the last run with a real model, else a provider that has a key,
 * else none, so that the person chooses. The scripted model is never meant for prompts of one's own.
 * @param runs newest first
 */
export function likelyProvider(
  runs: readonly Pick<RunSummary, 'spec' | 'scripted'>[],
  providers: readonly Provider[],
): Pick<RunDraft, 'provider' | 'model'> {
  const real = providers.filter((p) => !p.scripted);
  const last = runs.find((r) => !r.scripted && r.spec.baseUrl === undefined && real.some((p) => p.id === r.spec.provider));
  if (last) return { provider: last.spec.provider, model: last.spec.model };
  const ready = real.find((p) => p.key !== 'none');
  return { provider: ready?.id ?? '', model: ready?.defaultModel ?? '' };
}

export type DraftProblems = Partial<Record<DraftField, OptionProblem>>;

/** The form as the values that the one reader of options takes. */
function valuesOf(draft: RunDraft): RunValues {
  return Object.fromEntries(RUN_OPTION_KEYS.map((key) => [key, isSwitch(key) ? String(draft[key]) : draft[key]])) as RunValues;
}

/** The run that the form describes, or what is wrong, as the command line and run files would have it. */
export function readDraft(draft: RunDraft, demoPath?: string): { spec: RunSpec; problems: null } | { spec: null; problems: DraftProblems } {
  const read = readRunSpec(valuesOf(draft), demoPath);
  if (read.problems?.model && draft.provider === '' && draft.baseUrl.trim() === '') read.problems.provider ??= { code: 'required', params: {} };
  return read;
}

/** Whether an option is other than its default. */
export function isChanged(draft: RunDraft, key: RunOptionKey): boolean {
  if (isSwitch(key)) return draft[key] !== runOptionLimits(key).default;
  if (isList(key)) return runOptionText(draft[key]) !== runOptionText(runOptionLimits(key).default);
  return draft[key].trim() !== '';
}

/** How many prompts the run will have. @param rows rows of the dataset */
export function promptCount(rows: number, maxSamples: string): number {
  const limit = Number(maxSamples);
  return maxSamples.trim() === '' || !Number.isInteger(limit) || limit < 1 ? rows : Math.min(rows, limit);
}
