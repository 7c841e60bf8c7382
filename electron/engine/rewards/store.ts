import type { Score, TrajectoryScores } from '#shared/contract/scores.ts';
import { parseScoreRule, type ScoreRule } from '#shared/scoring.ts';
import type { ScoreResult } from '../batch/queue/types.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { ratingValue, rewardOf } from './score.ts';
import { because } from './why.ts';

/** Under this name a person's rating is stored; no rule but one of the kind `rating` has it. */
const RATING = 'rating';
const MAX_DETAIL_CHARS = 8_000;

/**
 * Stores what the rules said of a trajectory, in place of what rules said before, and its reward. A rating that a person gave stays.
 * Call it in a transaction. Returns the reward; null when nothing could be said.
 */
export function addScores(db: Database, trajectoryN: number, results: readonly ScoreResult[], now: number): number | null {
  db.run(sqlFor.deleteFrom('scores').where('trajectory_n', '=', trajectoryN).where('source', '=', 'rule'));
  for (const { name, rule, value, weight, detail } of results) {
    const said = { rule, weight };
    const values = { trajectory_n: trajectoryN, name, source: 'rule', ...said, value, detail: detailText(detail), created_at: now };
    // the row of a rating is the person's: a rule only says what it weighs
    db.run(sqlFor.insertInto('scores').values(values).onConflict((c) => c.columns(['trajectory_n', 'name']).doUpdateSet(said)));
  }
  if (!results.some((r) => r.name === RATING)) db.run(sqlFor.updateTable('scores').set({ rule: '', weight: 0 }).where('trajectory_n', '=', trajectoryN).where('source', '=', 'person'));
  return noteReward(db, trajectoryN);
}

/**
 * Stores or takes back a person's rating, and what rules that use it make of it. Call it in a transaction.
 * Returns the reward before and after.
 */
export function setRating(db: Database, trajectoryN: number, rating: number | null, now: number): { before: number | null; after: number | null } {
  const before = db.get(sqlFor.selectFrom('trajectories').select('reward').where('n', '=', trajectoryN))?.reward ?? null;
  const rows = scoreRows(db, trajectoryN);
  db.run(sqlFor.updateTable('trajectories').set({ rating }).where('n', '=', trajectoryN));
  const value = rating === null ? null : ratingValue(rating);
  const detail = rating === null ? JSON.stringify(because('not_rated')) : JSON.stringify({ rating });
  const own = rows.find((r) => r.name === RATING);
  // with a rule for it the row stays, so that it can be seen that it waits for a rating
  if (rating === null && (own === undefined || own.rule === '')) db.run(sqlFor.deleteFrom('scores').where('trajectory_n', '=', trajectoryN).where('name', '=', RATING));
  else {
    const values = { trajectory_n: trajectoryN, name: RATING, source: rating === null ? 'rule' : 'person', rule: own?.rule ?? '', value, weight: own?.weight ?? 0, detail, created_at: now };
    db.run(sqlFor.insertInto('scores').values(values).onConflict((c) => c.columns(['trajectory_n', 'name']).doUpdateSet(values)));
  }
  for (const row of rows) if (row.name !== RATING && kindOf(row.rule) === 'rating') db.run(sqlFor.updateTable('scores').set({ value, detail, created_at: now }).where('trajectory_n', '=', trajectoryN).where('name', '=', row.name));
  return { before, after: rows.length === 0 ? before : noteReward(db, trajectoryN) };
}

/** What scored a trajectory; undefined when there is none of this id. */
export function scoresOf(db: Database, trajectoryId: string): TrajectoryScores | undefined {
  const t = db.get(sqlFor.selectFrom('trajectories').select(['n', 'reward', 'rating']).where('id', '=', trajectoryId));
  if (!t) return undefined;
  const scores = scoreRows(db, t.n).map((r): Score => ({
    name: r.name,
    source: r.source as Score['source'],
    rule: r.rule,
    kind: kindOf(r.rule),
    value: r.value,
    weight: r.weight,
    detail: JSON.parse(r.detail) as Score['detail'],
    createdAt: r.created_at,
  }));
  return { reward: t.reward, rating: t.rating, scores };
}

/** What rules said of a trajectory, by name. */
export function ruleScores(db: Database, trajectoryN: number): Map<string, ScoreResult> {
  const rows = scoreRows(db, trajectoryN).filter((r) => r.rule !== '');
  return new Map(rows.map((r) => [r.name, { name: r.name, rule: r.rule, value: r.value, weight: r.weight, detail: JSON.parse(r.detail) as ScoreResult['detail'] }]));
}

function scoreRows(db: Database, trajectoryN: number) {
  return db.all(sqlFor.selectFrom('scores').selectAll().where('trajectory_n', '=', trajectoryN).orderBy('source', 'desc').orderBy('name'));
}

function noteReward(db: Database, trajectoryN: number): number | null {
  const reward = rewardOf(db.all(sqlFor.selectFrom('scores').select(['value', 'weight']).where('trajectory_n', '=', trajectoryN)));
  db.run(sqlFor.updateTable('trajectories').set({ reward }).where('n', '=', trajectoryN));
  return reward;
}

function detailText(detail: ScoreResult['detail']): string {
  const text = JSON.stringify(detail);
  return text.length <= MAX_DETAIL_CHARS ? text : JSON.stringify({ why: typeof detail['why'] === 'string' ? detail['why'].slice(0, MAX_DETAIL_CHARS / 2) : 'More than is kept was said of it.' });
}

function kindOf(rule: string): ScoreRule['kind'] | null {
  try {
    return rule === '' ? null : parseScoreRule(rule).kind;
  } catch {
    return null;
  }
}
