import { access, mkdir, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { CompressorEvent, CompressorOptions, CompressorRequest, CompressorSource, CompressorSummary } from '#shared/contract/compressor.ts';
import { type ExportEvent, type ExportRequest, exportRequestSchema, type ExportSummary } from '#shared/contract/exports.ts';
import type { SpendLedger } from '../../model/spend.ts';
import { type ChatModel, ModelError } from '../../model/types.ts';
import { BatchError, systemCode } from '../errors.ts';
import { withProgress } from '../progress.ts';
import { counterOf } from './count.ts';
import { filesOf, type InOut, linesOf } from './files.ts';
import { compressFiles, turnsOf } from './job.ts';
import { planCompression } from './plan.ts';
import { createSummariser } from './summarise.ts';
import type { Sums } from './sums.ts';

const PROGRESS_MS = 200;
const RUN_FILE = 'trajectories.jsonl';
const METRICS_FILE = 'compression_metrics.json';

type Progress = Extract<CompressorEvent, { type: 'progress' }>;

export interface CompressorDeps {
  createModel: (choice: { provider: string; model: string; baseUrl?: string | undefined }, key: { apiKey?: string }) => Promise<ChatModel>;
  spend: Pick<SpendLedger, 'record'>;
  /** Of a run. Throws when it is gone. */
  run: (id: string) => { name: string; outputDir: string };
  exportRows: (request: ExportRequest, signal: AbortSignal) => AsyncIterable<ExportEvent>;
  /** Where the rows of selections go. */
  exportsFolder: string;
  now: () => number;
}

/**
 * The trajectory compressor over a run, a selection of the Library, or files: rows above a number of tokens have their middle replaced by
 * a summary. Expected failures are BatchErrors.
 */
export class CompressorService {
  readonly #deps: CompressorDeps;

  constructor(deps: CompressorDeps) {
    this.#deps = deps;
  }

  /** Progress, then the summary. Ending the iteration, or `signal`, cancels: the file under way is not left, whole ones stay. */
  async *run(request: CompressorRequest, signal?: AbortSignal, key: { apiKey?: string } = {}): AsyncGenerator<CompressorEvent> {
    const summary = yield* withProgress<Progress, CompressorSummary>((report, stop) => this.#compress(request, key, report, stop), signal);
    yield { type: 'done', summary };
  }

  async #compress({ source, output, overwrite, options }: CompressorRequest, key: { apiKey?: string }, report: (progress: Progress) => void, signal: AbortSignal): Promise<CompressorSummary> {
    const { createModel, spend, now } = this.#deps;
    const counter = await counterOf(options.tokenizer);
    const model = await createModel({ provider: options.baseUrl === undefined ? options.provider : 'custom', model: options.model, baseUrl: options.baseUrl }, key);
    const summarise = createSummariser({ model, temperature: options.temperature, targetTokens: options.summaryTargetTokens, onAnswer: (answer) => {
      const { provider, model: name } = answer.servedBy ?? model.endpoint;
      if (answer.usage) spend.record({ purpose: 'compression', provider, model: name, usage: answer.usage, costUsd: answer.costUsd });
    } });
    const { files, remove } = await this.#files(source, output, options, signal);
    try {
      const metricsFile = await prepared(files, overwrite);
      const total = await countRows(files);
      let shownAt = 0;
      const onRow = (sums: Sums): void => {
        if (now() - shownAt < PROGRESS_MS) return;
        shownAt = now();
        report({ type: 'progress', done: sums.rows, total, compressed: sums.compressed, tokensSaved: sums.tokensSaved });
      };
      return await compressFiles({ files, metricsFile, options, count: counter.count, summarise, now, onRow }, signal);
    } catch (error) {
      throw asBatchError(error, files[0]!.output);
    } finally {
      await remove();
    }
  }

  /** What would be compressed; asks no model and writes nothing that stays. */
  async preview({ source, options }: Pick<CompressorRequest, 'source' | 'options'>, signal: AbortSignal = new AbortController().signal) {
    const counter = await counterOf(options.tokenizer);
    const { files, remove } = await this.#files(source, undefined, options, signal);
    const found = { rows: 0, overTarget: 0, compressible: 0, tokens: 0, largest: 0, tokenizer: counter.name };
    try {
      for (const { input } of files) {
        for await (const line of linesOf(input)) {
          signal.throwIfAborted();
          if (line.trim() === '') continue;
          found.rows += 1;
          const turns = turnsIn(line);
          if (turns === null) continue;
          const tokens = turns.map((turn) => counter.count(turn.value));
          const total = tokens.reduce((sum, n) => sum + n, 0);
          found.tokens += total;
          found.largest = Math.max(found.largest, total);
          const plan = planCompression(turns, tokens, options);
          if (plan.kind !== 'under_target') found.overTarget += 1;
          if (plan.kind === 'compress') found.compressible += 1;
        }
      }
      return found;
    } catch (error) {
      throw asBatchError(error, files[0]?.input ?? '');
    } finally {
      await remove();
    }
  }

  async #files(source: CompressorSource, output: string | undefined, options: CompressorOptions, signal: AbortSignal): Promise<{ files: InOut[]; remove: () => Promise<void> }> {
    if (output !== undefined && !isAbsolute(output)) throw new BatchError('invalid', 'Give the whole path of the output.', { field: 'output' });
    const nothing = async (): Promise<void> => {};
    if (source.kind === 'run') {
      const { name, outputDir } = this.#deps.run(source.id);
      const input = join(outputDir, RUN_FILE);
      await access(input).catch(() => {
        throw new BatchError('invalid', `${name} has no ${RUN_FILE} yet: it is written when the run ends or is paused.`, { field: 'source' });
      });
      return { files: await filesOf(input, output, options.suffix), remove: nothing };
    }
    if (source.kind === 'files') {
      if (!isAbsolute(source.path)) throw new BatchError('invalid', 'Give the whole path of the file or folder.', { field: 'source' });
      return { files: await filesOf(source.path, output, options.suffix), remove: nothing };
    }
    const folder = join(this.#deps.exportsFolder, `.compress-${randomBytes(6).toString('hex')}`);
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, 'selection.jsonl');
      let done: ExportSummary | null = null;
      const { filter, includePartial, includeScripted } = source;
      const request = exportRequestSchema.parse({ filter, includePartial, includeScripted, file, overwrite: true });
      for await (const event of this.#deps.exportRows(request, signal)) if (event.type === 'done') done = event.summary;
      if (!done?.written) {
        const why = (done?.leftOut ?? []).map(({ count, reason }) => `${count} left out: ${reason}`).join('; ');
        throw new BatchError('invalid', `No trajectory of this selection is fit for a file${why === '' ? '' : ` (${why})`}.`, { field: 'source' });
      }
      return { files: [{ input: file, output: output ?? join(this.#deps.exportsFolder, `selection${options.suffix}.jsonl`) }], remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

/** Makes the folder and refuses to write over anything unasked. Returns where the metrics go. */
async function prepared(files: readonly InOut[], overwrite: boolean): Promise<string> {
  const folder = dirname(files[0]!.output);
  const metricsFile = join(folder, METRICS_FILE);
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw asBatchError(error, folder);
  }
  for (const { input, output } of files) {
    if (input === output) throw new BatchError('invalid', `${output} is the input itself. Choose another output.`, { field: 'output' });
    if (!overwrite && (await exists(output))) throw new BatchError('conflict', `${output} exists already. Choose another output, or allow to replace it.`, { field: 'output' });
  }
  if (!overwrite && (await exists(metricsFile))) throw new BatchError('conflict', `${metricsFile} exists already: the numbers of another pass. Choose an output in another folder, or allow to replace it.`, { field: 'output' });
  return metricsFile;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false);
}

async function countRows(files: readonly InOut[]): Promise<number> {
  let rows = 0;
  for (const { input } of files) for await (const line of linesOf(input)) if (line.trim() !== '') rows += 1;
  return rows;
}

function turnsIn(line: string) {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? turnsOf(value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function asBatchError(error: unknown, place: string): unknown {
  if (error instanceof ModelError) return new BatchError('unavailable', `${error.message} Nothing was written.`, { field: 'provider', cause: error });
  const code = systemCode(error);
  if (error instanceof BatchError || code === '') return error;
  const said = error instanceof Error ? error.message : String(error);
  const sentence =
    code === 'ENOSPC' || code === 'EDQUOT' ? `There is no space left on the disk that holds ${place}. Free some space and compress again; no partial file was left.`
    : ['EACCES', 'EPERM', 'EROFS'].includes(code) ? `${place} may not be written. Correct the permissions, or choose another output.`
    : code.startsWith('Z_') ? `${place}: the gzip file is damaged (${said}).`
    : `${place} cannot be worked on: ${said}.`;
  return new BatchError('unavailable', sentence, { field: 'output', cause: error });
}
