import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readRunFile, RunFileError, type RunFile, problemSentences } from '#engine/batch/plan/run-file.ts';
import type { Engine } from '#engine/engine.ts';
import type { RunSpec, RunSummary } from '#shared/contract/runs.ts';
import { RUN_OPTION_KEYS, runOptionName, runOptionText } from '#shared/run-options.ts';
import { DEMO_DATASET, readRunSpec, resumeSpec, type RunValues } from '#shared/run-values.ts';
import { batchGroups, batchOptions, type BatchValues, prefixChars, runOptionOf, runValues } from './batch-options.ts';
import { printDistributions, printPlan } from './batch-plan.ts';
import { type Command, type CommandHost, EXIT } from './command.ts';
import { UsageError } from './options.ts';
import { Progress } from './progress.ts';
import { keptCount, printRunSummary, resumeHint } from './run-summary.ts';
import { count, plain } from './terminal.ts';
import { EndedLines } from './verbose.ts';

const REJECTED_SHOWN = 10;

export const batchCommand: Command<typeof batchOptions> = {
  name: 'batch',
  summary: 'run an agent over every prompt of a dataset file',
  about: [
    'Writes batch_<n>.jsonl, trajectories.jsonl, checkpoint.json and statistics.json to <output_dir>/<run_name>; the Library has it all too.',
    `A model must be named (--model with --provider or --base_url), but not for --dataset_file=${DEMO_DATASET}, which the scripted demo model answers.`,
    'Lists are separated by commas; commas within "quotes" and /regular expressions/ are part of an entry.',
    'Exit code: 0 the run came to its end (failed prompts are named in the summary), 1 it stopped before, its name is taken, or no prompt was',
    'completed or partial, 2 wrong options (also what they name and is not there: a file, a column, a distribution), 130 Ctrl+C.',
  ].join('\n'),
  options: batchOptions,
  groups: batchGroups,
  optionOf: runOptionOf,
  async run(values, host) {
    if (values.list_distributions) {
      printDistributions((await (await host.open(values.home)).client.distributions.list()).items, host.terminal);
      return EXIT.ok;
    }
    const given = givenOptions(values, host);
    const goOn = values.resume || values.retry !== undefined;
    // what can be seen to be wrong is said before a home is opened
    const draft = goOn ? null : newSpec(given);
    const engine = await host.open(values.home);
    if (draft && values.dry_run) return dryRun(draft, engine, values, host);
    const runs = (await engine.client.runs.list()).items;
    const name = runOptionText(given.values.runName);
    const existing = runs.find((r) => r.name === name);
    if (!existing && goOn && (given.values.datasetFile === undefined || values.retry !== undefined)) {
      if (name === '') throw new UsageError('--run_name must be given.');
      const names = runs.map((r) => r.name).join(', ') || 'none yet';
      throw new UsageError(`There is no run named ${name} to ${values.retry === undefined ? 'resume' : 'retry'}. There are: ${names}. To start it, give --dataset_file.`);
    }
    if (existing && !goOn) {
      host.terminal.err(`A run named ${existing.name} exists already (${existing.state}). Add --resume to go on with it, or choose another --run_name.`);
      return EXIT.stopped;
    }
    if (existing && values.dry_run) {
      host.terminal.out(`${existing.name} is ${existing.state}: ${left(existing)} of ${count(existing.total, 'rollout')} left. Nothing was run.`);
      return EXIT.ok;
    }
    const id = existing ? await resume(existing, given, engine, values, host) : await start(draft ?? newSpec(given), engine, values, host);
    return follow(id, engine, values, host);
  },
};

/** What the person asked for: a run file under the options of the command line. */
interface Given {
  values: RunValues;
  file: RunFile | null;
  fromLine: RunValues;
}

export function givenOptions(values: BatchValues, host: CommandHost): Given {
  const fromLine = runValues(values, host.cwd);
  if (values.run_file === undefined) return { values: fromLine, file: null, fromLine };
  const path = resolve(host.cwd, values.run_file);
  try {
    const file = readRunFile(readText(path), basename(path), dirname(path));
    return { values: { ...file.values, ...fromLine }, file, fromLine };
  } catch (error) {
    throw error instanceof RunFileError ? new UsageError(error.message) : error;
  }
}

