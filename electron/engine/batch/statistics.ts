import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { PromptState } from '#shared/contract/runs.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { quantile } from './dashboard/numbers.ts';
import { knownToolStats } from './row.ts';
import type { RunRecord } from './run-store.ts';
import type { Totals } from './totals.ts';

const PAGE_PROMPTS = 2_000;

export interface StatisticsInput {
  run: RunRecord;
  totals: Totals;
  /** Active time over all passes. */
  elapsedMs: number;
  /** Epoch ms. */
  at: number;
  rows: { written: number; completed: number; partial: number };
  collected: CollectedStatistics;
}

/** What the sums of a run do not tell: counted over its trajectories as they are stored, so over all passes. */
export interface CollectedStatistics {
  exitReasons: Record<string, number>;
  /** Priced calls of all attempts, US dollars. */
  costUsd: number;
  /** Of ended rollouts, ms, rising. */
  durations: Float64Array;
  /** Rows of the dataset with more than one kept rollout. */
  groups: { count: number; whole: number; allEqual: number; rewarded: number };
  rewards: { count: number; sum: number };
  /** By the name of a score rule. */
  rules: Record<string, { count: number; sum: number; unknown: number }>;
}

/** Walks the trajectories of a run, a page at a time; others get their turn between pages. */
export async function collectStatistics(db: Database, run: RunRecord): Promise<CollectedStatistics> {
  const { rollouts } = run.spec;
  const durations: number[] = [];
  const out = {
    exitReasons: table<number>(),
    costUsd: db.get(sqlFor.selectFrom('runs').select('cost_usd').where('id', '=', run.id))?.cost_usd ?? 0,
    groups: { count: 0, whole: 0, allEqual: 0, rewarded: 0 },
    rewards: { count: 0, sum: 0 },
    rules: table<{ count: number; sum: number; unknown: number }>(),
  };
  for (let from = 0; from * rollouts < run.total; from += PAGE_PROMPTS) {
    const page = sqlFor
      .selectFrom('trajectories')
      .where('run_id', '=', run.id)
      .where('prompt_index', '>=', from)
      .where('prompt_index', '<', from + PAGE_PROMPTS)
      .where('state', '=', 'ended');
    const ended = db.all(page.select(['prompt_index', 'outcome', 'exit_reason', 'reward', 'created_at', 'ended_at']).orderBy('prompt_index').orderBy('rollout'));
    const groups = new Map<number, (number | null)[]>();
    for (const t of ended) {
      out.exitReasons[t.exit_reason ?? 'unknown'] = (out.exitReasons[t.exit_reason ?? 'unknown'] ?? 0) + 1;
      if (t.ended_at !== null) durations.push(Math.max(0, t.ended_at - t.created_at));
      if (t.reward !== null) {
        out.rewards.count += 1;
        out.rewards.sum += t.reward;
      }
      if (t.outcome !== 'completed' && t.outcome !== 'partial') continue;
      const group = groups.get(t.prompt_index!) ?? [];
      groups.set(t.prompt_index!, [...group, t.reward]);
    }
    for (const rewards of groups.values()) {
      if (rewards.length < 2) continue;
      out.groups.count += 1;
      if (rewards.length === rollouts) out.groups.whole += 1;
      if (rewards.includes(null)) continue;
      out.groups.rewarded += 1;
      if (rewards.every((r) => r === rewards[0])) out.groups.allEqual += 1;
    }
    const scores = db.all(
      sqlFor
        .selectFrom('scores as s')
        .select((eb) => ['s.name', eb.fn.countAll<number>().as('rows'), eb.fn.count<number>('s.value').as('count'), eb.fn.sum<number | null>('s.value').as('sum')])
        .where('s.trajectory_n', 'in', page.select('n'))
        .groupBy('s.name'),
    );
    for (const s of scores) {
      const rule = (out.rules[s.name] ??= { count: 0, sum: 0, unknown: 0 });
      rule.count += s.count;
      rule.sum += s.sum ?? 0;
      rule.unknown += s.rows - s.count;
    }
    await yieldToOthers();
  }
  return { ...out, durations: Float64Array.from(durations).sort() };
}

/**
 * `statistics.json`: the keys of Hermes Agent's batch runner (rates in percent of success + failure), then ours. Everything is over
 * all passes of the run.
 */
export function statisticsJson({ run, totals, elapsedMs, at, rows, collected }: StatisticsInput): Record<string, unknown> {
  const { spec } = run;
  const tools = Object.entries(knownToolStats(totals.toolStats)).map(([name, t]) => {
    const ended = t.success + t.failure;
    const rate = (n: number) => (ended === 0 ? 0 : round(100 * n, ended, 2));
    return [name, { ...t, success_rate: rate(t.success), failure_rate: rate(t.failure) }] as const;
  });
  const { turns, turnsWithReasoning, usage, lost } = totals;
  const outcome = (state: PromptState) => totals.counts[state] ?? 0;
  const prompts = Math.floor(run.total / spec.rollouts);
  return {
    run_name: spec.runName,
    distribution: spec.distribution,
    total_prompts: prompts,
    total_batches: Math.ceil(prompts / spec.batchSize),
    batch_size: spec.batchSize,
    model: spec.model,
    completed_at: new Date(at).toISOString(),
    duration_seconds: round(elapsedMs, 1000, 2),
    tool_statistics: Object.fromEntries(tools),
    reasoning_statistics: {
      total_assistant_turns: turns,
      turns_with_reasoning: turnsWithReasoning,
      turns_without_reasoning: turns - turnsWithReasoning,
    },
    scripted: run.scripted,
    rollouts_per_prompt: spec.rollouts,
    total_rollouts: run.total,
    seed: spec.seed ?? null,
    filters: spec.filters,
    outcomes: {
      completed: outcome('completed'),
      partial: outcome('partial'),
      failed: outcome('failed'),
      discarded: outcome('discarded'),
      cancelled: outcome('cancelled'),
      not_run: outcome('pending') + outcome('running'),
      removed_from_dataset: totals.removed,
    },
    causes: { ...totals.causes },
    exit_reasons: collected.exitReasons,
    rows,
    tokens: {
      prompt: usage.promptTokens,
      completion: usage.completionTokens,
      reasoning: usage.reasoningTokens,
      cached: usage.cachedTokens,
      of_repeated_attempts: lost.promptTokens + lost.completionTokens,
    },
    cost_usd: round(collected.costUsd, 1, 6),
    rollout_seconds: percentiles(collected.durations),
    rewards: { count: collected.rewards.count, mean: mean(collected.rewards), rules: Object.fromEntries(Object.entries(collected.rules).map(([name, r]) => [name, { count: r.count, unknown: r.unknown, mean: mean(r) }])) },
    groups: { size: spec.rollouts, with_several_rows: collected.groups.count, whole: collected.groups.whole, rewarded: collected.groups.rewarded, all_equal_rewards: collected.groups.allEqual },
  };
}

function percentiles(rising: Float64Array): Record<string, number> | null {
  if (rising.length === 0) return null;
  const at = (share: number) => round(quantile(rising, share), 1000, 3);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

function mean({ count, sum }: { count: number; sum: number }): number | null {
  return count === 0 ? null : round(sum, count, 6);
}

function round(value: number, by: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round((value / by) * scale) / scale;
}

/** Names come from models and people: "__proto__" must be a name like any other. */
function table<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
