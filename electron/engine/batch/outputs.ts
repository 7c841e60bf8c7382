import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, sqlFor } from '../store/database.ts';
import { makeFolders } from '../store/folders.ts';
import { removeParts, writeAtomically } from './atomic.ts';
import { checkpointJson, checkpointOwner, type PassView } from './checkpoint.ts';
import { BatchError, systemCode } from './errors.ts';
import { cutTornLine } from './mend.ts';
import { folderTaken, outputError, outputsIn } from './output-folder.ts';
import { runYaml } from './plan/run-file.ts';
import { copyRows, type ExpectedRow, type FileRow, reconcileFile, type SurveyedFile } from './reconcile.ts';
import { batchLine, batchRowShape } from './row.ts';
import type { RunRecord } from './run-store.ts';
import { collectStatistics, statisticsJson } from './statistics.ts';
import type { Totals } from './totals.ts';

const CHECKPOINT_MS = 1_000;
const RUN_FILE = 'run.yaml';

export interface PassEnd {
  totals: Totals;
  /** Active time over all passes. */
  elapsedMs: number;
}

/**
 * The files of a run in its own folder: `batch_<n>.jsonl` (dataset row / batch size; a line as each kept rollout ends),
 * `trajectories.jsonl`, `checkpoint.json`, `statistics.json`, `run.yaml`. They repeat what is in the store and can always be made from it.
 * One object serves one pass. Whatever the file system refuses is thrown as a BatchError `unavailable` that says what to do.
 */
