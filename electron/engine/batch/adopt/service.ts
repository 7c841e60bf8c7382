import { isAbsolute } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { AdoptEvent, AdoptReport } from '#shared/contract/adopt.ts';
import type { RunSpec } from '#shared/contract/runs.ts';
import type { Database } from '../../store/database.ts';
import { BatchError } from '../errors.ts';
import { withProgress } from '../progress.ts';
import type { RunRecord } from '../run-store.ts';
import type { PassKey } from '../service.ts';
import { type OldRun, readOldRow, readOldRun } from './folder.ts';
import { type AdoptDataset, type Match, matchOldRun } from './match.ts';
import { takeOver, takeOverDiscarded } from './take-over.ts';

export interface AdoptServiceDeps {
  db: Database;
  now: () => number;
  /** Makes a run, lets `prepare` fill it and starts it. What throws, and a crash in between, leaves nothing. */
  start: (spec: RunSpec, key: PassKey, prepare: (run: RunRecord) => Promise<void>) => Promise<{ id: string }>;
}

type Progress = Extract<AdoptEvent, { type: 'progress' }>;

/**
 * Takes over runs that Hermes Agent's own batch runner made, with their faults: ids twice in the checkpoint, rows in wrong files or of
 * another state of the dataset, torn lines, prompts that are done and have no row. The old folder is only read. Expected failures are
 * BatchErrors.
 */
export class AdoptService {
  readonly #deps: AdoptServiceDeps;

  constructor(deps: AdoptServiceDeps) {
    this.#deps = deps;
  }

  /** What is in the folder and, with a dataset, what would be taken over. */
  async inspect({ folder, dataset }: { folder: string; dataset?: AdoptDataset | undefined }): Promise<AdoptReport> {
    const old = await readOldRun(whole(folder), () => {});
    return reportOf(old, dataset ? await matchOldRun(old, dataset) : null);
  }

  /** Makes a new run of the spec from the rows of the folder, and starts what is left of it. Ending the iteration before `done` leaves nothing. */
  async *run({ folder, spec }: { folder: string; spec: RunSpec }, signal?: AbortSignal, key: PassKey = {}): AsyncGenerator<AdoptEvent> {
    const { db, now, start } = this.#deps;
    const path = whole(folder);
    const done = yield* withProgress<Progress, { id: string; report: AdoptReport }>(async (report, stop) => {
      const old = await readOldRun(path, (rows) => report({ type: 'progress', stage: 'reading', done: rows, total: 0 }), stop);
      const match = await matchOldRun(old, spec);
      if (match.rows.size + match.discarded.length === 0) throw new BatchError('invalid', `No row of ${path} belongs to a prompt of ${spec.datasetFile}. Give the dataset that the run was made from.`, { field: 'datasetFile' });
      const { id } = await start(spec, key, async (run) => {
        let taken = 0;
        for (const [promptIndex, row] of match.rows) {
          stop.throwIfAborted();
          takeOver(db, run, promptIndex, await readOldRow(path, row), now);
          report({ type: 'progress', stage: 'taking_over', done: (taken += 1), total: match.rows.size });
          await yieldToOthers();
        }
        db.transaction(() => {
          for (const promptIndex of match.discarded) takeOverDiscarded(db, run, promptIndex, now);
        });
      });
      return { id, report: reportOf(old, match) };
    }, signal);
    yield { type: 'done', ...done };
  }
}

function reportOf(old: OldRun, match: Match | null): AdoptReport {
  return {
    folder: old.folder,
    runName: old.runName,
    model: old.model,
    batchSize: old.batchSize,
    distribution: old.distribution,
    files: old.files,
    rows: old.rows.length,
    badLines: old.badLines,
    failedRows: old.failedRows,
    checkpointIds: old.done.size,
    checkpointRepeats: old.repeatedIds,
    dataset: match?.report ?? null,
  };
}

function whole(folder: string): string {
  if (!isAbsolute(folder)) throw new BatchError('invalid', 'Give the whole path of the folder.', { field: 'folder' });
  return folder;
}
