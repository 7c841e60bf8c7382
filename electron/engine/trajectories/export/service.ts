import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { ExportEvent, ExportRequest, ExportSummary } from '#shared/contract/exports.ts';
import { makeFoldersSync } from '../../store/folders.ts';
import type { Readers } from '../../store/readers.ts';
import { FILE_EXISTS, readBadOption, SYSTEM_FAILURE } from './codes.ts';

export class ExportError extends Error {
  override name = 'ExportError';
  readonly code: 'exists' | 'invalid' | 'failed';
  /** The option at fault. */
  readonly field: string | undefined;
  constructor(code: ExportError['code'], message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/** Exports trajectories in a worker of its own, so that neither the engine nor searches wait for it. */
export class ExportService {
  readonly folder: string;
  readonly #worker: Readers;

  /**
   * @param folder where relative names go; what else lies in the home beside it is never written over.
   * @param worker a pool of its own: an export keeps its thread busy to the end.
   */
  constructor(folder: string, worker: Readers) {
    this.folder = folder;
    this.#worker = worker;
  }

  /** Progress events, then the summary. Ending the iteration early, or `signal`, cancels and leaves no file. */
  async *run(request: ExportRequest, signal?: AbortSignal): AsyncGenerator<ExportEvent> {
    const file = this.#target(request);
    try {
      makeFoldersSync(dirname(file));
    } catch (error) {
      throw new ExportError('invalid', `Cannot create the folder ${dirname(file)}: ${(error as Error).message}`, 'file');
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

  /** What an export would write and leave out. `signal` ends the counting; the promise then rejects. */
  async preview(request: Omit<ExportRequest, 'file' | 'overwrite'>, signal?: AbortSignal): Promise<ExportSummary> {
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const stop = () => void Atomics.store(cancel, 0, 1);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await this.#worker.run('export', { request: { ...request, file: null, overwrite: false }, cancel });
    } catch (error) {
      throw readBadOption((error as Error).message) ? asExportError(error as Error) : error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  #target({ file: name, format, groups }: ExportRequest): string {
    if (name.includes('\0')) throw new ExportError('invalid', 'A file name cannot hold a NUL character.', 'file');
    if (isAbsolute(name)) {
      const file = resolve(name);
      if (dirname(file) === dirname(this.folder)) {
        throw new ExportError('invalid', `${dirname(file)} is where Talaria keeps its own files. Choose another folder, such as ${this.folder}.`, 'file');
      }
      return file;
    }
    const file = resolve(join(this.folder, name));
    if (!file.startsWith(this.folder + sep)) throw new ExportError('invalid', 'Give a file name inside the exports folder, or an absolute path.', 'file');
    if (/\.jsonl?$/.test(basename(file))) return file;
    // a file without tokens is not what a trainer takes, and its name says so
    return format === 'atropos' && groups.tokenizer === null ? `${file}.messages.jsonl` : `${file}.jsonl`;
  }
}

function asExportError(error: Error): ExportError {
  const bad = readBadOption(error.message);
  if (bad) return new ExportError('invalid', bad.sentence, bad.field);
  if (error.message.startsWith(FILE_EXISTS)) return new ExportError('exists', error.message.slice(FILE_EXISTS.length + 2));
  const [, code = '', said = ''] = new RegExp(`^${SYSTEM_FAILURE} (\\w+): (.*)$`, 's').exec(error.message) ?? [];
  if (code === 'ENOSPC' || code === 'EDQUOT') return new ExportError('failed', 'There is no space left on the disk that should take the file. Free some space, or choose a file elsewhere. No partial file was left.');
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return new ExportError('failed', 'The folder may not be written. Correct its permissions, or choose a file elsewhere.');
  if (code === 'EEXIST') return new ExportError('exists', 'A file of this name was made meanwhile.');
  if (code === 'ENAMETOOLONG') return new ExportError('invalid', 'The file name is too long.', 'file');
  return new ExportError('failed', said === '' ? error.message : `The file cannot be written: ${said}.`);
}