export class RunOutputs {
  readonly folder: string;
  readonly #db: Database;
  readonly #run: RunRecord;
  readonly #now: () => number;
  readonly #shape: string;
  /** Batch files that are known to end with a whole line. */
  readonly #whole = new Set<number>();
  #checkpointAt = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Database, run: RunRecord, now: () => number) {
    this.folder = run.outputDir;
    this.#db = db;
    this.#run = run;
    this.#now = now;
    this.#shape = batchRowShape(run.spec.trajectoryFormat);
  }

  /**
   * Makes the folder this run's own, or proves that it is. Reads no rows, however many there are.
   * Throws BatchError `conflict` when it holds another run.
   */
  async claim(): Promise<void> {
    await this.#guard(async () => {
      await makeFolders(this.folder);
      await removeParts(this.folder);
      const owner = await checkpointOwner(this.folder);
      if (owner === this.#run.id) return;
      if (owner !== null || (await outputsIn(this.folder)).length > 0) throw folderTaken(this.folder);
      try {
        await this.#writeJson('checkpoint.json', checkpointJson(this.#run, { states: [], doneBefore: new Set() }, new Set(), this.#now()), { exclusive: true });
      } catch (error) {
        throw systemCode(error) === 'EEXIST' ? folderTaken(this.folder) : error;
      }
      await this.writeRunFile({ replace: false });
    });
  }

  /** Writes `run.yaml`. One that a person put there stays unless `replace`. */
  async writeRunFile({ replace }: { replace: boolean }): Promise<void> {
    await this.#guard(async () => {
      try {
        await writeAtomically(join(this.folder, RUN_FILE), (out) => out.write(runYaml(this.#run.spec)), !replace);
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
      }
    });
  }

  /**
   * Appends the row of a rollout that has just got a kept disposition in the store. The first time in a pass that a file is touched, a
   * last line that was torn is cut, and its row written anew when the store has it.
   */
  append(index: number, trajectoryId: string): void {
    const n = this.#batchOf(index);
    const path = this.#batchFile(n);
    try {
      let lines = `${this.#line(index, trajectoryId)}\n`;
      if (!this.#whole.has(n)) {
        const torn = cutTornLine(path);
        const again = torn === null || torn === 'unknown' ? null : this.#indexOf({ prompt_index: torn.promptIndex, rollout: torn.rollout });
        const row = again === null || again === index || this.#batchOf(again) !== n ? undefined : this.#keptRows(again, again + 1).get(again);
        if (row) lines = `${this.#line(again!, row.trajectoryId)}\n${lines}`;
        this.#whole.add(n);
      }
      appendFileSync(path, lines);
    } catch (error) {
      // what was written of it goes at once, or the next time if that fails too
      this.#whole.delete(n);
      cutQuietly(path);
      if (systemCode(error) === '' || systemCode(error).startsWith('SQLITE')) throw error;
      throw outputError(this.folder, error);
    }
  }

  /** Writes the checkpoint, at most once a second (less often for very many rollouts) unless forced. */
  async checkpoint(view: PassView, force = false): Promise<void> {
    const interval = Math.max(CHECKPOINT_MS, this.#run.total / 20);
    if (!force && this.#now() - this.#checkpointAt < interval) return;
    this.#checkpointAt = this.#now();
    const json = checkpointJson(this.#run, view, this.#withoutReasoning(), this.#now());
    const write = this.#writing.then(() => this.#guard(() => this.#writeJson('checkpoint.json', json)));
    this.#writing = write.catch(() => undefined);
    await write;
  }

  #withoutReasoning(): Set<number> {
    const query = sqlFor.selectFrom('prompts').select('idx').where('run_id', '=', this.#run.id).where('state', '=', 'discarded').where('cause', '=', 'no_reasoning');
    return new Set(this.#db.all(query).map(({ idx }) => idx));
  }

  /** The end of a pass: all files, in agreement with the store. Others get their turn between rows, and one row is held at a time. */
  async finish(view: PassView, end: PassEnd): Promise<void> {
    await this.#guard(async () => {
      const rows = await this.#merge();
      const collected = await collectStatistics(this.#db, this.#run);
      await this.#writeJson('statistics.json', statisticsJson({ run: this.#run, ...end, at: this.#now(), rows, collected }), { indent: 2 });
    });
    await this.checkpoint(view, true);
  }

  /** Brings the batch files in line with the store, one after the other in their numeric order, and joins them. */
  async #merge(): Promise<{ written: number; completed: number; partial: number }> {
    const sum = { written: 0, completed: 0, partial: 0 };
    const perFile = this.#run.spec.batchSize * this.#run.spec.rollouts;
    await writeAtomically(join(this.folder, 'trajectories.jsonl'), async (out) => {
      for (let n = 0; n * perFile < this.#run.total; n += 1) {
        const { completed, partial } = await copyRows(await this.#reconcile(n, perFile), out);
        sum.completed += completed;
        sum.partial += partial;
      }
    });
    return { ...sum, written: sum.completed + sum.partial };
  }

  async #reconcile(n: number, perFile: number): Promise<SurveyedFile> {
    const rows = this.#keptRows(n * perFile, (n + 1) * perFile);
    return reconcileFile(this.#batchFile(n), { rows, shape: this.#shape, indexOf: (row) => this.#indexOf(row), line: (index) => this.#line(index, rows.get(index)!.trajectoryId) });
  }

  /** Completed and partial rollouts with `from` ≤ index < `to`. */
  #keptRows(from: number, to: number): Map<number, ExpectedRow> {
    const rows = this.#db.all(
      sqlFor
        .selectFrom('prompts as p')
        .innerJoin('trajectories as t', 't.id', 'p.trajectory_id')
        .select(['p.idx', 't.id', 't.reward'])
        .where('p.run_id', '=', this.#run.id)
        .where('p.idx', '>=', from)
        .where('p.idx', '<', to)
        .where('p.state', 'in', ['completed', 'partial'])
        .orderBy('p.idx'),
    );
    return new Map(rows.map((r) => [r.idx, { trajectoryId: r.id, reward: r.reward ?? 0 }]));
  }

  #indexOf({ prompt_index: prompt, rollout }: FileRow): number | null {
    const { rollouts } = this.#run.spec;
    const fits = Number.isSafeInteger(prompt) && Number.isSafeInteger(rollout) && (rollout as number) >= 0 && (rollout as number) < rollouts;
    return fits ? (prompt as number) * rollouts + (rollout as number) : null;
  }

  #line(index: number, trajectoryId: string): string {
    const { rollouts, trajectoryFormat } = this.#run.spec;
    const place = { runId: this.#run.id, index, promptIndex: Math.floor(index / rollouts), rollout: index % rollouts, batch: this.#batchOf(index) };
    return batchLine(this.#db, trajectoryId, place, trajectoryFormat);
  }

  #batchOf(index: number): number {
    return Math.floor(index / (this.#run.spec.batchSize * this.#run.spec.rollouts));
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

function cutQuietly(path: string): void {
  try {
    cutTornLine(path);
  } catch {
    // the next append tries again
  }
}
