import { Worker } from 'node:worker_threads';
import type { ReaderTasks } from '../trajectories/tasks.ts';
import type { ReaderRequest, ReaderResponse } from './reader.ts';

type Input<T extends keyof ReaderTasks> = Parameters<ReaderTasks[T]>[1];
type Output<T extends keyof ReaderTasks> = Awaited<ReturnType<ReaderTasks[T]>>;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onProgress: ((progress: unknown) => void) | undefined;
}

/**
 * A few worker threads with read-only connections, for queries that could hold up the engine. Started on first use; a crashed
 * worker fails its tasks and is replaced on the next call.
 */
export class Readers {
  readonly #entry: string;
  readonly #file: string;
  readonly #slots: { worker: Worker | null; waiting: Map<number, Waiting> }[];
  #next = 0;
  #closed = false;

  constructor(entry: string, databaseFile: string, size = 2) {
    this.#entry = entry;
    this.#file = databaseFile;
    this.#slots = Array.from({ length: size }, () => ({ worker: null, waiting: new Map<number, Waiting>() }));
  }

  /** Runs a task in the least busy worker. Rejects when the task throws, the worker dies or the pool is closed. */
  run<T extends keyof ReaderTasks>(task: T, input: Input<T>, onProgress?: (progress: unknown) => void): Promise<Output<T>> {
    if (this.#closed) return Promise.reject(new Error('The store is closed'));
    const slot = this.#slots.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    const worker = (slot.worker ??= this.#start(slot));
    const id = this.#next++;
    return new Promise<Output<T>>((resolve, reject) => {
      slot.waiting.set(id, { resolve: resolve as Waiting['resolve'], reject, onProgress });
      worker.postMessage({ id, task, input } satisfies ReaderRequest);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#slots.flatMap((s) => (s.worker ? [s.worker.terminate()] : [])));
  }

  #start(slot: { worker: Worker | null; waiting: Map<number, Waiting> }): Worker {
    const worker = new Worker(this.#entry, { workerData: { file: this.#file } });
    worker.unref();
    worker.on('message', (r: ReaderResponse) => {
      const w = slot.waiting.get(r.id);
      if ('progress' in r) {
        w?.onProgress?.(r.progress);
        return;
      }
      slot.waiting.delete(r.id);
      if (r.ok) w?.resolve(r.value);
      else w?.reject(new Error(r.message));
    });
    const fail = (error: Error) => {
      for (const w of slot.waiting.values()) w.reject(error);
      slot.waiting.clear();
      if (slot.worker === worker) slot.worker = null;
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('The reader stopped')));
    return worker;
  }
}