function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `--run_file: there is no file ${path}.` : error instanceof TypeError ? `--run_file: ${path} is not UTF-8 text.` : `--run_file: ${path} cannot be read (${String(code)}).`);
  }
}

/** The run as the options describe it; `demo` is replaced later, when the engine can say where it is. */
export function newSpec(given: Given): RunSpec {
  const { spec, problems } = readRunSpec(given.values);
  if (spec) return spec;
  throw new UsageError(problemSentences(problems, given.file, (key) => given.fromLine[key] === undefined, '--').join('\n'));
}

async function start(wanted: RunSpec, engine: Engine, values: BatchValues, host: CommandHost): Promise<string> {
  if (values.resume) host.terminal.err(`There is no run named ${wanted.runName} yet; it is started.`);
  const spec = await withDataset(wanted, engine, host);
  await warnOfBudget(spec, engine, host);
  return (await engine.startRun(spec, keyOf(values))).id;
}

async function resume(run: RunSummary, given: Given, engine: Engine, values: BatchValues, host: CommandHost): Promise<string> {
  const changes = await changedOptions(run, given, engine, values);
  await warnOfBudget({ ...run.spec, ...changes }, engine, host);
  if (values.retry === undefined) {
    const now = await engine.resumeRun(run.id, { ...keyOf(values), changes });
    if (now.changes !== null && now.changes.at !== run.changes?.at) host.terminal.err(changesSentence(now.changes));
    host.terminal.err(`Going on with ${run.name}: ${left(now)} of ${count(now.total, 'rollout')} left.`);
  } else {
    const what = values.retry as 'failed' | 'discarded';
    host.terminal.err(`Running what was ${what} of ${run.name} again: ${count(run.states[what], 'rollout')}.`);
    await engine.retryRun(run.id, what, { ...keyOf(values), changes });
  }
  return run.id;
}

/** A limit that cannot hold must not be believed in. */
async function warnOfBudget(spec: RunSpec, engine: Engine, { terminal }: CommandHost): Promise<void> {
  if (spec.budgetUsd === undefined) return;
  const { problems } = await engine.client.plans.dryRun(spec);
  for (const { code, message } of problems) if (code === 'budget_unpriced') terminal.err(`WARNING: --budget_usd: ${plain(message)}`);
}

function changesSentence({ added, removed, returned }: NonNullable<RunSummary['changes']>): string {
  const parts = [added > 0 && `${count(added, 'row')} new or changed, which run`, returned > 0 && `${count(returned, 'row')} back`, removed > 0 && `${count(removed, 'row')} gone, which do not run (what they made stays)`];
  return `The dataset was edited since: ${parts.filter((part) => part !== false).join('; ')}.`;
}

/** A resumed run keeps its options but for some; other ones on the command line would be ignored in silence. */
async function changedOptions(run: RunSummary, given: Given, engine: Engine, values: BatchValues): Promise<Partial<RunSpec>> {
  const wanted = { ...given.values, runName: undefined };
  if (wanted.datasetFile === DEMO_DATASET) wanted.datasetFile = (await engine.client.runs.options()).demoDataset;
  if (typeof wanted.outputDir === 'string' && join(wanted.outputDir, run.name) === run.outputDir) wanted.outputDir = undefined;
  const { spec, kept, problems } = resumeSpec(run.spec, wanted);
  const wrong = problemSentences(problems, given.file, (key) => given.fromLine[key] === undefined, '--');
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'));
  if (kept.length > 0) {
    throw new UsageError(
      kept.map(({ key, was }) => {
        const name = `--${runOptionName(key)}`;
        const hint = key === 'datasetFile' ? ` (${resumeHint(run.name, values)})` : '';
        return `${run.name} was started with ${was === '' ? `no ${name}` : `${name}=${was}`}, and a resumed run keeps its options. Leave ${name} out${hint}, or start another run.`;
      }).join('\n'),
    );
  }
  return Object.fromEntries(RUN_OPTION_KEYS.filter((key) => spec[key] !== run.spec[key]).map((key) => [key, spec[key]])) as Partial<RunSpec>;
}

