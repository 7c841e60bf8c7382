import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Estimate, Plan, PlanProblem } from '#shared/contract/plans.ts';
import type { RunSpec } from '#shared/contract/run-spec.ts';
import type { Price } from '#shared/contract/spend.ts';
import type { RunValues } from '#shared/run-values.ts';
import { estimateTokens, toolTokens } from '../../agent/tokens.ts';
import { buildSystemPrompt } from '../../agent/prompt/system-prompt.ts';
import { createRegistry } from '../../tools/registry.ts';
import type { ToolServices } from '../../tools/types.ts';
import { BatchError, systemCode } from '../errors.ts';
import type { DistributionService } from './distributions.ts';
import { estimateRun } from './estimate.ts';
import { dockerProblem, optionWarnings, type PlanFacts, problemOf, problemsHere } from './problems.ts';
import { readRunFile, RunFileError, runYaml } from './run-file.ts';
import { type Survey, DatasetSurveys } from './survey.ts';

const SAMPLE_DRAWS = 1_000;
const MAX_DRAWS = 2_000;
const MAX_RUN_FILE_BYTES = 1024 * 1024;

export interface PlanServiceDeps extends PlanFacts {
  /** Holds the folders of runs that name no other. */
  defaultOutputDir: string;
  /** Path of the bundled dataset. */
  demoDataset: string;
  distributions: Pick<DistributionService, 'draws'>;
  /** What the tools of rollouts have. */
  toolServices: () => ToolServices;
  /** Of the model by any table; asks nobody for more than a list of models. */
  price: (provider: string, model: string) => Promise<Price | null>;
}

/** What a run would do, before it does: reads the dataset and looks at everything a start would look at. Calls no model, writes nothing. */
export class PlanService {
  readonly #deps: PlanServiceDeps;
  readonly #surveys = new DatasetSurveys();

  constructor(deps: PlanServiceDeps) {
    this.#deps = deps;
  }

  async dryRun(given: RunSpec, key: { apiKey?: string } = {}): Promise<Plan> {
    const spec = given.datasetFile === 'demo' ? { ...given, datasetFile: this.#deps.demoDataset } : given;
    const outputDir = join(spec.outputDir ?? this.#deps.defaultOutputDir, spec.runName);
    const problems = await problemsHere(this.#deps, spec, outputDir, key);
    const survey = await this.#survey(spec, problems);
    problems.push(...optionWarnings(spec, survey), ...(survey ? await dockerProblem(this.#deps, survey) : []));
    const used = survey && Math.min(survey.rows, spec.maxSamples ?? survey.rows);
    const rollouts = used === null ? null : used * spec.rollouts;
    const draws = this.#draws(spec, rollouts, problems);
    const estimate = survey && rollouts !== null ? await this.#estimate(spec, survey, rollouts, draws?.combinations[0]?.toolsets ?? []) : null;
    if (spec.budgetUsd !== undefined && estimate?.highUsd != null && estimate.highUsd > spec.budgetUsd) {
      problems.push({ field: 'budgetUsd', level: 'warning', code: 'over_budget', params: { budget: spec.budgetUsd }, message: `The run may cost more than its budget of $${spec.budgetUsd}: it would pause there.` });
    }
    if (spec.budgetUsd !== undefined && (await this.#price(spec)) === null) {
      problems.push({ field: 'budgetUsd', level: 'warning', code: 'budget_unpriced', params: { model: spec.model }, message: `No price of ${spec.model} is known, so the budget cannot stop this run: enter a price in Settings, Spend.` });
    }
    return {
      rows: survey?.rows ?? null,
      used,
      rejected: survey?.rejected ?? null,
      rollouts,
      outputDir,
      files: filesOf(spec, used, rollouts),
      draws: draws && { ...draws, seeded: spec.seed !== undefined },
      estimate,
      problems,
    };
  }

  /** @throws BatchError `invalid` when it cannot be read, with the sentences of what is wrong */
  async readRunFile({ text, path, name }: { text?: string | undefined; path?: string | undefined; name: string }): Promise<{ values: RunValues }> {
    if (path !== undefined && !isAbsolute(path)) throw new BatchError('invalid', `Give the whole path of the run file, not "${path}".`);
    try {
      const said = path === undefined ? (text ?? '') : await readText(path);
      return { values: readRunFile(said, path === undefined ? name : basename(path), path === undefined ? null : dirname(path)).values };
    } catch (error) {
      throw error instanceof RunFileError ? new BatchError('invalid', error.message, { cause: error }) : error;
    }
  }

  runFile({ spec }: { spec: RunSpec }): { text: string } {
    return { text: runYaml(spec, this.#deps.demoDataset) };
  }

  #price(spec: RunSpec): Promise<Price | null> {
    return this.#deps.price(spec.provider, spec.model);
  }

  async #survey(spec: RunSpec, problems: PlanProblem[]): Promise<Survey | null> {
    if (!isAbsolute(spec.datasetFile)) {
      problems.push({ field: 'datasetFile', level: 'error', code: 'dataset', message: 'Give the whole path of the dataset file.' });
      return null;
    }
    try {
      return await this.#surveys.of(spec);
    } catch (error) {
      problems.push(problemOf(error, 'datasetFile', 'dataset'));
      return null;
    }
  }

  #draws(spec: RunSpec, rollouts: number | null, problems: PlanProblem[]) {
    try {
      const draws = spec.seed === undefined ? SAMPLE_DRAWS : Math.max(1, Math.min(rollouts ?? SAMPLE_DRAWS, MAX_DRAWS));
      return this.#deps.distributions.draws({ name: spec.distribution, seed: spec.seed ?? 0, rollouts: spec.rollouts, draws });
    } catch (error) {
      problems.push(problemOf(error, 'distribution', 'distribution'));
      return null;
    }
  }

  async #estimate(spec: RunSpec, survey: Survey, rollouts: number, toolsets: readonly string[]): Promise<Estimate> {
    const tools = createRegistry([...toolsets], this.#deps.toolServices()).specs;
    const before = [buildSystemPrompt({ tools }), spec.ephemeralSystemPrompt ?? ''].reduce((sum, text) => sum + estimateTokens(text), 0);
    const price = await this.#price(spec);
    return estimateRun({ rollouts, promptTokens: survey.promptTokens, systemTokens: before + toolTokens(tools), maxTurns: spec.maxTurns, maxTokens: spec.maxTokens, price });
  }
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > MAX_RUN_FILE_BYTES) throw new RunFileError([`${basename(path)} is larger than 1 MiB: a run file holds options, not data.`]);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new RunFileError([`${path} is not UTF-8 text.`]);
    if (systemCode(error) === '') throw error;
    throw new RunFileError([systemCode(error) === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read (${systemCode(error)}).`]);
  }
}

function filesOf(spec: RunSpec, used: number | null, rollouts: number | null): Plan['files'] {
  if (used === null) return [];
  return [
    { name: 'batch_<n>.jsonl', count: Math.ceil(used / spec.batchSize), rows: rollouts },
    { name: 'trajectories.jsonl', count: 1, rows: rollouts },
    { name: 'checkpoint.json', count: 1, rows: null },
    { name: 'statistics.json', count: 1, rows: null },
    { name: 'run.yaml', count: 1, rows: null },
  ];
}
