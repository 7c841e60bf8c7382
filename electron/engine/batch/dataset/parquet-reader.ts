import type { FileHandle } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { ParquetAnswer, ParquetRequest } from './parquet-worker.ts';
import type { RawItem } from './types.ts';
import { fileError } from './words.ts';

/** Nothing read, unpacked or decoded for so long: the decoder hangs. */
const SILENCE_MS = 60_000;
/** Of a worker's heap; what it decodes at once is far smaller. */
const HEAP_MB = 1_024;
/** A worker that nobody needs any more is kept for the next file. */
const KEEP_MS = 10_000;

/** The reader's entry: in the source tree beside the store, in a bundle beside this module. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../../store/reader.ts' : './reader.js', import.meta.url);

export interface ParquetLimits {
  silenceMs?: number;
  heapMb?: number;
}

let idle: { worker: Worker; release: () => void } | null = null;

/**
 * Opens a Parquet file; it is decoded in a worker, so that a file which was made to hang its reader or to fill the memory costs that
 * worker and nothing else. Throws BatchError `invalid` with a sentence; `items` ends with one when the data is damaged.
 */
export async function openParquet(name: string, file: FileHandle, limits: ParquetLimits = {}): Promise<{ header: string[]; items: AsyncGenerator<RawItem> }> {
  const { size } = await file.stat();
  const decoder = new Decoder(name, limits);
  // the number of an open file means the same in every thread
  const opened = await decoder.ask({ open: { name, fd: file.fd, bytes: size } });
  if (!('header' in opened)) throw new Error('The decoder answered something else');
  return { header: opened.header, items: decoder.items() };
}

class Decoder {
  readonly #name: string;
  readonly #silenceMs: number;
  readonly #heapMb: number;
  readonly #worker: Worker;

  constructor(name: string, { silenceMs = SILENCE_MS, heapMb = HEAP_MB }: ParquetLimits) {
    this.#name = name;
    this.#silenceMs = silenceMs;
    this.#heapMb = heapMb;
    this.#worker = (heapMb === HEAP_MB ? takeIdle() : null) ?? new Worker(ENTRY, { workerData: { decode: 'parquet' }, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  }

  /** The next answer other than `busy`. A worker that fails, dies or falls silent is ended. */
  async ask(request: ParquetRequest): Promise<Exclude<ParquetAnswer, string | { failed: string }>> {
    const answer = await this.#answer(request).catch(async (error: unknown) => {
      await this.#worker.terminate();
      throw error;
    });
    if (typeof answer === 'object' && !('failed' in answer)) return answer;
    await this.#worker.terminate();
    if (typeof answer === 'object' && answer.invalid) throw fileError(answer.failed);
    throw this.#unreadable(typeof answer === 'object' ? answer.failed.replace(/\.$/, '') : answer);
  }

  async *items(): AsyncGenerator<RawItem> {
    let line = 0;
    let whole = false;
    try {
      for (;;) {
        const answer = await this.ask('next');
        if (!('records' in answer)) throw new Error('The decoder answered something else');
        for (const value of answer.records) yield { type: 'record', line: (line += 1), value, excerpt: () => JSON.stringify(value) };
        if (answer.done) break;
      }
      whole = true;
    } finally {
      // ended before the end, or by an error: what it holds goes with it
      if (whole && this.#heapMb === HEAP_MB) keepIdle(this.#worker);
      else await this.#worker.terminate();
    }
  }

  #answer(request: ParquetRequest): Promise<ParquetAnswer> {
    const worker = this.#worker;
    return new Promise<ParquetAnswer>((resolve, reject) => {
      const silent = (): void => settle(() => reject(this.#unreadable(`its decoder came to no end within ${this.#silenceMs / 1000} seconds`)));
      let clock = setTimeout(silent, this.#silenceMs);
      const settle = (end: () => void): void => {
        clearTimeout(clock);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        end();
      };
      const onMessage = (answer: ParquetAnswer): void => {
        if (answer !== 'busy') return settle(() => resolve(answer));
        clearTimeout(clock);
        clock = setTimeout(silent, this.#silenceMs);
      };
      const onError = (error: Error & { code?: string }): void => {
        settle(() => reject(this.#unreadable(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it takes more than ${this.#heapMb} MB of memory` : error.message, error)));
      };
      const onExit = (): void => settle(() => reject(this.#unreadable('its decoder stopped')));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(request);
    });
  }

  #unreadable(why: string, cause?: unknown): Error {
    return fileError(`${this.#name} is a damaged Parquet file, or one of a kind that is not read here (${why}). Bring it here again, or write it anew.`, cause);
  }
}

function takeIdle(): Worker | null {
  if (!idle) return null;
  const { worker, release } = idle;
  release();
  worker.ref();
  return worker;
}

/** Neither the worker nor its clock keeps the process alive. */
function keepIdle(worker: Worker): void {
  if (idle) return void worker.terminate();
  const end = (): void => {
    release();
    void worker.terminate();
  };
  const timer = setTimeout(end, KEEP_MS).unref();
  const release = (): void => {
    clearTimeout(timer);
    worker.off('error', end).off('exit', end);
    idle = null;
  };
  worker.on('error', end).on('exit', end);
  worker.unref();
  idle = { worker, release };
}
