import { createHash } from 'node:crypto';
import type { CompressorOptions, CompressorSummary } from '#shared/contract/compressor.ts';
import { ModelError } from '../../model/types.ts';
import { jsonLine } from '../../trajectories/export/json-text.ts';
import { writeAtomically } from '../atomic.ts';
import { type InOut, linesOf } from './files.ts';
import { withValues } from './json-edit.ts';
import type { Turn } from './plan.ts';
import { compressTurns, type RowDeps, type RowMetrics } from './row.ts';
import { Sums } from './sums.ts';

export interface CompressorJob {
  files: readonly InOut[];
  metricsFile: string;
  options: CompressorOptions;
  count: RowDeps['count'];
  summarise: RowDeps['summarise'];
  onRow: (sums: Sums) => void;
  now: () => number;
}

interface Done {
  /** Null: the row is left out. */
  line: string | null;
  metrics: RowMetrics | null;
  failed: boolean;
  unreadable: boolean;
}

/**
 * Compresses JSONL files, at most `maxConcurrentRequests` rows at once, rows in their order. As many rows come out as went in, whatever
 * happens to one; rows that are not compressed keep every byte but the metrics that are added. Files appear when they are whole.
 * Rejects with the signal's reason on abort, with the ModelError of a refused key or an empty account, with the system's error when a file cannot be read or written.
 */
export async function compressFiles(job: CompressorJob, signal: AbortSignal): Promise<CompressorSummary> {
  const startedAt = job.now();
  const sums = new Sums();
  const files: CompressorSummary['files'] = [];
  for (const { input, output } of job.files) {
    let rows = 0;
    await writeAtomically(output, async (out) => {
      const pending: Promise<Done>[] = [];
      let number = 0;
      const takeOne = async (): Promise<void> => {
        const done = await pending.shift()!;
        const line = ++number;
        if (done.unreadable) sums.unreadable.push({ file: input, line });
        sums.add(done.metrics, done);
        if (done.line !== null) {
          await out.write(`${done.line}\n`);
          rows += 1;
        }
        job.onRow(sums);
      };
      try {
        for await (const line of sampled(linesOf(input), input, job.options)) {
          signal.throwIfAborted();
          pending.push(oneRow(line, job, signal));
          pending.at(-1)!.catch(() => undefined);
          if (pending.length >= job.options.maxConcurrentRequests) await takeOne();
        }
        while (pending.length > 0) await takeOne();
      } finally {
        await Promise.allSettled(pending);
      }
    });
    files.push({ input, output, rows });
  }
  const endedAt = job.now();
  await writeAtomically(job.metricsFile, (out) => out.write(`${JSON.stringify(sums.file(startedAt, endedAt), null, 2)}\n`));
  return sums.summary({ files, metricsFile: job.metricsFile, durationMs: endedAt - startedAt });
}

async function oneRow(line: string, job: CompressorJob, signal: AbortSignal): Promise<Done> {
  const row = parsed(line);
  if (row === null) return { line, metrics: null, failed: true, unreadable: line.trim() !== '' };
  const turns = turnsOf(row);
  // rows of another kind pass through
  if (turns === null) return { line, metrics: null, failed: false, unreadable: false };
  const { options, count, summarise } = job;
  const deps = { options, count, summarise, timeoutMs: options.timeoutPerTrajectory * 1000 };
  try {
    const { turns: shorter, metrics } = await compressTurns(turns, deps, signal);
    const isLeftOut = metrics.still_over_limit && !options.saveOverLimit;
    const values = {
      ...(metrics.was_compressed ? { conversations: jsonLine(shorter) } : {}),
      ...(options.rowMetrics ? { compression_metrics: JSON.stringify(metrics) } : {}),
    };
    return { line: isLeftOut ? null : withValues(line, values), metrics, failed: metrics.timed_out, unreadable: false };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelError && error.stopsRun) throw error;
    const fault = error instanceof Error ? error.message : String(error);
    return { line: options.rowMetrics ? withValues(line, { compression_metrics: JSON.stringify(untouched(turns, count, options, fault)) }) : line, metrics: null, failed: true, unreadable: false };
  }
}

function untouched(turns: readonly Turn[], count: RowDeps['count'], { targetMaxTokens }: CompressorOptions, error: string): RowMetrics {
  const tokens = turns.reduce((sum, turn) => sum + count(turn.value), 0);
  return {
    original_tokens: tokens, compressed_tokens: tokens, tokens_saved: 0, compression_ratio: 1, original_turns: turns.length, compressed_turns: turns.length, turns_removed: 0,
    compression_region: { start_idx: -1, end_idx: -1, turns_count: 0 }, was_compressed: false, still_over_limit: tokens > targetMaxTokens, skipped_under_target: tokens <= targetMaxTokens,
    summarization_api_calls: 0, summarization_errors: 0, timed_out: false, error,
  };
}

/** The rows that `samplePercent` and `seed` draw: the same for the same file name and lines, whatever else is read. */
async function* sampled(lines: AsyncIterable<string>, file: string, { samplePercent, seed }: CompressorOptions): AsyncGenerator<string> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    if (samplePercent >= 100) yield line;
    else {
      const name = file.split(/[/\\]/).at(-1) ?? '';
      const draw = createHash('sha256').update(`${seed}\0${name}\0${number}`).digest().readUIntBE(0, 6) / 2 ** 48;
      if (draw * 100 < samplePercent) yield line;
    }
  }
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The turns of a ShareGPT row; null when it is none. */
export function turnsOf(row: Record<string, unknown>): Turn[] | null {
  const list = row['conversations'];
  if (!Array.isArray(list) || list.length === 0) return null;
  const good = list.every((turn: unknown) => typeof turn === 'object' && turn !== null && typeof (turn as Turn).from === 'string' && typeof (turn as Turn).value === 'string');
  return good ? (list as Turn[]) : null;
}
