import { mkdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { ExportEvent, ExportRequest, ExportSummary } from '#shared/contract/exports.ts';
import type { Readers } from '../../store/readers.ts';
import { FILE_EXISTS } from './job.ts';

export class ExportError extends Error {
  override name = 'ExportError';
  readonly code: 'exists' | 'invalid' | 'failed';
  constructor(code: ExportError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Exports trajectories in a worker of its own, so that neither the engine nor searches wait for it. */
export class ExportService {
  readonly folder: string;
  readonly #worker: Readers;

  /** @param worker a pool of its own: an export keeps its thread busy to the end. */
  constructor(folder: string, worker: Readers) {
    this.folder = folder;
    this.#worker = worker;
  }

  /** Progress events, then the summary. Ending the iteration early, or `signal`, cancels and leaves no file. */
  async *run(request: ExportRequest, signal?: AbortSignal): AsyncGenerator<ExportEvent> {
    const file = this.#target(request.file);
    try {
      mkdirSync(dirname(file), { recursive: true });
    } catch (error) {
      throw new ExportError('invalid', `Cannot create the folder ${dirname(file)}: ${(error as Error).message}`);
    }
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const stop = () => void Atomics.store(cancel, 0, 1);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });

    const progress: ExportEvent[] = [];
    let wake = (): void => {};
    let outcome: { summary: ExportSummary } | { error: Error } | null = null;
    this.#worker
      .run('export', { request: { ...request, file }, cancel }, (p) => {
        progress.splice(0, progress.length, { type: 'progress', ...(p as { done: number; total: number; bytes: number }) });
        wake();
      })
      .then(
        (summary) => (outcome = { summary }),
        (error: Error) => (outcome = { error }),
      )
      .finally(() => wake());
    try {
      while (outcome === null) {
        yield* progress.splice(0);
        if (outcome === null && progress.length === 0) {
          await new Promise<void>((r) => {
            wake = r;
          });
        }
      }
      const end = outcome as { summary: ExportSummary } | { error: Error };
      if ('error' in end) throw asExportError(end.error);
      yield { type: 'done', summary: end.summary };
    } finally {
      stop();
      signal?.removeEventListener('abort', stop);
    }
  }

  /** What an export would write and leave out. */
  async preview(request: Omit<ExportRequest, 'file' | 'overwrite'>): Promise<ExportSummary> {
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    return this.#worker.run('export', { request: { ...request, file: null, overwrite: false }, cancel });
  }

  #target(name: string): string {
    if (isAbsolute(name)) return name;
    const file = resolve(join(this.folder, name));
    if (!file.startsWith(this.folder + sep)) throw new ExportError('invalid', 'Give a file name inside the exports folder, or an absolute path.');
    return /\.jsonl?$/.test(basename(file)) ? file : `${file}.jsonl`;
  }
}

function asExportError(error: Error): ExportError {
  if (error.message.startsWith(FILE_EXISTS)) return new ExportError('exists', error.message.slice(FILE_EXISTS.length + 2));
  return new ExportError('failed', error.message);
}
