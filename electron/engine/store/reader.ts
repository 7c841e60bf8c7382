import { parentPort, workerData } from 'node:worker_threads';
import { Database } from './database.ts';
import { type ReaderTasks, readerTasks } from '../trajectories/tasks.ts';

/** Entry of a reader worker: one read-only connection, one task at a time. See store/readers.ts for the other side. */
export interface ReaderRequest {
  id: number;
  task: keyof ReaderTasks;
  input: unknown;
}
export type ReaderResponse =
  | { id: number; progress: unknown }
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; message: string };

const port = parentPort;
if (port) {
  const db = new Database((workerData as { file: string }).file, { readonly: true });
  port.on('message', (request: ReaderRequest) => {
    let response: ReaderResponse;
    try {
      const task = readerTasks[request.task] as (db: Database, input: unknown, onProgress: (p: unknown) => void) => unknown;
      response = { id: request.id, ok: true, value: task(db, request.input, (progress) => port.postMessage({ id: request.id, progress } satisfies ReaderResponse)) };
    } catch (error) {
      response = { id: request.id, ok: false, message: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(response);
  });
}
