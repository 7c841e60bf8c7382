import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { optionsOfFile } from '#engine/batch/compressor/options.ts';
import { type CompressorOptions, compressorOptionsSchema, type CompressorSummary } from '#shared/contract/compressor.ts';
import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { noRun, type OptionValues, UsageError } from './options.ts';
import { count, duration, plain } from './terminal.ts';

const d = compressorOptionsSchema.parse({});

const options = {
  input: { kind: 'text', value: 'PATH', help: 'A JSONL file of ShareGPT rows (also .gz), or a folder of them.' },
  run: { kind: 'text', value: 'NAME', help: 'The trajectories.jsonl of this run instead of --input.' },
  output: { kind: 'text', value: 'PATH', help: `Where to write; beside the input with the suffix ${d.suffix} when left out.` },
  config: { kind: 'text', value: 'FILE', help: 'YAML as for Hermes Agent’s compressor; options given here go before it.' },
  target_max_tokens: { kind: 'number', value: 'N', help: `Rows above it are compressed; default ${d.targetMaxTokens}.`, min: 1 },
  summary_target_tokens: { kind: 'number', value: 'N', help: `Length of a summary; default ${d.summaryTargetTokens}.`, min: 1 },
  protect_last_n_turns: { kind: 'number', value: 'N', help: `Turns of the end that stay; default ${d.protectLastTurns}.`, min: 0 },
  tokenizer: { kind: 'text', value: 'FOLDER', help: 'Folder with tokenizer.json; four characters count as a token without one.' },
  provider: { kind: 'text', value: 'ID', help: `Provider of Settings that writes the summaries; default ${d.provider}.` },
  base_url: { kind: 'text', value: 'URL', help: 'Any OpenAI-compatible server instead of a provider.' },
  api_key: { kind: 'text', value: 'KEY', help: 'Key for this call only; never stored. Others on this machine may see it in the process list.' },
  model: { kind: 'text', value: 'NAME', help: `Writes the summaries; default ${d.model}.` },
  temperature: { kind: 'text', value: 'X', help: `Of the summaries; default ${d.temperature}.` },
  max_concurrent_requests: { kind: 'number', value: 'N', help: `Rows at once; default ${d.maxConcurrentRequests}.`, min: 1, max: 512 },
  per_trajectory_timeout: { kind: 'number', value: 'SECONDS', help: `A row that takes longer stays as it was; default ${d.timeoutPerTrajectory}.`, min: 1 },
  sample_percent: { kind: 'text', value: 'X', help: 'Only so much of the rows; default 100.' },
  seed: { kind: 'number', value: 'N', help: `Of that sample; default ${d.seed}.`, min: 0 },
  dry_run: { kind: 'flag', help: 'Only count: no model call, nothing written.' },
  overwrite: { kind: 'flag', help: 'Replace existing outputs, compression_metrics.json among them.' },
  home: HOME_OPTION,
} as const;
type Values = OptionValues<typeof options>;

/** Command-line name to option, where they differ by more than their case. */
const NAMES = {
  target_max_tokens: 'targetMaxTokens',
  summary_target_tokens: 'summaryTargetTokens',
  protect_last_n_turns: 'protectLastTurns',
  tokenizer: 'tokenizer',
  provider: 'provider',
  base_url: 'baseUrl',
  model: 'model',
  temperature: 'temperature',
  max_concurrent_requests: 'maxConcurrentRequests',
  per_trajectory_timeout: 'timeoutPerTrajectory',
  sample_percent: 'samplePercent',
  seed: 'seed',
} as const satisfies Record<string, keyof CompressorOptions>;

