import { planCompression, type Turn } from './plan.ts';
import type { CompressorOptions } from '#shared/contract/compressor.ts';

export const SUMMARY_MARK = '[CONTEXT SUMMARY]:';

/** `compression_metrics` of a row, with the keys of Hermes Agent's trajectory compressor and two of ours at the end. */
export interface RowMetrics {
  original_tokens: number;
  compressed_tokens: number;
  tokens_saved: number;
  /** compressed / original, 4 decimals. */
  compression_ratio: number;
  original_turns: number;
  compressed_turns: number;
  turns_removed: number;
  compression_region: { start_idx: number; end_idx: number; turns_count: number };
  was_compressed: boolean;
  still_over_limit: boolean;
  skipped_under_target: boolean;
  summarization_api_calls: number;
  summarization_errors: number;
  timed_out: boolean;
  /** Why the row stayed as it was though it is over the limit; empty otherwise. */
  error: string;
}

export interface RowDeps {
  options: CompressorOptions;
  count: (text: string) => number;
  /** A summary of turns, or why there is none. `calls` counts the model calls that were made. */
  summarise: (turns: readonly Turn[], signal: AbortSignal) => Promise<{ text: string; calls: number } | { error: string; calls: number }>;
  /** Of one row. */
  timeoutMs: number;
}

/**
 * Compresses the turns of one row. What it returns is never longer than what it got: a row that cannot be made shorter, whose time is up,
 * or on which something fails comes back as it was, and its metrics say so. Rejects only when `signal` says stop.
 */
export async function compressTurns(turns: readonly Turn[], deps: RowDeps, signal: AbortSignal): Promise<{ turns: readonly Turn[]; metrics: RowMetrics }> {
  const { options, count } = deps;
  const tokens = turns.map((turn) => count(turn.value));
  const total = sum(tokens);
  const metrics: RowMetrics = {
    original_tokens: total,
    compressed_tokens: total,
    tokens_saved: 0,
    compression_ratio: 1,
    original_turns: turns.length,
    compressed_turns: turns.length,
    turns_removed: 0,
    compression_region: { start_idx: -1, end_idx: -1, turns_count: 0 },
    was_compressed: false,
    still_over_limit: total > options.targetMaxTokens,
    skipped_under_target: total <= options.targetMaxTokens,
    summarization_api_calls: 0,
    summarization_errors: 0,
    timed_out: false,
    error: '',
  };
  const plan = planCompression(turns, tokens, options, options.addSummaryNotice ? count(options.summaryNotice) : 0);
  if (plan.kind !== 'compress') return { turns, metrics };
  const region = turns.slice(plan.start, plan.end);
  const outcome = await withinTime(deps, region, signal);
  if (outcome === null) return { turns, metrics: { ...metrics, timed_out: true, error: `no summary within ${deps.timeoutMs / 1000} s` } };
  metrics.summarization_api_calls = outcome.calls;
  let text: string;
  if ('error' in outcome) {
    metrics.summarization_errors = 1;
    text = withoutModel(region);
  } else text = outcome.text;
  const summary: Turn = { from: humanName(turns), value: text.startsWith(SUMMARY_MARK) ? text : `${SUMMARY_MARK} ${text}` };
  const shorter = noticed([...turns.slice(0, plan.start), summary, ...turns.slice(plan.end)], options);
  const after = sum(shorter.map((turn) => count(turn.value)));
  if (after >= total) return { turns, metrics: { ...metrics, error: 'error' in outcome ? outcome.error : 'the summary was as long as what it stood for' } };
  return {
    turns: shorter,
    metrics: {
      ...metrics,
      compressed_tokens: after,
      tokens_saved: total - after,
      compression_ratio: Math.round((after / total) * 10_000) / 10_000,
      compressed_turns: shorter.length,
      turns_removed: turns.length - shorter.length,
      compression_region: { start_idx: plan.start, end_idx: plan.end, turns_count: region.length },
      was_compressed: true,
      still_over_limit: after > options.targetMaxTokens,
      error: 'error' in outcome ? outcome.error : '',
    },
  };
}

async function withinTime({ summarise, timeoutMs }: RowDeps, region: readonly Turn[], signal: AbortSignal): Promise<Awaited<ReturnType<RowDeps['summarise']>> | null> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  const { promise: stopped, resolve } = Promise.withResolvers<null>();
  const stop = (): void => resolve(null);
  either.addEventListener('abort', stop, { once: true });
  try {
    const outcome = await Promise.race([summarise(region, either), stopped]);
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return null;
    throw error;
  } finally {
    either.removeEventListener('abort', stop);
  }
}

/** The row's own word for a person's turn. */
function humanName(turns: readonly Turn[]): string {
  return turns.some((turn) => turn.from === 'user') && !turns.some((turn) => turn.from === 'human') ? 'user' : 'human';
}

function noticed(turns: readonly Turn[], { addSummaryNotice, summaryNotice }: CompressorOptions): Turn[] {
  return turns.map((turn, i) => (addSummaryNotice && i === 0 && turn.from === 'system' && !turn.value.includes(summaryNotice) ? { ...turn, value: `${turn.value}\n\n${summaryNotice}` } : turn));
}

const CALL_NAME = /<tool_call>\s*\{\s*"name"\s*:\s*"([^"\\]{1,100})"/g;

/** What can be said of turns without a model. */
function withoutModel(region: readonly Turn[]): string {
  const calls = new Map<string, number>();
  for (const { value } of region) for (const [, name = ''] of value.matchAll(CALL_NAME)) calls.set(name, (calls.get(name) ?? 0) + 1);
  const tools = [...calls].map(([name, n]) => `${name} (${n})`).join(', ');
  return `${SUMMARY_MARK} ${region.length} turns are left out here.${tools === '' ? '' : ` Tools were called in them: ${tools}.`} No summary of them could be written.`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
