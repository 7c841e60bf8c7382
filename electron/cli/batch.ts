import { resolve } from 'node:path';
import type { Engine } from '#engine/engine.ts';
import { REASONING_EFFORTS, type RunSpec, runSpecSchema, type RunSummary } from '#shared/contract/runs.ts';
import { type Command, type CommandHost, EXIT, HOME_OPTION } from './command.ts';
import { type OptionValues, UsageError } from './options.ts';
import { Progress } from './progress.ts';
import { keptCount, printRunSummary, resumeHint } from './run-summary.ts';
import { count, plain } from './terminal.ts';

const DEMO = 'demo';
const OFFLINE_MODEL = 'offline/demo';
const REJECTED_SHOWN = 10;
/** Those with a toolset of this version; a list here, so that --help need not load the tools. */
const DISTRIBUTIONS =
  'default, image_gen, research, science, development, balanced, terminal_only, terminal_web, reasoning, browser_tasks, terminal_tasks, mixed_tasks';

const options = {
  dataset_file: { kind: 'text', value: 'FILE', help: 'JSONL file, one object with a "prompt" per line; "demo" is the bundled dataset.' },
  run_name: { kind: 'text', value: 'NAME', help: 'Name of the run and of its output folder.', required: true },
  batch_size: { kind: 'number', value: 'N', help: 'Prompts per batch_<n>.jsonl file; default 10.', min: 1 },
  model: { kind: 'text', value: 'NAME', help: 'Model as the provider calls it; offline/demo is the scripted demo model.' },
  provider: { kind: 'text', value: 'ID', help: 'Provider of Settings, e.g. openrouter; its key comes from its environment variable or Settings.' },
  base_url: { kind: 'text', value: 'URL', help: 'Any OpenAI-compatible server instead of a provider; most end in /v1. Local ones need no key.' },
  api_key: { kind: 'text', value: 'KEY', help: 'Key for this call only; never stored. Others on this machine may see it in the process list.' },
  num_workers: { kind: 'number', value: 'N', help: 'Prompts worked on at once; default 4.', min: 1, max: 512 },
  max_turns: { kind: 'number', value: 'N', help: 'Model calls per prompt; default 10.', min: 1, max: 1000 },
  max_samples: { kind: 'number', value: 'N', help: 'Only the first N prompts.', min: 1 },
  distribution: { kind: 'text', value: 'NAME', help: `Which toolsets a prompt gets; default "default". These work here: ${DISTRIBUTIONS}.` },
  reasoning_effort: { kind: 'text', value: 'EFFORT', help: 'How much the model should think.', choices: REASONING_EFFORTS },
  output_dir: { kind: 'text', value: 'FOLDER', help: 'Holds the folder of the run; default ./data.' },
  resume: { kind: 'flag', help: 'Go on with this run: what is left, failed or was cancelled. It keeps its options.' },
  home: HOME_OPTION,
} as const;

type Values = OptionValues<typeof options>;
const SPEC_KEYS = ['batch_size', 'model', 'provider', 'base_url', 'num_workers', 'max_turns', 'max_samples', 'distribution', 'reasoning_effort'] as const;

export const batchCommand: Command<typeof options> = {
  name: 'batch',
  summary: 'run an agent over every prompt of a dataset file',
  about: [
    'Writes batch_<n>.jsonl, trajectories.jsonl, checkpoint.json and statistics.json to <output_dir>/<run_name>; the Library has it all too.',
    `A model must be named (--model with --provider or --base_url), but not for --dataset_file=${DEMO}, which the scripted demo model answers.`,
    'Exit code: 0 the run came to its end (failed prompts are named in the summary), 1 it stopped before, or no prompt was completed or partial,',
    '2 wrong options, 130 Ctrl+C.',
  ].join('\n'),
  options,
  async run(values, host) {
    // what can be seen to be wrong is said before a home is opened
    const draft = values.resume ? null : newSpec(values, host);
    const engine = await host.open(values.home);
    const runs = (await engine.client.runs.list()).items;
    const existing = runs.find((r) => r.name === values.run_name);
    if (!existing && values.resume && values.dataset_file === undefined) {
      const names = runs.map((r) => r.name).join(', ') || 'none yet';
      throw new UsageError(`There is no run named ${values.run_name} to resume. There are: ${names}. To start it, give --dataset_file.`);
    }
    const key = values.api_key === undefined ? {} : { apiKey: values.api_key };
    if (existing && !values.resume) {
      host.terminal.err(`A run named ${existing.name} exists already (${existing.state}). Add --resume to go on with it, or choose another --run_name.`);
      return EXIT.stopped;
    }
    let id: string;
    if (existing) {
      refuseOtherOptions(values, existing, host);
      host.terminal.err(`Going on with ${existing.name}: ${left(existing)} of ${count(existing.total, 'prompt')} left.`);
      await engine.resumeRun(existing.id, key);
      id = existing.id;
    } else {
      const wanted = draft ?? newSpec(values, host);
      if (values.resume) host.terminal.err(`There is no run named ${values.run_name} yet; it is started.`);
      const spec = await withDataset(wanted, engine, host);
      ({ id } = await engine.startRun(spec, key));
    }
    return follow(id, engine, values, host);
  },
};

