import type { Database } from '../store/database.ts';
import { DONE_STATES } from './checkpoint.ts';
import { RunOutputs } from './outputs.ts';
import type { RunRecord, RunStore } from './run-store.ts';

/**
 * Writes the files of a run that is not running anew, from the store: after dispositions or rewards were changed in another way than by a
 * pass. `claimed` must have proven that the folder is the run's. Throws BatchError like RunOutputs.
 */
export async function remakeFiles(db: Database, store: RunStore, run: RunRecord, now: () => number, { runFile = false } = {}): Promise<void> {
  const outputs = new RunOutputs(db, run, now);
  await outputs.claim();
  const states = store.prompts.states(run.id, run.total);
  const doneBefore = new Set([...states.keys()].filter((i) => DONE_STATES.includes(states[i]!)));
  await outputs.finish({ states, doneBefore }, { totals: store.totals(run.id), elapsedMs: run.elapsedMs });
  if (runFile) await outputs.writeRunFile({ replace: true });
}
