import type { RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSpec } from '#shared/contract/runs.ts';
import type { Database } from '../../store/connection.ts';
import { runCauses } from './causes.ts';
import { durations, exitReasonCounts, readEnded } from './ended.ts';
import { percentiles, series } from './numbers.ts';
import { groupsOf, rewardsOf } from './rewards.ts';

/** Messages lie with their whole text: the calls of so many rollouts tell as much as those of all. */
const CALLS_SAMPLE = 500;

/** The numbers of a run, from the store alone; null when there is no such run. */
export function runDashboard(db: Database, input: { runId: string }): RunDashboard | null {
  const { runId } = input;
  const run = db.connection.prepare('SELECT spec, dataset_sha256, total FROM runs WHERE id = ?').get(runId) as { spec: string; dataset_sha256: string; total: number } | undefined;
  if (!run) return null;
  const spec = JSON.parse(run.spec) as RunSpec;
  const rollouts = rolloutsOf(spec);
  const ended = readEnded(db, runId);
  const calls = callTimes(db, runId);
  const took = percentiles(durations(ended));
  return {
    dataset: { file: spec.datasetFile, sha256: run.dataset_sha256, rows: Math.ceil(run.total / rollouts) },
    exitReasons: exitReasonCounts(ended.exitReasons),
    causes: runCauses(db, runId, rollouts),
    latency: { calls: percentiles(calls.times), sampledRollouts: calls.rollouts, rollouts: took },
    reasoning: { rollouts: ended.count, withReasoning: ended.reasoning.reduce((sum, r) => sum + r, 0) },
    rewards: rewardsOf(db, runId, ended),
    groups: groupsOf(ended, rollouts),
    series: series(ended.endedAt, took?.p99 ?? 0),
  };
}

/** Runs of earlier versions say nothing of rollouts. */
export function rolloutsOf(spec: Pick<RunSpec, 'rollouts'>): number {
  const { rollouts } = spec as { rollouts?: unknown };
  return typeof rollouts === 'number' && rollouts >= 1 ? rollouts : 1;
}

function callTimes(db: Database, runId: string): { times: number[]; rollouts: number } {
  const newest = db.connection.prepare(`SELECT n FROM trajectories WHERE run_id = ? ORDER BY n DESC LIMIT ${CALLS_SAMPLE}`).pluck().all(runId) as number[];
  const ofOne = db.connection.prepare(`SELECT duration_ms FROM messages WHERE trajectory_n = ? AND role = 'assistant' AND duration_ms IS NOT NULL`).pluck();
  return { times: newest.flatMap((n) => ofOne.all(n) as number[]), rollouts: newest.length };
}