async function dryRun(wanted: RunSpec, engine: Engine, values: BatchValues, { terminal }: CommandHost): Promise<number> {
  const spec = await withDemo(wanted, engine);
  const plan = await engine.client.plans.dryRun(spec);
  // a key of this call is not sent along
  const problems = plan.problems.filter(({ code }) => code !== 'no_key' || values.api_key === undefined);
  printPlan(spec, { ...plan, problems }, terminal);
  const errors = problems.filter(({ level }) => level === 'error');
  // a name that is taken is in the way, but not wrong
  return errors.some(({ field }) => field !== 'runName') ? EXIT.usage : errors.length > 0 ? EXIT.stopped : EXIT.ok;
}

/** Shows the run until it is over; Ctrl+C cancels it. */
export async function follow(id: string, engine: Engine, values: BatchValues, host: CommandHost): Promise<number> {
  const { terminal } = host;
  const progress = new Progress(terminal, host.now);
  const chars = prefixChars(values);
  const lines = chars === null ? null : new EndedLines(id, engine.client, chars);
  let interrupted = false;
  const release = host.onInterrupt(() => {
    interrupted = true;
    progress.end();
    terminal.err('Stopping; Ctrl+C again quits at once.');
    engine.client.runs.cancel({ id }).catch((error: unknown) => terminal.err(error instanceof Error ? error.message : String(error)));
  });
  let run: RunSummary | null = null;
  try {
    for await (const event of await engine.client.runs.watch({ id })) {
      run = event.run;
      const ended = (await lines?.of(event)) ?? [];
      if (ended.length > 0) progress.end();
      for (const line of ended) terminal.out(line);
      if (run.state !== 'running' && run.state !== 'pausing') break;
      progress.show(run);
    }
  } finally {
    progress.end();
    release();
  }
  if (!run) throw new Error('The run vanished from the store');
  await printRunSummary(run, engine, terminal, values);
  if (run.state === 'completed') return keptCount(run) > 0 ? EXIT.ok : EXIT.stopped;
  return interrupted ? EXIT.interrupted : EXIT.stopped;
}

/** Puts the demo's path in, and says what in the file is not used. */
async function withDataset(wanted: RunSpec, engine: Engine, { terminal }: CommandHost): Promise<RunSpec> {
  const spec = await withDemo(wanted, engine);
  const report = await engine.client.datasets.inspect({ path: spec.datasetFile, shape: spec.datasetShape, columns: spec.columns });
  const used = Math.min(report.rows, spec.maxSamples ?? report.rows);
  const of = used < report.rows ? ` of ${report.rows.toLocaleString('en-US')}` : '';
  const twice = report.duplicates > 0 ? `, ${count(report.duplicates, 'duplicate')} kept` : '';
  const times = spec.rollouts > 1 ? ` × ${spec.rollouts} rollouts` : '';
  terminal.err(`${count(used, 'prompt')}${of}${times} from ${report.name}${twice}; ${spec.model}, ${count(spec.numWorkers, 'worker')}.`);
  for (const r of report.rejected.slice(0, REJECTED_SHOWN)) terminal.err(`  line ${r.line} is not used: ${plain(r.reason)}`);
  if (report.rejectedCount > REJECTED_SHOWN) terminal.err(`  … and ${report.rejectedCount - REJECTED_SHOWN} more lines are not used`);
  return spec;
}

export async function withDemo(spec: RunSpec, engine: Engine): Promise<RunSpec> {
  return spec.datasetFile === DEMO_DATASET ? { ...spec, datasetFile: (await engine.client.runs.options()).demoDataset } : spec;
}

export function keyOf(values: BatchValues): { apiKey?: string } {
  return values.api_key === undefined ? {} : { apiKey: values.api_key };
}

function left({ states }: RunSummary): number {
  return states.pending + states.failed + states.cancelled + states.running;
}
