import type { RunCause } from '#shared/contract/dashboards.ts';
import type { Database } from '../../store/connection.ts';

const MOST_CAUSES = 50;
const PROMPT_CHARS = 300;
const REASON_CHARS = 2_000;
/** Rows of earlier versions have a sentence and no code: those that begin alike are one cause. */
const SAME_START_CHARS = 60;
const MOST_WITHOUT_CODE = 5_000;

interface Counted {
  state: RunCause['state'];
  cause: string | null;
  count: number;
  retryable: number;
  /** Number of the first such rollout. */
  first: number;
}

/** Why rollouts of a run did not complete, most frequent first, each with the first rollout as its example. */
export function runCauses(db: Database, runId: string, rollouts: number): RunCause[] {
  const coded = withCodes(db, runId);
  const counted = [...coded, ...(coded.some((c) => c.state === 'partial') ? [] : partial(db, runId, rollouts)), ...withoutCodes(db, runId, coded)];
  return counted
    .toSorted((a, b) => b.count - a.count || a.first - b.first)
    .slice(0, MOST_CAUSES)
    .flatMap(({ first, ...c }) => {
      const example = exampleOf(db, runId, rollouts, first);
      return example ? [{ ...c, example }] : [];
    });
}

function withCodes(db: Database, runId: string): Counted[] {
  const rows = db.connection
    .prepare(
      `SELECT cause, state, count(*) AS count, sum(retryable) AS retryable, min(idx) AS first FROM prompts
       WHERE run_id = ? AND cause IS NOT NULL AND state IN ('failed', 'discarded', 'partial') GROUP BY cause, state`,
    )
    .all(runId) as Counted[];
  return rows.map((r) => ({ ...r, retryable: r.state === 'failed' ? r.retryable : 0 }));
}

/** A partial rollout is kept, so nothing made it fail: its exit reason says why it is not whole. */
function partial(db: Database, runId: string, rollouts: number): Counted[] {
  const rows = db.connection
    .prepare(
      `SELECT exit_reason AS cause, count(*) AS count, min(prompt_index * ? + rollout) AS first FROM trajectories
       WHERE run_id = ? AND state = 'ended' AND outcome = 'partial' AND exit_reason <> 'interrupted' GROUP BY exit_reason`,
    )
    .all(rollouts, runId) as Pick<Counted, 'cause' | 'count' | 'first'>[];
  return rows.map((r) => ({ ...r, state: 'partial', retryable: 0 }));
}

function withoutCodes(db: Database, runId: string, coded: readonly Counted[]): Counted[] {
  return (['failed', 'discarded'] as const).flatMap((state) => {
    const all = db.connection.prepare('SELECT count(*) FROM prompts WHERE run_id = ? AND state = ?').pluck().get(runId, state) as number;
    if (all <= coded.filter((c) => c.state === state).reduce((sum, c) => sum + c.count, 0)) return [];
    const rows = db.connection
      .prepare(`SELECT idx, substr(reason, 1, ${SAME_START_CHARS}) AS start, retryable FROM prompts WHERE run_id = ? AND state = ? AND cause IS NULL LIMIT ${MOST_WITHOUT_CODE}`)
      .all(runId, state) as { idx: number; start: string | null; retryable: number }[];
    const groups = new Map<string, Counted>();
    for (const r of rows) {
      const group = groups.get(r.start ?? '') ?? { state, cause: null, count: 0, retryable: 0, first: r.idx };
      group.count += 1;
      group.retryable += state === 'failed' ? r.retryable : 0;
      groups.set(r.start ?? '', group);
    }
    return [...groups.values()];
  });
}

function exampleOf(db: Database, runId: string, rollouts: number, index: number): RunCause['example'] | null {
  const row = db.connection
    .prepare(`SELECT substr(prompt, 1, ${PROMPT_CHARS}) AS prompt, substr(reason, 1, ${REASON_CHARS}) AS reason, trajectory_id FROM prompts WHERE run_id = ? AND idx = ?`)
    .get(runId, index) as { prompt: string; reason: string | null; trajectory_id: string | null } | undefined;
  return row ? { index, promptIndex: Math.floor(index / rollouts), rollout: index % rollouts, prompt: row.prompt, reason: row.reason, trajectoryId: row.trajectory_id } : null;
}
