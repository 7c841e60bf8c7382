import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { ReaderTasks } from '../trajectories/tasks.ts';

/**
 * Entry of the engine's workers. With a database `file`: one read-only connection; tasks that only wait for a module to load let others
 * pass; see store/readers.ts for the other side. With `decode`: decodes dataset files, see batch/dataset/parquet-reader.ts. Each loads
 * only what it needs.
 */
export interface ReaderRequest {
  id: number;
  task: keyof ReaderTasks;
  input: unknown;
}
export type ReaderResponse =
  | { id: number; progress: unknown }
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; message: string };

async function serveTasks(port: MessagePort, file: string): Promise<void> {
  const [{ Database }, { readerTasks }] = await Promise.all([import('./connection.ts'), import('../trajectories/tasks.ts')]);
  const db = new Database(file, { readonly: true });
  const answer = async (request: ReaderRequest): Promise<void> => {
    let response: ReaderResponse;
    try {
      const task = readerTasks[request.task] as (db: unknown, input: unknown, onProgress: (p: unknown) => void) => unknown;
      response = { id: request.id, ok: true, value: await task(db, request.input, (progress) => port.postMessage({ id: request.id, progress } satisfies ReaderResponse)) };
    } catch (error) {
      response = { id: request.id, ok: false, message: error instanceof Error ? error.message : String(error) };
    }
    port.postMessage(response);
  };
  port.on('message', (request: ReaderRequest) => void answer(request));
}

if (parentPort) {
  const work = workerData as { file: string } | { decode: 'parquet' };
  if ('file' in work) await serveTasks(parentPort, work.file);
  else (await import('../batch/dataset/parquet-worker.ts')).serveParquet(parentPort);
}
