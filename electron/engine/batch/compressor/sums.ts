import type { CompressorSummary } from '#shared/contract/compressor.ts';
import type { RowMetrics } from './row.ts';

/** What a pass has done so far. */
export class Sums {
  rows = 0;
  compressed = 0;
  readonly unreadable: { file: string; line: number }[] = [];
  #underTarget = 0;
  #stillOverLimit = 0;
  #failed = 0;
  #timedOut = 0;
  #leftOut = 0;
  #tokensBefore = 0;
  #tokensAfter = 0;
  #turnsBefore = 0;
  #turnsAfter = 0;
  #calls = 0;
  #errors = 0;
  #savedByCompressed = 0;
  #ratios = 0;
  #removedByCompressed = 0;

  get tokensSaved(): number {
    return this.#tokensBefore - this.#tokensAfter;
  }

  add(m: RowMetrics | null, { failed, line }: { failed: boolean; line: string | null }): void {
    this.rows += 1;
    if (failed) this.#failed += 1;
    if (line === null) this.#leftOut += 1;
    if (m === null) return;
    this.#tokensBefore += m.original_tokens;
    this.#tokensAfter += m.compressed_tokens;
    this.#turnsBefore += m.original_turns;
    this.#turnsAfter += m.compressed_turns;
    this.#calls += m.summarization_api_calls;
    this.#errors += m.summarization_errors;
    if (m.skipped_under_target) this.#underTarget += 1;
    if (m.still_over_limit) this.#stillOverLimit += 1;
    if (m.timed_out) this.#timedOut += 1;
    if (!m.was_compressed) return;
    this.compressed += 1;
    this.#savedByCompressed += m.tokens_saved;
    this.#ratios += m.compression_ratio;
    this.#removedByCompressed += m.turns_removed;
  }

  /** `compression_metrics.json` with the keys of Hermes Agent's trajectory compressor. */
  file(startedAt: number, endedAt: number): Record<string, unknown> {
    const share = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000);
    return {
      summary: {
        total_trajectories: this.rows,
        trajectories_compressed: this.compressed,
        trajectories_skipped_under_target: this.#underTarget,
        trajectories_still_over_limit: this.#stillOverLimit,
        trajectories_failed: this.#failed,
        compression_rate: share(this.compressed, this.rows),
      },
      tokens: { total_before: this.#tokensBefore, total_after: this.#tokensAfter, total_saved: this.tokensSaved, overall_compression_ratio: share(this.#tokensAfter, this.#tokensBefore) },
      turns: { total_before: this.#turnsBefore, total_after: this.#turnsAfter, total_removed: this.#turnsBefore - this.#turnsAfter },
      averages: {
        avg_compression_ratio: share(this.#ratios, this.compressed),
        avg_tokens_saved: share(this.#savedByCompressed, this.compressed),
        avg_turns_removed: share(this.#removedByCompressed, this.compressed),
      },
      summarization: { total_api_calls: this.#calls, total_errors: this.#errors, success_rate: share(Math.max(0, this.#calls - this.#errors), this.#calls) },
      processing: { start_time: new Date(startedAt).toISOString(), end_time: new Date(endedAt).toISOString(), duration_seconds: Math.round((endedAt - startedAt) / 10) / 100 },
    };
  }

  summary(rest: Pick<CompressorSummary, 'files' | 'metricsFile' | 'durationMs'>): CompressorSummary {
    return {
      ...rest,
      rows: this.rows,
      compressed: this.compressed,
      underTarget: this.#underTarget,
      stillOverLimit: this.#stillOverLimit,
      failed: this.#failed,
      timedOut: this.#timedOut,
      leftOut: this.#leftOut,
      tokensBefore: this.#tokensBefore,
      tokensAfter: this.#tokensAfter,
      summaryCalls: this.#calls,
      summaryErrors: this.#errors,
      unreadable: this.unreadable.slice(0, 100),
    };
  }
}
