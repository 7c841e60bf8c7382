import type { FilterSummary } from '#shared/contract/filters.ts';
import type { RunSpec } from '#shared/contract/runs.ts';
import { type Filter, filterText } from '#shared/filters.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { RunRecord, RunStore } from '../run-store.ts';
import { dispose } from './dispose.ts';
import { evaluateFilters } from './evaluate.ts';

/**
 * Judges all ended rollouts of a run that is at rest by these filters, which become the run's. What changes is stored in one transaction;
 * until then `signal` cancels. The files are not touched.
 */
export async function judgeAgain(
  { db, store, now }: { db: Database; store: RunStore; now: () => number },
  run: RunRecord,
  filters: readonly Filter[],
  onProgress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<{ summary: FilterSummary; spec: RunSpec }> {
  const { summary, changes, answers } = await evaluateFilters(db, { id: run.id, rollouts: run.spec.rollouts }, filters, onProgress, signal);
  const spec = { ...run.spec, filters: filters.map(filterText) };
  db.transaction(() => {
    for (const { index, before, hit } of changes) dispose(db, { runId: run.id, index }, before, hit, now());
    for (const [index, hash] of answers) db.run(sqlFor.updateTable('prompts').set({ answer_hash: hash }).where('run_id', '=', run.id).where('idx', '=', index));
    store.setSpec(run.id, spec);
    store.recount(run.id);
  });
  return { summary, spec };
}