/** Shows the run until it is over; Ctrl+C cancels it. */
async function follow(id: string, engine: Engine, values: Values, host: CommandHost): Promise<number> {
  const { terminal } = host;
  const progress = new Progress(terminal, host.now);
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

/** The run as the options describe it; `demo` is replaced later, when the engine can say where it is. */
function newSpec(values: Values, host: CommandHost): RunSpec {
  if (values.dataset_file === undefined) throw new UsageError('--dataset_file must be given.');
  const isDemo = values.dataset_file === DEMO;
  const { model, provider } = chooseModel(values, isDemo);
  const parsed = runSpecSchema.safeParse({
    datasetFile: isDemo ? DEMO : resolve(host.cwd, values.dataset_file),
    runName: values.run_name,
    batchSize: values.batch_size,
    model,
    provider,
    baseUrl: values.base_url,
    numWorkers: values.num_workers,
    maxTurns: values.max_turns,
    maxSamples: values.max_samples,
    distribution: values.distribution,
    reasoningEffort: values.reasoning_effort,
    outputDir: resolve(host.cwd, values.output_dir ?? 'data'),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  throw new UsageError(name === 'base_url' ? `--base_url must be a whole URL like http://localhost:8000/v1.` : `--${name}: ${issue?.message ?? 'not valid'}`);
}

function chooseModel(values: Values, isDemo: boolean): { model: string; provider: string | undefined } {
  const { model, provider, base_url } = values;
  if (model === undefined) {
    if (isDemo && provider === undefined && base_url === undefined) return { model: OFFLINE_MODEL, provider: 'offline' };
    throw new UsageError(`--model must be given: which model should answer? (${OFFLINE_MODEL} is the scripted demo model, for trying things out.)`);
  }
  if (model === OFFLINE_MODEL && base_url === undefined) return { model, provider: 'offline' };
  if (provider === undefined && base_url === undefined) throw new UsageError(`Where does ${model} run? Give --provider (e.g. openrouter) or --base_url.`);
  return { model, provider: provider ?? 'custom' };
}

/** Puts the demo's path in, and says what in the file is not used. */
async function withDataset(spec: RunSpec, engine: Engine, { terminal }: CommandHost): Promise<RunSpec> {
  const datasetFile = spec.datasetFile === DEMO ? (await engine.client.runs.options()).demoDataset : spec.datasetFile;
  const report = await engine.client.datasets.inspect({ path: datasetFile });
  const used = Math.min(report.rows, spec.maxSamples ?? report.rows);
  const of = used < report.rows ? ` of ${report.rows.toLocaleString('en-US')}` : '';
  const twice = report.duplicates > 0 ? `, ${count(report.duplicates, 'duplicate')} kept` : '';
  terminal.err(`${count(used, 'prompt')}${of} from ${report.name}${twice}; ${spec.model}, ${count(spec.numWorkers, 'worker')}.`);
  for (const r of report.rejected.slice(0, REJECTED_SHOWN)) terminal.err(`  line ${r.line} is not used: ${plain(r.reason)}`);
  if (report.rejectedCount > REJECTED_SHOWN) terminal.err(`  … and ${report.rejectedCount - REJECTED_SHOWN} more lines are not used`);
  return { ...spec, datasetFile };
}

/** A resumed run keeps its options; other ones on the command line would be ignored in silence. */
function refuseOtherOptions(values: Values, run: RunSummary, host: CommandHost): void {
  for (const name of SPEC_KEYS) {
    const key = name.replace(/_(.)/g, (_, c: string) => c.toUpperCase()) as keyof RunSpec;
    if (values[name] === undefined || values[name] === run.spec[key]) continue;
    throw new UsageError(`${run.name} was started with ${run.spec[key] === undefined ? `no --${name}` : `--${name}=${run.spec[key]}`}, and a resumed run keeps its options. Leave --${name} out, or start another run.`);
  }
  const file = values.dataset_file;
  if (file !== undefined && file !== DEMO && resolve(host.cwd, file) !== run.spec.datasetFile) {
    throw new UsageError(`${run.name} was started with --dataset_file=${run.spec.datasetFile}. Leave --dataset_file out (${resumeHint(run.name, values)}), or start another run.`);
  }
}

function left({ states }: RunSummary): number {
  return states.pending + states.failed + states.cancelled + states.running;
}
