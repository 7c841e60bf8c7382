import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { ExportRequest, ExportSummary } from '#shared/contract/exports.ts';
import type { Database } from '../../store/database.ts';
import { countMatching, getMessages, walkTrajectories } from '../query.ts';
import { shareGptRow } from './rows.ts';

const PAGE = 100;
const BUFFER_CHARS = 1 << 20;
const PROGRESS_MS = 200;

export interface ExportJob {
  request: Omit<ExportRequest, 'file'> & { file: string | null };
  /** Set to 1 from outside to cancel. */
  cancel: Int32Array;
}

export class ExportCancelled extends Error {
  override name = 'ExportCancelled';
}

/** Codes of failures that a person can mend are put in front of the message, since only text crosses the thread border. */
export const FILE_EXISTS = 'FILE_EXISTS';
export const SYSTEM_FAILURE = 'SYSTEM_FAILURE';

/**
 * Writes the trajectories of a filter to one JSONL file, oldest first, holding one trajectory at a time. The file appears under its
 * name only when it is whole, and not at all when no row is fit for it. With `file: null` nothing is written (a preview).
 */
export function exportTrajectories(
  db: Database,
  job: ExportJob,
  onProgress: (progress: { done: number; total: number; bytes: number }) => void,
): ExportSummary {
  const { request } = job;
  const started = Date.now();
  if (request.file !== null && !request.overwrite && existsSync(request.file)) throw new Error(`${FILE_EXISTS}: ${request.file} exists already.`);
  const total = countMatching(db, request.filter);
  const leftOut = new Tally();
  const warnings = new Tally();
  const out = request.file === null ? null : withCode(() => new PartFile(request.file ?? ''));
  let done = 0;
  let written = 0;
  let lastProgress = 0;
  try {
    for (let after = 0; ; ) {
      const page = walkTrajectories(db, request.filter, after, PAGE);
      if (page.length === 0) break;
      for (const detail of page) {
        if (Atomics.load(job.cancel, 0) === 1) throw new ExportCancelled('The export was cancelled.');
        const row = shareGptRow(detail, getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true), request);
        if ('leftOut' in row) leftOut.add(row.leftOut, detail.id);
        else {
          withCode(() => out?.write(`${row.line}\n`));
          written++;
          for (const w of row.warnings) warnings.add(w, detail.id);
        }
        done++;
        if (Date.now() - lastProgress > PROGRESS_MS) {
          lastProgress = Date.now();
          onProgress({ done, total, bytes: out?.bytes ?? 0 });
        }
      }
      after = page.at(-1)!.n;
    }
    if (written > 0) withCode(() => out?.finish(request.overwrite));
    else out?.discard();
  } catch (error) {
    out?.discard();
    throw error;
  }
  return {
    file: written > 0 ? (request.file ?? '') : '',
    format: request.format,
    bytes: out?.bytes ?? 0,
    written,
    leftOut: leftOut.list(),
    warnings: warnings.list(),
    durationMs: Date.now() - started,
  };
}

/** Puts the code of a failure of the file system in front. */
function withCode<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw typeof code === 'string' ? new Error(`${SYSTEM_FAILURE} ${code}: ${message}`, { cause: error }) : error;
  }
}

class Tally {
  readonly #items = new Map<string, { reason: string; count: number; exampleId: string }>();
  add(reason: string, exampleId: string): void {
    const item = this.#items.get(reason);
    if (item) item.count++;
    else this.#items.set(reason, { reason, count: 1, exampleId });
  }
  list(): { reason: string; count: number; exampleId: string }[] {
    return [...this.#items.values()].sort((a, b) => b.count - a.count);
  }
}

/** A file that is written beside its final name and moved there when whole. */
class PartFile {
  readonly #target: string;
  readonly #part: string;
  readonly #fd: number;
  #buffer = '';
  bytes = 0;

  constructor(target: string) {
    this.#target = target;
    this.#part = `${target}.part-${randomBytes(4).toString('hex')}`;
    this.#fd = openSync(this.#part, 'wx', 0o600);
  }

  write(text: string): void {
    this.#buffer += text;
    this.bytes += Buffer.byteLength(text);
    if (this.#buffer.length > BUFFER_CHARS) this.#flush();
  }

  finish(overwrite: boolean): void {
    this.#flush();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (overwrite) renameSync(this.#part, this.#target);
    else {
      // link fails when the name was taken meanwhile, where rename would replace; some file systems have no links
      try {
        linkSync(this.#part, this.#target);
        rmSync(this.#part);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '') || existsSync(this.#target)) throw error;
        renameSync(this.#part, this.#target);
      }
    }
  }

  discard(): void {
    try {
      closeSync(this.#fd);
    } catch {
      // closed already
    }
    rmSync(this.#part, { force: true });
  }

  #flush(): void {
    const data = Buffer.from(this.#buffer);
    let offset = 0;
    while (offset < data.length) offset += writeSync(this.#fd, data, offset);
    this.#buffer = '';
  }
}
