import { type RunSpec, runSpecSchema } from '#shared/contract/runs.ts';
import { type ExitReason, outcomeOf } from '#shared/trajectory.ts';
import { finalAnswer } from '../batch/filters/answer.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { SubjectRow } from '../trajectories/query.ts';
import { fromMessageRow } from '../trajectories/rows.ts';
import type { ScoreSubject } from './types.ts';

/** A stored trajectory as its rules see it, and what is known of where it came from. */
export interface StoredSubject {
  n: number;
  reward: number | null;
  subject: ScoreSubject;
  run: { id: string; name: string; spec: RunSpec; index: number } | null;
}

/** Ends after which there is nothing to score: the attempt is made again, or failed. */
const UNSCORED: readonly ExitReason[] = ['interrupted', 'budget_exceeded'];

/** Reads runs once, however many of their trajectories are asked for. */
export function runSpecs(db: Database): (id: string) => { name: string; spec: RunSpec } | null {
  const known = new Map<string, { name: string; spec: RunSpec } | null>();
  return (id) => {
    if (!known.has(id)) {
      const run = db.get(sqlFor.selectFrom('runs').select(['name', 'spec']).where('id', '=', id));
      // names of stored runs may be older than the rules for them
      const spec = run && runSpecSchema.safeParse({ ...(JSON.parse(run.spec) as object), runName: 'run' });
      known.set(id, run && spec?.success ? { name: run.name, spec: { ...spec.data, runName: run.name } } : null);
    }
    return known.get(id) ?? null;
  };
}

/** Null when it is not over, or ended in a way that is not scored. */
export function storedSubject(db: Database, t: SubjectRow, specOf: ReturnType<typeof runSpecs>): StoredSubject | null {
  const exitReason = t.exit_reason as ExitReason | null;
  if (t.state !== 'ended' || exitReason === null || UNSCORED.includes(exitReason)) return null;
  if (outcomeOf({ state: 'ended', exitReason, discardReason: null }) === 'failed') return null;
  const known = t.run_id === null ? null : specOf(t.run_id);
  const run = known === null || t.run_id === null || t.prompt_index === null ? null : { id: t.run_id, ...known, index: t.prompt_index * known.spec.rollouts + t.rollout };
  const stored = run && db.get(sqlFor.selectFrom('prompts').select(['prompt', 'row']).where('run_id', '=', run.id).where('idx', '=', run.index));
  return {
    n: t.n,
    reward: t.reward,
    run,
    subject: {
      prompt: stored?.prompt ?? t.title,
      row: stored ? (JSON.parse(stored.row) as Record<string, unknown>) : {},
      finalAnswer: lastAnswer(db, t.n),
      turns: t.turns,
      toolErrors: t.tool_errors,
      rating: t.rating,
    },
  };
}

function lastAnswer(db: Database, n: number): string | null {
  const last = db.get(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', n).where('role', '=', 'assistant').where('synthetic', '=', 0).orderBy('seq', 'desc').limit(1));
  const answer = last ? finalAnswer([fromMessageRow(last, db)]) : '';
  return answer === '' ? null : answer;
}
