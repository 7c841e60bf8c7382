import { appendFileSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { PromptState } from '#shared/contract/runs.ts';
import type { Database } from '../store/database.ts';
import { removeParts, writeAtomically } from './atomic.ts';
import { BatchError, systemCode } from './errors.ts';
import { mergeFiles, reconcileFile, type SurveyedFile } from './reconcile.ts';
import { batchLine } from './row.ts';
import type { RunRecord, RunStore } from './run-store.ts';
import { statisticsJson } from './statistics.ts';
import type { Totals } from './totals.ts';

const CHECKPOINT_MS = 1_000;
const OUTPUT_NAME = /^(?:batch_\d+\.jsonl|trajectories\.jsonl|checkpoint\.json|statistics\.json)$/;
/** Prompts that are never run again. */
export const DONE_STATES: readonly PromptState[] = ['completed', 'partial', 'discarded'];

/** What the checkpoint tells of a pass. */
export interface PassView {
  states: readonly PromptState[];
  /** Done before this pass began, by index. */
  doneBefore: ReadonlySet<number>;
}

export interface PassEnd {
  counts: Readonly<Partial<Record<PromptState, number>>>;
  totals: Totals;
  elapsedMs: number;
}

/**
 * The files of a run in its own folder: `batch_<n>.jsonl` (prompt index / batch size; a line as each kept prompt ends),
 * `trajectories.jsonl`, `checkpoint.json`, `statistics.json`. They repeat what is in the store and can always be made from it.
 * Whatever the file system refuses is thrown as a BatchError `unavailable` that says what to do.
 */
export class RunOutputs {
  readonly folder: string;
  readonly #db: Database;
  readonly #store: RunStore;
  readonly #run: RunRecord;
  readonly #now: () => number;
  #checkpointAt = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Database, store: RunStore, run: RunRecord, now: () => number) {
    this.folder = run.outputDir;
    this.#db = db;
    this.#store = store;
    this.#run = run;
    this.#now = now;
  }

  /** Makes the folder this run's own, or proves that it is. Throws BatchError `conflict` when it holds another run. */
  async claim(): Promise<void> {
    await this.#guard(async () => {
      await mkdir(this.folder, { recursive: true });
      await removeParts(this.folder);
      const owner = await checkpointOwner(this.folder);
      if (owner === this.#run.id) return;
      if (owner !== null || (await outputsIn(this.folder)).length > 0) throw folderTaken(this.folder);
      try {
        await this.#writeJson('checkpoint.json', this.#checkpoint({ states: [], doneBefore: new Set() }), { exclusive: true });
      } catch (error) {
        throw systemCode(error) === 'EEXIST' ? folderTaken(this.folder) : error;
      }
    });
  }

  /** Brings the batch files in line with the store. */
  async reconcile(): Promise<SurveyedFile[]> {
    return this.#guard(async () => {
      const files: SurveyedFile[] = [];
      const { batchSize } = this.#run.spec;
      for (let n = 0; n * batchSize < this.#run.total; n += 1) {
        const kept = this.#store.kept(this.#run.id, n * batchSize, (n + 1) * batchSize);
        const rows = new Map(kept.map((k) => [k.index, k.trajectoryId]));
        files.push(await reconcileFile(this.#batchFile(n), { rows, line: (index) => batchLine(this.#db, rows.get(index)!, index, n) }));
      }
      return files;
    });
  }

  /** Appends the row of a prompt that has just got a kept disposition in the store. */
  append(index: number, trajectoryId: string): void {
    const n = Math.floor(index / this.#run.spec.batchSize);
    const line = batchLine(this.#db, trajectoryId, index, n);
    try {
      appendFileSync(this.#batchFile(n), `${line}\n`);
    } catch (error) {
      throw outputError(this.folder, error);
    }
  }

  /** Writes the checkpoint, at most once a second (less often for very many prompts) unless forced. */
  async checkpoint(view: PassView, force = false): Promise<void> {
    const interval = Math.max(CHECKPOINT_MS, this.#run.total / 20);
    if (!force && this.#now() - this.#checkpointAt < interval) return;
    this.#checkpointAt = this.#now();
    const json = this.#checkpoint(view);
    const write = this.#writing.then(() => this.#guard(() => this.#writeJson('checkpoint.json', json)));
    this.#writing = write.catch(() => undefined);
    await write;
  }

  /** The end of a pass: all files, in agreement with the store. */
  async finish(view: PassView, end: PassEnd): Promise<void> {
    const files = await this.reconcile();
    await this.#guard(async () => {
      const rows = await mergeFiles(files, join(this.folder, 'trajectories.jsonl'));
      const { spec, scripted, total } = this.#run;
      await this.#writeJson('statistics.json', statisticsJson({ spec, scripted, total, ...end, at: this.#now(), rows }), { indent: 2 });
    });
    await this.checkpoint(view, true);
  }

  #checkpoint({ states, doneBefore }: PassView): Record<string, unknown> {
    const completed: number[] = [];
    const stats: Record<string, { processed: number; skipped: number; discarded_no_reasoning: number }> = {};
    states.forEach((state, index) => {
      const done = DONE_STATES.includes(state);
      if (done) completed.push(index);
      const batch = (stats[String(Math.floor(index / this.#run.spec.batchSize))] ??= { processed: 0, skipped: 0, discarded_no_reasoning: 0 });
      if (doneBefore.has(index)) batch.skipped += 1;
      else if (done || state === 'failed') batch.processed += 1;
      if (state === 'discarded') batch.discarded_no_reasoning += 1;
    });
    return {
      run_name: this.#run.name,
      completed_prompts: completed,
      batch_stats: stats,
      last_updated: new Date(this.#now()).toISOString(),
      // tells this run from another of the same name
      run_id: this.#run.id,
    };
  }

  #batchFile(n: number): string {
    return join(this.folder, `batch_${n}.jsonl`);
  }

  #writeJson(name: string, value: unknown, { exclusive = false, indent = 0 } = {}): Promise<void> {
    return writeAtomically(join(this.folder, name), (out) => out.write(`${JSON.stringify(value, null, indent)}\n`), exclusive);
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof BatchError || systemCode(error) === '' ? error : outputError(this.folder, error);
    }
  }
}

/** Throws BatchError `conflict` when the folder holds output files. Makes nothing. */
export async function refuseTakenFolder(folder: string): Promise<void> {
  const names = await outputsIn(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw outputError(folder, error);
  });
  if (names.length > 0) throw folderTaken(folder);
}

/** Throws BatchError `invalid` when the folder is in the one for workspaces, whose contents are removed after each run. */
export async function refuseInWorkspaces(folder: string, workspaces: string): Promise<void> {
  const [inner, outer] = await Promise.all([realPlace(folder), realPlace(workspaces)]);
  const way = relative(outer, inner);
  if (isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`)) return;
  throw new BatchError('invalid', `${workspaces} is for the workspaces of rollouts and is cleaned. Choose another output folder.`, { field: 'outputDir' });
}

/** The path without symbolic links, as far as it exists. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    return parent === path || systemCode(error) !== 'ENOENT' ? path : join(await realPlace(parent), relative(parent, path));
  }
}

async function outputsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => OUTPUT_NAME.test(name));
}

/** The run that wrote the folder's checkpoint: null when there is none, the empty text when it does not say. */
async function checkpointOwner(folder: string): Promise<string | null> {
  try {
    const value = JSON.parse(await readFile(join(folder, 'checkpoint.json'), 'utf8')) as { run_id?: unknown } | null;
    return typeof value?.run_id === 'string' ? value.run_id : '';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}

function folderTaken(folder: string): BatchError {
  return new BatchError('conflict', `${folder} holds the output of another run. Choose another run name or output folder, or move that folder away.`, { field: 'runName' });
}

function outputError(folder: string, error: unknown): BatchError {
  const code = systemCode(error);
  const said = error instanceof Error ? error.message : String(error);
  const sentence =
    code === 'ENOSPC' || code === 'EDQUOT' ? `There is no space left on the disk that holds ${folder}. Free some space, then resume the run: nothing is lost.`
    : ['EACCES', 'EPERM', 'EROFS'].includes(code) ? `${folder} cannot be written. Correct its permissions, then resume the run: nothing is lost.`
    : ['EEXIST', 'ENOTDIR'].includes(code) ? `${folder} cannot be a folder because a file is in the way. Move that file, or choose another output folder.`
    : `The output files in ${folder} cannot be written: ${said}. Resume the run when that is mended: nothing is lost.`;
  return new BatchError('unavailable', sentence, { field: 'outputDir', cause: error });
}
