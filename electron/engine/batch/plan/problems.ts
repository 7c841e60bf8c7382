import { isAbsolute, join } from 'node:path';
import type { PlanProblem } from '#shared/contract/plans.ts';
import type { RunSpec } from '#shared/contract/run-spec.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { RUN_OPTIONS } from '#shared/run-options.ts';
import { parseScoreRule } from '#shared/scoring.ts';
import { refuseInWorkspaces, refuseTakenFolder } from '../output-folder.ts';
import { preparePass } from '../worker/prepare.ts';
import type { Survey } from './survey.ts';

const OPENROUTER = 'openrouter';
const OPENROUTER_OPTIONS = ['providersAllowed', 'providersIgnored', 'providersOrder', 'providerSort', 'openrouterMinCodingScore'] as const;
/** Score rules that compare with the row's answer. */
const ANSWER_RULES = ['exact', 'numeric', 'json'];

/** What problems are looked for in. */
export interface PlanFacts {
  /** The Talaria home. */
  home: string;
  /** State of the run that has this name; null when none has. */
  runNamed: (name: string) => string | null;
  providers: () => readonly Provider[];
  /** Throws an error with a sentence, and perhaps the field, when there is no such model. Asks nobody. */
  createModel: (spec: RunSpec, key: { apiKey?: string }) => Promise<unknown>;
  /** Why containers cannot be used; null when they can. */
  dockerMissing: () => Promise<string | null>;
}

/** What a start would refuse, and what would fail soon after. */
export async function problemsHere(facts: PlanFacts, spec: RunSpec, outputDir: string, key: { apiKey?: string }): Promise<PlanProblem[]> {
  const problems: PlanProblem[] = [];
  const attempt = async (field: string, code: string, work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      problems.push(problemOf(error, field, code));
    }
  };
  const state = facts.runNamed(spec.runName);
  if (state !== null) problems.push({ field: 'runName', level: 'error', code: 'run_exists', params: { name: spec.runName, state }, message: `A run named ${spec.runName} exists already (${state}). Resume it, or choose another name.` });
  if (spec.outputDir !== undefined && !isAbsolute(spec.outputDir)) problems.push({ field: 'outputDir', level: 'error', code: 'output', message: 'Give the whole path of the output folder.' });
  else {
    await attempt('outputDir', 'output', () => refuseInWorkspaces(outputDir, join(facts.home, 'workspaces')));
    if (state === null) await attempt('runName', 'output', () => refuseTakenFolder(outputDir));
  }
  await attempt('provider', 'model', () => facts.createModel(spec, key));
  const provider = facts.providers().find(({ id }) => id === spec.provider);
  if (spec.baseUrl === undefined && key.apiKey === undefined && provider && !provider.scripted && provider.key === 'none' && provider.keyEnv !== null) {
    problems.push({ field: 'provider', level: 'warning', code: 'no_key', params: { provider: provider.name, env: provider.keyEnv }, message: `${provider.name} has no key: set one in Settings, or ${provider.keyEnv} in the environment.` });
  }
  await attempt('sandbox', 'sandbox', () => preparePass({ sandbox: spec.sandbox }));
  await attempt('prefillMessagesFile', 'prefill', () => preparePass({ sandbox: 'host', prefillMessagesFile: spec.prefillMessagesFile }));
  return problems;
}

/** Options that do not go together, or not with the dataset. None keeps a run from starting. */
export function optionWarnings(spec: RunSpec, survey: Survey | null): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const warn = (field: keyof RunSpec, code: string, message: string, params: PlanProblem['params'] = {}): number => problems.push({ field, level: 'warning', code, params, message });
  if (survey && survey.rejected > 0) warn('datasetFile', 'rejected', `${survey.rejected} rows of the file cannot be used.`, { count: survey.rejected });
  if (spec.filters.includes('no_reasoning') && (spec.reasoningDisabled || spec.reasoningEffort === 'none')) {
    warn('filters', 'nothing_kept', 'The model is asked not to reason, and the filter no_reasoning leaves out what has no reasoning: nothing may be left.');
  }
  if (!spec.network && spec.sandbox === 'host') warn('network', 'network_host', 'Only bubblewrap can keep commands from the network: on the host they reach it.');
  if (spec.provider !== OPENROUTER) {
    for (const key of OPENROUTER_OPTIONS) {
      const value = spec[key];
      if (value !== undefined && (!Array.isArray(value) || value.length > 0)) warn(key, 'openrouter_only', 'Only OpenRouter looks at this option.');
    }
  }
  if (survey && !survey.columns.has('scoring')) {
    const kinds = spec.scoring.map((text) => parseScoreRule(text).kind);
    const answers = kinds.find((kind) => ANSWER_RULES.includes(kind));
    if (answers !== undefined && !survey.columns.has('answer')) warn('scoring', 'no_answers', `The rule ${answers} compares with "answer", and no row has one.`, { rule: answers });
  }
  return problems;
}

/** Rows that need containers where there are none. */
export async function dockerProblem({ dockerMissing }: PlanFacts, { images, image }: Survey): Promise<PlanProblem[]> {
  const missing = images === 0 ? null : await dockerMissing();
  if (missing === null) return [];
  return [{ field: 'datasetFile', level: 'warning', code: 'docker', params: { count: images, image: image ?? '', why: missing }, message: `${images} rows run in a Docker image (${image}), which cannot be had here: ${missing}` }];
}

/** An expected failure of a service as a problem; what is not expected goes on. */
export function problemOf(error: unknown, field: string, code: string): PlanProblem {
  if (!(error instanceof Error) || typeof (error as { code?: unknown }).code !== 'string') throw error;
  const own = (error as { field?: string | null }).field;
  return { field: own && Object.hasOwn(RUN_OPTIONS, own) ? own : field, level: 'error', code, message: error.message };
}
