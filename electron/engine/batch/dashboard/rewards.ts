import type { RunDashboard } from '#shared/contract/dashboards.ts';
import type { Database } from '../../store/connection.ts';
import type { EndedRollouts } from './ended.ts';
import { histogram } from './numbers.ts';

/** Scores of each rule are read one rollout at a time: of more rollouts than this, only the newest. */
const RULES_SAMPLE = 20_000;

/** Rewards of a run and what each of its rules said; null when no rollout has one. */
export function rewardsOf(db: Database, runId: string, ended: EndedRollouts): RunDashboard['rewards'] {
  const values = ended.reward.filter((r) => !Number.isNaN(r));
  if (values.length === 0) return null;
  let sum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  const sampled = ended.count > RULES_SAMPLE;
  const rules = db.connection
    .prepare(
      `SELECT s.name, max(s.rule) AS rule, max(s.weight) AS weight, count(s.value) AS count, count(*) - count(s.value) AS unknown, avg(s.value) AS mean
       FROM (SELECT n FROM trajectories WHERE run_id = ? ORDER BY n DESC LIMIT ?) t JOIN scores s ON s.trajectory_n = t.n AND s.source = 'rule'
       GROUP BY s.name ORDER BY s.name LIMIT 100`,
    )
    .all(runId, RULES_SAMPLE) as NonNullable<RunDashboard['rewards']>['rules'];
  return { count: values.length, mean: sum / values.length, min, max, histogram: histogram(values, min, max), rules, sampledRollouts: sampled ? RULES_SAMPLE : null };
}

/** How alike the rollouts of a prompt are; null with one rollout each, or without rewards. */
export function groupsOf(ended: EndedRollouts, rollouts: number): RunDashboard['groups'] {
  if (rollouts < 2) return null;
  const groups = { allRight: 0, mixed: 0, allWrong: 0, incomplete: 0, zeroSpread: 0 };
  let spreads = 0;
  let spread = 0;
  for (let from = 0; from < ended.count; ) {
    const prompt = ended.promptIndex[from];
    let size = 0;
    let right = 0;
    let min = Infinity;
    let max = -Infinity;
    for (; from < ended.count && ended.promptIndex[from] === prompt; from += 1) {
      const reward = ended.reward[from]!;
      if (Number.isNaN(reward)) continue;
      size += 1;
      if (reward > 0) right += 1;
      min = Math.min(min, reward);
      max = Math.max(max, reward);
    }
    if (size === 0) continue;
    if (size < rollouts) groups.incomplete += 1;
    groups[right === size ? 'allRight' : right === 0 ? 'allWrong' : 'mixed'] += 1;
    if (size < 2) continue;
    spreads += 1;
    spread += max - min;
    if (max === min) groups.zeroSpread += 1;
  }
  if (groups.allRight + groups.mixed + groups.allWrong === 0) return null;
  return { ...groups, meanSpread: spreads === 0 ? null : spread / spreads };
}
