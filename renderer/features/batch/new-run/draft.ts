import { runSpecSchema, type RunSpec, type RunSpecInput, type RunSummary } from '#shared/contract/runs.ts';
import type { Provider } from '#shared/contract/settings.ts';

/** The form as typed: numbers are text until the start, so that nothing is rewritten under the hand. */
export interface RunDraft {
  datasetFile: string;
  runName: string;
  provider: string;
  model: string;
  numWorkers: string;
  maxTurns: string;
  batchSize: string;
  maxSamples: string;
  distribution: string;
  /** Empty = the model's own default. */
  reasoningEffort: string;
  outputDir: string;
}

export type DraftField = keyof RunDraft;

/** The contract's defaults as a form. */
export function emptyDraft(): RunDraft {
  const spec = runSpecSchema.parse({ datasetFile: 'x', runName: 'x' });
  return { ...draftOf(spec), datasetFile: '', runName: '' };
}

/** A run's options as a form, for "new run with these options". */
export function draftOf(spec: RunSpec): RunDraft {
  return {
    datasetFile: spec.datasetFile,
    runName: spec.runName,
    provider: spec.provider,
    model: spec.model,
    numWorkers: String(spec.numWorkers),
    maxTurns: String(spec.maxTurns),
    batchSize: String(spec.batchSize),
    maxSamples: spec.maxSamples === undefined ? '' : String(spec.maxSamples),
    distribution: spec.distribution,
    reasoningEffort: spec.reasoningEffort ?? '',
    outputDir: spec.outputDir ?? '',
  };
}

/** A kept form; whatever does not fit is left at its default. */
export function draftFromJson(json: string | null): RunDraft {
  const draft = emptyDraft();
  if (json === null) return draft;
  try {
    const kept: unknown = JSON.parse(json);
    if (typeof kept !== 'object' || kept === null) return draft;
    for (const field of Object.keys(draft) as DraftField[]) {
      const value = (kept as Record<string, unknown>)[field];
      if (typeof value === 'string') draft[field] = value;
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

/** What is wrong with a field; a key of `form.problem`. */
export type DraftProblem = 'required' | 'provider' | 'name' | 'workers' | 'turns' | 'positive';

export type DraftProblems = Partial<Record<DraftField, DraftProblem>>;

const PROBLEM_OF: Partial<Record<DraftField, DraftProblem>> = {
  runName: 'name',
  provider: 'provider',
  numWorkers: 'workers',
  maxTurns: 'turns',
  batchSize: 'positive',
  maxSamples: 'positive',
};

/** The run that the form describes, or what is wrong, judged by the contract's own schema. */
export function readDraft(draft: RunDraft): { spec: RunSpecInput; problems: null } | { spec: null; problems: DraftProblems } {
  const text = (value: string): string | undefined => (value.trim() === '' ? undefined : value.trim());
  const whole = (value: string): number | undefined => (value.trim() === '' ? undefined : Number(value));
  const input = {
    datasetFile: draft.datasetFile.trim(),
    runName: draft.runName.trim(),
    provider: draft.provider,
    model: draft.model.trim(),
    numWorkers: whole(draft.numWorkers),
    maxTurns: whole(draft.maxTurns),
    batchSize: whole(draft.batchSize),
    maxSamples: whole(draft.maxSamples),
    distribution: draft.distribution,
    reasoningEffort: text(draft.reasoningEffort),
    outputDir: text(draft.outputDir),
  };
  const problems: DraftProblems = {};
  for (const field of ['datasetFile', 'runName', 'model', 'numWorkers', 'maxTurns', 'batchSize'] as const) {
    if (draft[field].trim() === '') problems[field] = 'required';
  }
  if (draft.provider === '') problems.provider = 'provider';
  const result = runSpecSchema.safeParse(input);
  if (!result.success) {
    for (const issue of result.error.issues) {
      const field = issue.path[0];
      if (typeof field === 'string' && field in draft) problems[field as DraftField] ??= PROBLEM_OF[field as DraftField] ?? 'required';
    }
  }
  return result.success && Object.keys(problems).length === 0 ? { spec: result.data, problems: null } : { spec: null, problems };
}

/** How many prompts the run will have. @param rows rows of the dataset */
export function promptCount(rows: number, maxSamples: string): number {
  const limit = Number(maxSamples);
  return maxSamples.trim() === '' || !Number.isInteger(limit) || limit < 1 ? rows : Math.min(rows, limit);
}
