import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { RunSpec, RunSummary } from '#shared/contract/runs.ts';
import type { Database } from '../store/database.ts';
import { type DatasetItem, hashFile, readDataset } from './dataset.ts';
import { BatchError } from './errors.ts';
import { type NewRow, rowKey } from './queue/prompts.ts';
import type { RunRecord, RunStore } from './run-store.ts';

const CHUNK_ROLLOUTS = 500;
const CHUNK_CHARS = 8_000_000;

type Source = Pick<RunSpec, 'datasetFile' | 'datasetShape' | 'columns'>;

function itemsOf({ datasetFile, datasetShape, columns }: Source): AsyncGenerator<DatasetItem> {
  return readDataset(datasetFile, { shape: datasetShape, columns });
}

/** How many valid rows a dataset has, and its SHA-256. Throws BatchError `invalid`. */
export async function surveyDataset(source: Source): Promise<{ rows: number; sha256: string }> {
  let rows = 0;
  let sha256 = '';
  for await (const item of itemsOf(source)) {
    if (item.type === 'row') rows += 1;
    else if (item.type === 'end') sha256 = item.sha256;
  }
  return { rows, sha256 };
}

/** Stores rows a few hundred rollouts at a time, so that neither memory nor the other users of the store feel a large file. */
class RowWriter {
  rows = 0;
  readonly #store: RunStore;
  readonly #run: RunRecord;
  #chunk: NewRow[] = [];
  #chars = 0;

  constructor(store: RunStore, run: RunRecord) {
    this.#store = store;
    this.#run = run;
  }

  async add(row: NewRow): Promise<void> {
    this.#chunk.push(row);
    this.rows += 1;
    const { rollouts } = this.#run.spec;
    this.#chars += row.prompt.length * rollouts;
    if (this.#chunk.length * rollouts >= CHUNK_ROLLOUTS || this.#chars >= CHUNK_CHARS) await this.flush();
  }

  async flush(): Promise<void> {
    this.#store.prompts.add(this.#run.id, this.#chunk, this.#run.spec.rollouts);
    this.#chunk = [];
    this.#chars = 0;
    await yieldToOthers();
  }
}

/** The rows that a run takes of its dataset, each with its place among equal ones; `end` gets the SHA-256 of the file. */
async function* wantedRows(spec: RunSpec, end: (sha256: string) => void): AsyncGenerator<NewRow> {
  const occurrences = new Map<string, number>();
  for await (const item of itemsOf(spec)) {
    if (item.type === 'end') end(item.sha256);
    if (item.type !== 'row' || item.index >= (spec.maxSamples ?? Infinity)) continue;
    const occurrence = occurrences.get(item.hash) ?? 0;
    occurrences.set(item.hash, occurrence + 1);
    yield { ...item, occurrence };
  }
}

/**
 * Stores the rollouts of a new run. Throws BatchError `invalid` when the file is no longer the one that was surveyed.
 */
export async function loadPrompts(store: RunStore, run: RunRecord): Promise<void> {
  const writer = new RowWriter(store, run);
  let sha256 = '';
  for await (const row of wantedRows(run.spec, (sha) => (sha256 = sha))) await writer.add(row);
  await writer.flush();
  if (writer.rows * run.spec.rollouts !== run.total || sha256 !== run.datasetSha256) throw changedMeanwhile(run);
}

/**
 * Brings the rollouts of a run in line with its dataset file, if that was edited since: rows are matched by their content, and equal ones
 * by their order. New and changed ones are added behind the last one, so that no file gets rows of two datasets at one place; those that
 * are gone are marked, and unmarked when they come back. A file that is gone itself changes nothing.
 * Throws BatchError `invalid` when the file cannot be read any more, or is being written. Nobody may be working on the run.
 */
export async function takeInChanges(db: Database, store: RunStore, run: RunRecord, now: () => number): Promise<void> {
  const current = await hashFile(run.spec.datasetFile);
  if (current === null || current === run.datasetSha256) return;
  const { rollouts } = run.spec;
  const known = store.prompts.keys(run.id, rollouts);
  const present = new Set<number>();
  const writer = new RowWriter(store, run);
  let next = run.total / rollouts;
  let sha256 = '';
  // not part of the run before `total` says so
  store.prompts.trim(run.id, run.total);
  try {
    for await (const row of wantedRows(run.spec, (sha) => (sha256 = sha))) {
      const before = known.get(rowKey(row));
      if (before) present.add(before.row);
      else await writer.add({ ...row, index: next++ });
    }
    await writer.flush();
    if (sha256 !== current) throw changedMeanwhile(run);
    const gone = [...known.values()].filter((k) => !k.removed && !present.has(k.row));
    const returned = [...known.values()].filter((k) => k.removed && present.has(k.row));
    const changes: NonNullable<RunSummary['changes']> = { added: writer.rows, removed: gone.length, returned: returned.length, at: now() };
    const changed = writer.rows + gone.length + returned.length > 0;
    db.transaction(() => {
      for (const { row } of gone) store.prompts.mark(run.id, row, rollouts, true);
      for (const { row } of returned) store.prompts.mark(run.id, row, rollouts, false);
      store.setDataset(run.id, { sha256: current, total: next * rollouts, changes: changed ? changes : null });
      store.recountStates(run.id);
    });
  } catch (error) {
    store.prompts.trim(run.id, run.total);
    throw error;
  }
}

function changedMeanwhile(run: RunRecord): BatchError {
  return new BatchError('invalid', `${run.spec.datasetFile} was changed while it was read. Try again.`, { field: 'datasetFile' });
}
