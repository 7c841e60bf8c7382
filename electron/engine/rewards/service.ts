import { join } from 'node:path';
import type { RescoreEvent, RescoreRequest, RescoreSummary, TrajectoryScores } from '#shared/contract/scores.ts';
import { parseFilters } from '#shared/filters.ts';
import { parseScoreRules } from '#shared/scoring.ts';
import { judgeAgain } from '../batch/filters/judge-again.ts';
import { withProgress } from '../batch/progress.ts';
import { remakeFiles } from '../batch/remake.ts';
import { type RunRecord, RunStore } from '../batch/run-store.ts';
import { addReward } from '../batch/totals.ts';
import type { Database } from '../store/database.ts';
import { rescore } from './rescore.ts';
import { scoresOf, setRating } from './store.ts';
import { sqlFor } from '../store/database.ts';

class ScoresError extends Error {
  override name = 'ScoresError';
  readonly code: 'not_found' | 'invalid' | 'conflict';
  readonly field: string | undefined;
  constructor(code: ScoresError['code'], message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

export interface ScoresServiceDeps {
  db: Database;
  /** The Talaria home. */
  home: string;
  now: () => number;
  /** Works on a run that is not running, which nobody starts, resumes or removes meanwhile. */
  atRest: <T>(runId: string, work: (run: RunRecord) => Promise<T>) => Promise<T>;
  /** Lists of trajectories show something else now. */
  changed: () => void;
}

/** Scores of stored trajectories: shown, given by people, and computed anew. */
export class ScoresService {
  readonly #deps: ScoresServiceDeps;
  readonly #runs: RunStore;

  constructor(deps: ScoresServiceDeps) {
    this.#deps = deps;
    this.#runs = new RunStore(deps.db, deps.now);
  }

  /** Throws `not_found`. */
  of(trajectoryId: string): TrajectoryScores {
    const scores = scoresOf(this.#deps.db, trajectoryId);
    if (!scores) throw new ScoresError('not_found', 'This trajectory is no longer in the store.');
    return scores;
  }

  /** A person's rating, 1 to 5, or null to take it back. The reward follows where a rule uses it. Throws `not_found`. */
  rate({ trajectoryId, rating }: { trajectoryId: string; rating: number | null }): TrajectoryScores {
    const { db, now, changed } = this.#deps;
    const t = db.get(sqlFor.selectFrom('trajectories').select(['n', 'run_id']).where('id', '=', trajectoryId));
    if (!t) throw new ScoresError('not_found', 'This trajectory is no longer in the store.');
    db.transaction(() => {
      const { before, after } = setRating(db, t.n, rating, now());
      if (before === after || t.run_id === null || !this.#runs.get(t.run_id)) return;
      const totals = this.#runs.totals(t.run_id);
      addReward(totals, before, -1);
      addReward(totals, after, 1);
      this.#runs.setTotals(t.run_id, JSON.stringify(totals));
    });
    changed();
    return this.of(trajectoryId);
  }

  /**
   * Scores again what is stored, by new rules or by the same. Throws `invalid` for rules that cannot be read, `not_found` for a run that
   * is gone, `conflict` while it runs.
   */
  async *rescore({ runId, filter, scoring }: RescoreRequest, signal: AbortSignal = new AbortController().signal): AsyncGenerator<RescoreEvent> {
    if ((runId === undefined) === (filter === undefined)) throw new ScoresError('invalid', 'Say what is to be scored: a run, or a selection of trajectories.', 'runId');
    this.#check(scoring);
    if (runId === undefined) yield* this.#rescored(filter!, scoring ?? null, signal);
    else yield* this.#rescoreRun(runId, scoring, signal);
  }

  /** Its files follow, and its filters judge anew: they may look at rewards. */
  async *#rescoreRun(runId: string, scoring: string[] | undefined, signal: AbortSignal): AsyncGenerator<RescoreEvent> {
    const run = this.#runs.get(runId);
    if (!run) throw new ScoresError('not_found', 'This run is no longer in the store.');
    if (run.state === 'running' || run.state === 'pausing') throw new ScoresError('conflict', `${run.name} is running. Pause it, or wait for its end, then score it again.`);
    const { db, now, atRest } = this.#deps;
    const store = this.#runs;
    const summary = yield* withProgress<RescoreEvent, RescoreSummary>(
      (report, stop) =>
        atRest(runId, async (before) => {
          const resting = scoring ? { ...before, spec: { ...before.spec, scoring } } : before;
          if (scoring) store.setSpec(runId, resting.spec);
          let done: RescoreSummary | null = null;
          try {
            for await (const event of this.#rescored({ runId }, null, stop)) {
              if (event.type === 'done') done = event.summary;
              else report(event);
            }
          } finally {
            store.recount(runId);
          }
          // what was scored before it was cancelled stays scored
          const { spec } = stop.aborted ? resting : await judgeAgain({ db, store, now }, resting, parseFilters(resting.spec.filters), () => {}, new AbortController().signal);
          await remakeFiles(db, store, { ...resting, spec }, now, { runFile: true });
          return done!;
        }),
      signal,
    );
    yield { type: 'done', summary };
  }

  async *#rescored(filter: NonNullable<RescoreRequest['filter']>, scoring: string[] | null, signal: AbortSignal): AsyncGenerator<RescoreEvent> {
    const { db, home, now, changed } = this.#deps;
    try {
      yield* rescore({ db, workspaces: join(home, 'workspaces'), hidden: [home], now }, filter, scoring, signal);
    } finally {
      changed();
    }
  }

  #check(scoring: string[] | undefined): void {
    if (!scoring) return;
    try {
      parseScoreRules(scoring);
    } catch (error) {
      throw new ScoresError('invalid', error instanceof Error ? error.message : String(error), 'scoring');
    }
  }
}
