import type { PromptState, RunSpec } from '#shared/contract/runs.ts';
import { knownToolStats } from './row.ts';
import type { Totals } from './totals.ts';

export interface StatisticsInput {
  spec: RunSpec;
  scripted: boolean;
  total: number;
  counts: Readonly<Partial<Record<PromptState, number>>>;
  totals: Totals;
  /** Active time over all passes. */
  elapsedMs: number;
  /** Epoch ms. */
  at: number;
  rows: { written: number; completed: number; partial: number };
}

/**
 * `statistics.json`: the keys of Hermes Agent's batch runner (rates in percent of success + failure), then ours. Everything is over
 * all passes of the run.
 */
export function statisticsJson(s: StatisticsInput): Record<string, unknown> {
  const tools = Object.entries(knownToolStats(s.totals.toolStats)).map(([name, t]) => {
    const ended = t.success + t.failure;
    const rate = (n: number) => (ended === 0 ? 0 : round2((100 * n) / ended));
    return [name, { ...t, success_rate: rate(t.success), failure_rate: rate(t.failure) }] as const;
  });
  const { turns, turnsWithReasoning, usage, lost } = s.totals;
  const outcome = (state: PromptState) => s.counts[state] ?? 0;
  return {
    run_name: s.spec.runName,
    distribution: s.spec.distribution,
    total_prompts: s.total,
    total_batches: Math.ceil(s.total / s.spec.batchSize),
    batch_size: s.spec.batchSize,
    model: s.spec.model,
    completed_at: new Date(s.at).toISOString(),
    duration_seconds: round2(s.elapsedMs / 1000),
    tool_statistics: Object.fromEntries(tools),
    reasoning_statistics: {
      total_assistant_turns: turns,
      turns_with_reasoning: turnsWithReasoning,
      turns_without_reasoning: turns - turnsWithReasoning,
    },
    scripted: s.scripted,
    outcomes: {
      completed: outcome('completed'),
      partial: outcome('partial'),
      failed: outcome('failed'),
      discarded: outcome('discarded'),
      cancelled: outcome('cancelled'),
      not_run: outcome('pending') + outcome('running'),
    },
    rows: s.rows,
    tokens: {
      prompt: usage.promptTokens,
      completion: usage.completionTokens,
      reasoning: usage.reasoningTokens,
      cached: usage.cachedTokens,
      of_repeated_attempts: lost.promptTokens + lost.completionTokens,
    },
  };
}

function round2(n: number): number {
  return Math.round(n * 100) / 100;
}
