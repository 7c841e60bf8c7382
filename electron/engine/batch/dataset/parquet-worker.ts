import type { MessagePort } from 'node:worker_threads';
import { BatchError } from '../errors.ts';
import { decodeParquet, type ParquetFile } from './parquet.ts';

/** The side of parquet-reader.ts that decodes: one file at a time, a slice of its records for each `next`. */
export type ParquetRequest = { open: ParquetFile } | 'next';
export type ParquetAnswer =
  | { header: string[] }
  /** `done` when the file has no more. */
  | { records: Record<string, unknown>[]; done: boolean }
  | { failed: string; invalid: boolean }
  | 'busy';

/** A slice ends when it has so many records or characters of text. */
const SLICE_RECORDS = 500;
const SLICE_CHARS = 4_000_000;

/** Answers each request with one answer; before it there may be any number of `busy`, no more often than asked for. */
export function serveParquet(port: MessagePort, busyEveryMs = 1_000): void {
  let records: AsyncGenerator<Record<string, unknown>> | null = null;
  let said = Date.now();
  const answer = (message: ParquetAnswer): void => port.postMessage(message);
  const busy = (): void => {
    if (Date.now() - said < busyEveryMs) return;
    said = Date.now();
    answer('busy');
  };
  const handle = async (request: ParquetRequest): Promise<ParquetAnswer> => {
    if (request === 'next') return slice(records!);
    const opened = await decodeParquet(request.open, busy);
    records = opened.records;
    return { header: opened.header };
  };
  port.on('message', (request: ParquetRequest) => {
    handle(request).then(answer, (error: unknown) => answer({ failed: error instanceof Error ? error.message : String(error), invalid: error instanceof BatchError }));
  });
}

async function slice(from: AsyncGenerator<Record<string, unknown>>): Promise<ParquetAnswer> {
  const records: Record<string, unknown>[] = [];
  let chars = 0;
  while (records.length < SLICE_RECORDS && chars < SLICE_CHARS) {
    const { value, done } = await from.next();
    if (done) return { records, done: true };
    records.push(value);
    for (const cell of Object.values(value)) chars += typeof cell === 'string' ? cell.length : 100;
  }
  return { records, done: false };
}
