import type { FilterEvent, FilterSummary } from '#shared/contract/filters.ts';
import { type Filter, parseFilters } from '#shared/filters.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { BatchError } from '../errors.ts';
import { withProgress } from '../progress.ts';
import { remakeFiles } from '../remake.ts';
import type { RunRecord } from '../run-store.ts';
import { RunStore } from '../run-store.ts';
import { dispose } from './dispose.ts';
import { evaluateFilters } from './evaluate.ts';
import { judgeAgain } from './judge-again.ts';
import { judgeRollout, settleDuplicates } from './judge.ts';

export interface FilterServiceDeps {
  db: Database;
  now: () => number;
  /** Works on a run that is not running, which nobody starts, resumes or removes meanwhile; then everybody who watches it is told. Throws BatchError. */
  atRest: <T>(runId: string, work: (run: RunRecord) => Promise<T>) => Promise<T>;
}

interface FiltersOfRun {
  runId: string;
  filters: readonly string[];
}

type Progress = Extract<FilterEvent, { type: 'progress' }>;

/** Other filters for runs that have been made, without model calls: every discard can be taken back. Expected failures are BatchErrors. */
export class FilterService {
  readonly #deps: FilterServiceDeps;
  readonly #store: RunStore;

  constructor(deps: FilterServiceDeps) {
    this.#deps = deps;
    this.#store = new RunStore(deps.db, deps.now);
  }

  /** What these filters would discard. Changes nothing. */
  async *preview({ runId, filters }: FiltersOfRun, signal?: AbortSignal): AsyncGenerator<FilterEvent> {
    const parsed = read(filters);
    const run = this.#store.get(runId);
    if (!run) throw new BatchError('not_found', 'This run is no longer in the store.');
    const summary = yield* withProgress<Progress, FilterSummary>(async (report, stop) => (await evaluateFilters(this.#deps.db, { id: runId, rollouts: run.spec.rollouts }, parsed, judging(report), stop)).summary, signal);
    yield { type: 'done', summary };
  }

  /** Judges all ended rollouts by these filters. What changes is stored in one transaction; until then it can be cancelled. Then the files follow. */
  async *refilter({ runId, filters }: FiltersOfRun, signal?: AbortSignal): AsyncGenerator<FilterEvent> {
    const parsed = read(filters);
    const summary = yield* withProgress<Progress, FilterSummary>(
      (report, stop) =>
        this.#deps.atRest(runId, async (run) => {
          const { db, now } = this.#deps;
          const { summary, spec } = await judgeAgain({ db, store: this.#store, now }, run, parsed, judging(report), stop);
          report({ type: 'progress', stage: 'writing', done: summary.total, total: summary.total });
          await remakeFiles(db, this.#store, { ...run, spec }, now, { runFile: true });
          return summary;
        }),
      signal,
    );
    yield { type: 'done', summary };
  }

  /** Keeps discarded rollouts whatever filters say. */
  keep({ runId, indices }: { runId: string; indices: readonly number[] }): Promise<{ changed: number }> {
    return this.#byHand(runId, indices, true);
  }

  /** Lets the run's filters decide again on rollouts that were kept by hand. */
  unkeep({ runId, indices }: { runId: string; indices: readonly number[] }): Promise<{ changed: number }> {
    return this.#byHand(runId, indices, false);
  }

  #byHand(runId: string, indices: readonly number[], keep: boolean): Promise<{ changed: number }> {
    const { db, now, atRest } = this.#deps;
    return atRest(runId, async (run) => {
      const filters = parseFilters(run.spec.filters);
      const place = { runId, rollouts: run.spec.rollouts };
      let changed = 0;
      db.transaction(() => {
        for (const index of new Set(indices)) {
          const prompt = db.get(sqlFor.selectFrom('prompts').select(['state', 'cause', 'reason', 'kept_anyway']).where('run_id', '=', runId).where('idx', '=', index));
          if (!prompt || (keep ? prompt.state !== 'discarded' : prompt.kept_anyway === 0)) continue;
          db.run(sqlFor.updateTable('prompts').set({ kept_anyway: keep ? 1 : 0 }).where('run_id', '=', runId).where('idx', '=', index));
          dispose(db, { runId, index }, prompt, keep ? null : judgeRollout(db, filters, { ...place, index }), now());
          changed += 1;
        }
        this.#store.recount(runId);
      });
      // what is kept now may be an answer that others repeat, or no longer
      if ((await settleDuplicates(db, filters, place, now)) > 0) this.#store.recount(runId);
      if (changed > 0) await remakeFiles(db, this.#store, run, now);
      return { changed };
    });
  }
}

function judging(report: (progress: Progress) => void): (done: number, total: number) => void {
  return (done, total) => report({ type: 'progress', stage: 'judging', done, total });
}

function read(filters: readonly string[]): Filter[] {
  try {
    return parseFilters(filters);
  } catch (error) {
    throw new BatchError('invalid', error instanceof Error ? error.message : String(error), { field: 'filters', cause: error });
  }
}
