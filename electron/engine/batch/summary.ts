import { PROMPT_STATE_CODES, PROMPT_STATES, type PromptState, type RunSummary } from '#shared/contract/runs.ts';
import type { RunRecord, RunStore } from './run-store.ts';
import type { BatchPass } from './runner.ts';

/** What lists and watchers show of a run: from its pass while it runs, else from the sums that its last one stored. */
export function runSummary(run: RunRecord, store: RunStore, pass: BatchPass | undefined): RunSummary {
  const { counts, causes, removed, rewards, usage, turns, turnsWithReasoning, toolStats } = pass?.totals ?? store.totals(run.id);
  const rate = pass?.ratePerSecond ?? null;
  return {
    id: run.id,
    name: run.name,
    state: pass?.state ?? run.state,
    message: run.message,
    spec: run.spec,
    scripted: run.scripted,
    outputDir: run.outputDir,
    total: run.total,
    states: Object.fromEntries(PROMPT_STATES.map((s) => [s, counts[s] ?? 0])) as Record<PromptState, number>,
    causes: { ...causes },
    removed,
    changes: run.changes,
    rewards: rewards.count > 0 ? { count: rewards.count, mean: rewards.sum / rewards.count } : null,
    usage,
    costUsd: run.costUsd,
    elapsedMs: pass?.elapsedMs ?? run.elapsedMs,
    ratePerSecond: rate,
    etaMs: rate !== null && rate > 0 && pass ? (pass.remaining / rate) * 1000 : null,
    turns,
    turnsWithReasoning,
    toolStats: { ...toolStats },
    createdAt: run.createdAt,
    endedAt: run.endedAt,
  };
}

/** One letter per prompt. */
export function stateCodes(states: readonly PromptState[]): string {
  return states.map((s) => PROMPT_STATE_CODES[s]).join('');
}
