import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PromptState } from '#shared/contract/runs.ts';
import { systemCode } from './errors.ts';
import type { RunRecord } from './run-store.ts';

/** Rollouts that are never run again by themselves. */
export const DONE_STATES: readonly PromptState[] = ['completed', 'partial', 'discarded'];

/** What the checkpoint tells of a pass. */
export interface PassView {
  /** Of every rollout, by index. */
  states: readonly PromptState[];
  /** Done before this pass began, by index. */
  doneBefore: ReadonlySet<number>;
}

/**
 * `checkpoint.json`: the keys of Hermes Agent's batch runner, ids each once and in order, and whose it is. A prompt is completed when all
 * of its rollouts are done; batches count rollouts.
 * @param noReasoning indexes of the rollouts that were discarded because nothing in them has reasoning; other discards are no key of the file
 */
export function checkpointJson(run: RunRecord, { states, doneBefore }: PassView, noReasoning: ReadonlySet<number>, at: number): Record<string, unknown> {
  const { batchSize, rollouts } = run.spec;
  const completed: number[] = [];
  const stats: Record<string, { processed: number; skipped: number; discarded_no_reasoning: number }> = {};
  let openRollouts = 0;
  states.forEach((state, index) => {
    const prompt = Math.floor(index / rollouts);
    const done = DONE_STATES.includes(state);
    if (index % rollouts === 0) openRollouts = 0;
    if (!done) openRollouts += 1;
    if (index % rollouts === rollouts - 1 && openRollouts === 0) completed.push(prompt);
    const batch = (stats[String(Math.floor(prompt / batchSize))] ??= { processed: 0, skipped: 0, discarded_no_reasoning: 0 });
    if (doneBefore.has(index)) batch.skipped += 1;
    else if (done || state === 'failed') batch.processed += 1;
    if (noReasoning.has(index)) batch.discarded_no_reasoning += 1;
  });
  return {
    run_name: run.name,
    completed_prompts: completed,
    batch_stats: stats,
    last_updated: new Date(at).toISOString(),
    // tells this run from another of the same name
    run_id: run.id,
  };
}

/** The run that wrote the folder's checkpoint: null when there is none, the empty text when it does not say. */
export async function checkpointOwner(folder: string): Promise<string | null> {
  try {
    const value = JSON.parse(await readFile(join(folder, 'checkpoint.json'), 'utf8')) as { run_id?: unknown } | null;
    return typeof value?.run_id === 'string' ? value.run_id : '';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}
