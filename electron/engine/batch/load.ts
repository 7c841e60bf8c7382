import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type DatasetRow, hashFile, readDataset } from './dataset.ts';
import { BatchError } from './errors.ts';
import type { RunRecord, RunStore } from './run-store.ts';

const CHUNK_ROWS = 500;
const CHUNK_CHARS = 8_000_000;

/** How many valid rows a dataset has, and its SHA-256. Throws BatchError `invalid`. */
export async function surveyDataset(path: string): Promise<{ rows: number; sha256: string }> {
  let rows = 0;
  let sha256 = '';
  for await (const item of readDataset(path)) {
    if (item.type === 'row') rows += 1;
    else if (item.type === 'end') sha256 = item.sha256;
  }
  return { rows, sha256 };
}

/**
 * Stores the prompts of a new run, a few hundred at a time, so that neither memory nor the other users of the store feel a large file.
 * Throws BatchError `invalid` when the file is no longer the one that was surveyed.
 */
export async function loadPrompts(store: RunStore, run: RunRecord): Promise<void> {
  const occurrences = new Map<string, number>();
  let chunk: (DatasetRow & { occurrence: number })[] = [];
  let chars = 0;
  let stored = 0;
  const flush = async (): Promise<void> => {
    store.addPrompts(run.id, chunk);
    stored += chunk.length;
    chunk = [];
    chars = 0;
    await yieldToOthers();
  };
  let sha256 = run.datasetSha256;
  for await (const item of readDataset(run.spec.datasetFile)) {
    if (item.type === 'end') sha256 = item.sha256;
    if (item.type !== 'row') continue;
    if (item.index >= run.total) break;
    const occurrence = occurrences.get(item.hash) ?? 0;
    occurrences.set(item.hash, occurrence + 1);
    chunk.push({ ...item, occurrence });
    chars += item.prompt.length;
    if (chunk.length >= CHUNK_ROWS || chars >= CHUNK_CHARS) await flush();
  }
  await flush();
  if (stored !== run.total || sha256 !== run.datasetSha256) {
    throw new BatchError('invalid', `${run.spec.datasetFile} was changed while it was read. Try again.`, { field: 'datasetFile' });
  }
}

/** Whether the dataset file is still the one the run was started with. One that is gone changes nothing: the store has the prompts. */
export async function datasetUnchanged(run: RunRecord): Promise<boolean> {
  const sha256 = await hashFile(run.spec.datasetFile);
  return sha256 === null || sha256 === run.datasetSha256;
}
