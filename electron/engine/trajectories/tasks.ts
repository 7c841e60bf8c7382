import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { Database } from '../store/database.ts';
import { type ExportJob, exportTrajectories } from './export/job.ts';
import { countTrajectories, getDetail, getRaw, listTrajectories } from './query.ts';

/** What reader workers can do: each takes plain data and a read-only connection, and answers with plain data. */
export const readerTasks = {
  list: (db: Database, input: { filter: TrajectoryFilter; before?: number | undefined; limit: number }) =>
    listTrajectories(db, input.filter, input.before, input.limit),
  counts: (db: Database, input: { filter: TrajectoryFilter }) => countTrajectories(db, input.filter),
  raw: (db: Database, input: { id: string }) => {
    const detail = getDetail(db, input.id);
    return detail ? getRaw(db, detail) : null;
  },
  export: (db: Database, input: ExportJob, onProgress: (p: unknown) => void) => exportTrajectories(db, input, onProgress),
};

export type ReaderTasks = typeof readerTasks;
