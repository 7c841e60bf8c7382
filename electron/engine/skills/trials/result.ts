import type { Trial, TrialArm, TrialRun, TrialTotals } from '#shared/contract/trials.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { fromMessageRow } from '../../trajectories/rows.ts';
import type { RunRecord, TrialRecord } from './store.ts';

const ANSWER_CHARS = 600;

/** The attempts of a trial side by side, and what they come to. */
export function viewOf(db: Database, trial: TrialRecord, runs: readonly RunRecord[], more: { stale: boolean; spentUsd: number }): Trial {
  const { id, skill, name, spec, state, error, decision, createdAt, endedAt } = trial;
  const runOf = (index: number, arm: TrialArm): TrialRun => {
    const record = runs.find((run) => run.index === index && run.arm === arm);
    return record ? viewOfRun(db, skill, record) : { ...NOT_RUN, arm };
  };
  const rows = spec.prompts.map(({ prompt }, index) => ({ index, prompt, with: runOf(index, 'with'), without: runOf(index, 'without') }));
  return { id, skillId: skill, skill: name, spec, state, error, decision, ...more, rows, totals: totalsOf(rows), createdAt, endedAt };
}

const NOT_RUN: Omit<TrialRun, 'arm'> = {
  state: 'pending', trajectoryId: null, outcome: null, exitReason: null, error: null, answer: null, usedSkill: false, turns: null, toolCalls: null, toolErrors: null, tokens: null, costUsd: null, durationMs: null, score: null,
};

function viewOfRun(db: Database, skill: string, { arm, state, trajectoryId }: RunRecord): TrialRun {
  const t = trajectoryId === null ? undefined : db.get(sqlFor.selectFrom('trajectories').selectAll().where('id', '=', trajectoryId));
  if (!t) return { ...NOT_RUN, arm, state: state === 'ended' ? 'pending' : state };
  const used = db.get(sqlFor.selectFrom('skill_uses').select('at').where('skill', '=', skill).where('trajectory_id', '=', t.id).where('how', 'in', ['view', 'run']).limit(1)) !== undefined;
  const begun = { arm, state, trajectoryId, usedSkill: used };
  if (state !== 'ended') return { ...NOT_RUN, ...begun };
  const exitReason = t.exit_reason as ExitReason | null;
  return {
    ...begun,
    outcome: outcomeOf({ state: t.state as 'running' | 'ended', exitReason, discardReason: null }),
    exitReason,
    error: t.error,
    answer: answerOf(db, t.n),
    turns: t.turns,
    toolCalls: t.tool_calls,
    toolErrors: t.tool_errors,
    tokens: t.prompt_tokens + t.completion_tokens,
    costUsd: t.cost_usd,
    durationMs: t.ended_at === null ? null : t.ended_at - t.created_at,
    score: t.reward,
  };
}

function answerOf(db: Database, n: number): string | null {
  const row = db.get(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('role', '=', 'assistant').where('synthetic', '=', 0).orderBy('seq', 'desc').limit(1));
  const text = row ? fromMessageRow(row, db).content.trim() : '';
  return text === '' ? null : text.slice(0, ANSWER_CHARS).toWellFormed();
}

type Row = Trial['rows'][number];

/** Only prompts that ended in both arms count: the other ones would compare different work. */
export function totalsOf(rows: readonly Row[]): Trial['totals'] {
  const pairs = rows.filter((row) => row.with.state === 'ended' && row.without.state === 'ended');
  const scored = pairs.filter((row) => row.with.score !== null && row.without.score !== null);
  const signs = pairs.map(signOf);
  const better = signs.filter((sign) => sign > 0).length;
  const worse = signs.filter((sign) => sign < 0).length;
  return {
    pairs: pairs.length,
    with: sumsOf(pairs.map((row) => row.with), scored.map((row) => row.with.score!)),
    without: sumsOf(pairs.map((row) => row.without), scored.map((row) => row.without.score!)),
    better,
    worse,
    equal: signs.length - better - worse,
    chance: chanceOf(better, worse),
  };
}

/** By score where both have one, else by whether it came to its end. */
function signOf(row: Row): number {
  if (row.with.score !== null && row.without.score !== null) return Math.sign(row.with.score - row.without.score);
  return Number(row.with.outcome === 'completed') - Number(row.without.outcome === 'completed');
}

function sumsOf(runs: readonly TrialRun[], scores: readonly number[]): TrialTotals {
  const sum = (of: (run: TrialRun) => number | null): number => runs.reduce((total, run) => total + (of(run) ?? 0), 0);
  return {
    completed: runs.filter((run) => run.outcome === 'completed').length,
    usedSkill: runs.filter((run) => run.usedSkill).length,
    turns: sum((run) => run.turns),
    toolCalls: sum((run) => run.toolCalls),
    toolErrors: sum((run) => run.toolErrors),
    tokens: sum((run) => run.tokens),
    costUsd: runs.some((run) => run.costUsd !== null) ? sum((run) => run.costUsd) : null,
    durationMs: sum((run) => run.durationMs),
    score: scores.length === 0 ? null : scores.reduce((total, score) => total + score, 0) / scores.length,
  };
}

/**
 * Two-sided sign test: how likely a split at least as uneven is when both sides are as likely. Null without a difference.
 * (Dixon & Mood, 1946: pairs that are equal are left out.)
 */
export function chanceOf(better: number, worse: number): number | null {
  const n = better + worse;
  if (n === 0) return null;
  let tail = 0;
  let choose = 1;
  for (let k = 0; k <= Math.min(better, worse); k++) {
    tail += choose;
    choose = (choose * (n - k)) / (k + 1);
  }
  return Math.min(1, (2 * tail) / 2 ** n);
}
