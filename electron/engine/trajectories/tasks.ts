import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { CompareInput } from '../batch/dashboard/compare.ts';
import { runDashboard } from '../batch/dashboard/dashboard.ts';
import type { SessionQuery } from '../chat/list.ts';
import type { Database } from '../store/connection.ts';
import type { ExportJob } from './export/job.ts';
import type { ListPage } from './query.ts';
import type { SessionSearch } from './search-sessions.ts';

/**
 * What reader workers can do: each takes plain data and a read-only connection, and answers with plain data. A reader is started for the
 * first question that needs one, so what only some of them need is loaded by the task that does.
 */
export const readerTasks = {
  list: async (db: Database, input: ListPage & { filter: TrajectoryFilter }) => (await import('./query.ts')).listTrajectories(db, input.filter, input),
  counts: async (db: Database, input: { filter: TrajectoryFilter }) => (await import('./query.ts')).countTrajectories(db, input.filter),
  chats: async (db: Database, input: SessionQuery) => (await import('../chat/list.ts')).listSessions(db, input),
  attachmentsInUse: async (db: Database, _input: Record<never, never>) => (await import('../chat/list.ts')).attachmentsInUse(db),
  raw: async (db: Database, input: { id: string }) => {
    const { getDetail, getRaw } = await import('./query.ts');
    const detail = getDetail(db, input.id);
    return detail ? getRaw(db, detail) : null;
  },
  sessions: async (db: Database, input: SessionSearch) => (await import('./search-sessions.ts')).searchSessions(db, input),
  dashboard: (db: Database, input: { runId: string }) => runDashboard(db, input),
  compare: async (db: Database, input: CompareInput) => (await import('../batch/dashboard/compare.ts')).compareRuns(db, input),
  page: async (_: Database, input: { html: string; url: string }) => (await import('../tools/web/page.ts')).pageToMarkdown(input),
  export: async (db: Database, input: ExportJob, onProgress: (p: unknown) => void) => (await import('./export/job.ts')).exportTrajectories(db, input, onProgress),
};

export type ReaderTasks = typeof readerTasks;