export const compressCommand: Command<typeof options> = {
  name: 'compress',
  summary: 'shorten trajectories that are too long to train on',
  about: [
    'Replaces the middle of rows above a number of tokens by a summary that a model writes. As many rows come out as went in; what could not',
    'be compressed stays as it was and is marked in its compression_metrics. Writes compression_metrics.json beside the output.',
    'Exit code: 0 it came to its end, 1 it did not, or an output exists already, 2 wrong options, 130 Ctrl+C.',
  ].join('\n'),
  options,
  optionOf(field, { run }) {
    if (field === 'source') return run === undefined ? 'input' : 'run';
    return field === 'output' ? field : field === 'id' ? 'provider' : optionNamed(field);
  },
  async run(values, host) {
    const { terminal } = host;
    if ((values.input === undefined) === (values.run === undefined)) throw new UsageError('Give either --input or --run.');
    const chosen = optionsFrom(values, host.cwd);
    const engine = await host.open(values.home);
    const { client } = engine;
    let runId: string | undefined;
    if (values.run !== undefined) {
      const { items } = await client.runs.list();
      runId = items.find((r) => r.name === values.run)?.id;
      if (runId === undefined) throw noRun(values.run, items);
    }
    const source = runId === undefined ? { kind: 'files' as const, path: resolve(host.cwd, values.input ?? '') } : { kind: 'run' as const, id: runId };
    if (values.dry_run) {
      const found = await client.compressor.preview({ source, options: chosen });
      const by = found.tokenizer === 'estimate' ? 'estimated as a quarter of the characters' : `by ${found.tokenizer}`;
      terminal.out(`${count(found.rows, 'row')}, ${found.tokens.toLocaleString('en-US')} tokens (${by}), ${found.largest.toLocaleString('en-US')} in the longest.`);
      terminal.out(`${found.overTarget} above ${chosen.targetMaxTokens.toLocaleString('en-US')} tokens, ${found.compressible} of them can be compressed: as many model calls.`);
      return EXIT.ok;
    }
    const abort = new AbortController();
    const release = host.onInterrupt(() => abort.abort());
    try {
      const request = { source, options: chosen, overwrite: values.overwrite, ...(values.output === undefined ? {} : { output: resolve(host.cwd, values.output) }) };
      for await (const event of engine.compress(request, values.api_key === undefined ? {} : { apiKey: values.api_key }, abort.signal)) {
        if (event.type === 'progress') terminal.err(`${event.done}/${event.total} rows · ${event.compressed} compressed · ${event.tokensSaved.toLocaleString('en-US')} tokens saved`);
        else printSummary(event.summary, terminal);
      }
      return EXIT.ok;
    } catch (error) {
      if (!abort.signal.aborted) {
        const { code, message } = error as { code?: unknown; message: string };
        if (code !== 'conflict') throw error;
        terminal.err(message.replace('allow to replace it', 'add --overwrite to replace it'));
        return EXIT.stopped;
      }
      terminal.err('Cancelled; the file under way was not written.');
      return EXIT.interrupted;
    } finally {
      release();
    }
  },
};

function optionsFrom(values: Values, cwd: string): CompressorOptions {
  const given: Record<string, unknown> = values.config === undefined ? {} : fromFile(resolve(cwd, values.config));
  for (const [name, key] of Object.entries(NAMES)) {
    const value = values[name as keyof typeof NAMES];
    if (value !== undefined) given[key] = key === 'temperature' || key === 'samplePercent' ? Number(value) : value;
  }
  if (typeof given['tokenizer'] === 'string') given['tokenizer'] = resolve(cwd, given['tokenizer']);
  const parsed = compressorOptionsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0]);
  throw new UsageError(`--${optionNamed(field) ?? field}: ${issue?.message ?? 'not valid'}`);
}

function optionNamed(field: string): string | undefined {
  return Object.entries(NAMES).find(([, key]) => key === field)?.[0];
}

function fromFile(file: string): Record<string, unknown> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  try {
    return optionsOfFile(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function printSummary(s: CompressorSummary, terminal: Parameters<Command['run']>[1]['terminal']): void {
  for (const f of s.files) terminal.out(`${count(f.rows, 'row')} written to ${f.output}.`);
  const n = (value: number) => value.toLocaleString('en-US');
  terminal.out(`${n(s.compressed)} of ${count(s.rows, 'row')} compressed in ${duration(s.durationMs)}: ${n(s.tokensBefore)} → ${n(s.tokensAfter)} tokens, ${count(s.summaryCalls, 'model call')}.`);
  terminal.out(`  ${n(s.underTarget)} were short enough, ${n(s.stillOverLimit)} are still too long${s.leftOut > 0 ? ` (${n(s.leftOut)} left out)` : ''}.`);
  if (s.timedOut > 0) terminal.out(`  ${n(s.timedOut)} took too long and stayed as they were; compress again, or raise --per_trajectory_timeout.`);
  if (s.summaryErrors > 0) terminal.out(`  ${n(s.summaryErrors)} summaries could not be written by the model; a plain note stands in their place.`);
  for (const u of s.unreadable) terminal.out(`  ${plain(u.file)} line ${u.line} is no JSON object; it was kept as it is.`);
  terminal.out(`Metrics in ${s.metricsFile}.`);
}
