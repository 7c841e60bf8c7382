import type { RunSpec } from '#shared/contract/run-spec.ts';
import type { AdoptReport } from '#shared/contract/adopt.ts';
import { readDataset } from '../dataset.ts';
import { type OldRow, type OldRun, promptHash } from './folder.ts';

export type AdoptDataset = Pick<RunSpec, 'datasetFile' | 'datasetShape' | 'columns' | 'maxSamples'>;

export interface Match {
  /** Row of the dataset to the old row that is taken over for it. */
  rows: Map<number, OldRow>;
  /** Rows of the dataset that were discarded. */
  discarded: number[];
  report: NonNullable<AdoptReport['dataset']>;
}

/**
 * Finds for each prompt of the dataset the row of an old run, by what the person said: first where the row's index says, then in order,
 * so that prompts that stand there several times have as many rows. Indexes alone prove nothing: the dataset may have been edited since.
 */
export async function matchOldRun(run: OldRun, dataset: AdoptDataset): Promise<Match> {
  const prompts: string[] = [];
  for await (const item of readDataset(dataset.datasetFile, { shape: dataset.datasetShape, columns: dataset.columns })) {
    if (item.type === 'row' && item.index < (dataset.maxSamples ?? Infinity)) prompts[item.index] = promptHash(item.prompt);
  }
  const rows = new Map<number, OldRow>();
  const left: OldRow[] = [];
  for (const row of run.rows) {
    const at = row.promptIndex;
    if (at !== null && prompts[at] === row.promptHash && !rows.has(at)) rows.set(at, row);
    else left.push(row);
  }
  const free = new Map<string, number[]>();
  // from behind, so that the first is taken from the end
  prompts.toReversed().forEach((hash, i) => {
    const index = prompts.length - 1 - i;
    if (rows.has(index)) return;
    const same = free.get(hash);
    if (same) same.push(index);
    else free.set(hash, [index]);
  });
  let moved = 0;
  let strangers = 0;
  let repeats = 0;
  const known = new Set(prompts);
  for (const row of left) {
    const index = free.get(row.promptHash)?.pop();
    if (index !== undefined) {
      rows.set(index, row);
      if (row.promptIndex !== null && prompts[row.promptIndex] !== row.promptHash) moved += 1;
    } else if (!known.has(row.promptHash)) strangers += 1;
    else {
      repeats += 1;
      preferCompleted(rows, row, prompts);
    }
  }
  // an index of the checkpoint means a prompt only while all rows stand where they stood
  const discarded = moved + strangers === 0 ? [...run.done].filter((index) => index < prompts.length && !rows.has(index)).sort((a, b) => a - b) : [];
  return { rows, discarded, report: { rows: prompts.length, matched: rows.size, moved, discarded: discarded.length, pending: prompts.length - rows.size - discarded.length, repeats, strangers } };
}

/** A further attempt at a prompt counts when it came to its end and the first did not. */
function preferCompleted(rows: Map<number, OldRow>, row: OldRow, prompts: readonly string[]): void {
  const at = row.promptIndex;
  if (!row.completed || at === null || prompts[at] !== row.promptHash || rows.get(at)?.completed !== false) return;
  rows.set(at, row);
}
