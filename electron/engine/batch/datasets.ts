import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { DatasetReport } from '#shared/contract/datasets.ts';
import { type DatasetOptions, inspectDataset } from './dataset.ts';
import { BatchError, systemCode } from './errors.ts';

const MAX_PIECE_BYTES = 1024 * 1024;
/** Of one uploaded file. */
const MAX_UPLOAD_BYTES = 2 * 1024 ** 3;
const DAY_MS = 86_400_000;
/** A run keeps its prompts in the store, so an uploaded file is of use only until it was started. */
const KEEP_FINISHED_MS = 7 * DAY_MS;
const PART = '.part';

interface Piece {
  /** Absent on the first piece. */
  uploadId?: string | undefined;
  name: string;
  /** Base64, at most 1 MiB decoded. */
  chunk: string;
  last: boolean;
}

/** Dataset files: what is in them, and how they come from a browser to this machine. */
export class DatasetService {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #open = new Map<string, { part: string; file: string; bytes: number; busy: boolean }>();
  #cleaned: Promise<void> | null = null;

  /** @param folder where uploads are kept, each in a folder of its own */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Reads the file and says what is in it and how its columns are understood. Throws BatchError `invalid`. */
  inspect({ path, ...options }: { path: string } & DatasetOptions, signal?: AbortSignal): Promise<DatasetReport> {
    if (!isAbsolute(path)) throw new BatchError('invalid', `Give the whole path of the dataset file, not "${path}".`, { field: 'datasetFile' });
    return inspectDataset(path, options, signal);
  }

  /** Takes one piece. The answer to the last one has the stored path. Throws BatchError `invalid` or `unavailable`. */
  async upload(piece: Piece): Promise<{ uploadId: string; path: string | null }> {
    await (this.#cleaned ??= this.removeAbandoned());
    const bytes = decode(piece.chunk);
    const uploadId = piece.uploadId ?? (await this.#begin(piece.name));
    const upload = this.#open.get(uploadId);
    if (!upload) throw new BatchError('invalid', 'This upload is not known (any more). Send the file again from its beginning.');
    if (upload.busy) throw new BatchError('invalid', 'The pieces of one file must be sent one after the other.');
    upload.busy = true;
    try {
      upload.bytes += bytes.length;
      if (upload.bytes > MAX_UPLOAD_BYTES) throw new BatchError('invalid', 'The file is larger than 2 GB. Put it on the machine that runs Talaria and give its path.');
      await appendFile(upload.part, bytes, { mode: 0o600 });
      if (!piece.last) return { uploadId, path: null };
      await rename(upload.part, upload.file);
      this.#open.delete(uploadId);
      return { uploadId, path: upload.file };
    } catch (error) {
      this.#open.delete(uploadId);
      await rm(join(this.#folder, uploadId), { recursive: true, force: true });
      throw asBatchError(error);
    } finally {
      upload.busy = false;
    }
  }

  /** Removes uploads that were begun over a day ago and never ended, and finished ones after a week. */
  async removeAbandoned(): Promise<void> {
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const folder = join(this.#folder, id);
      const names = await readdir(folder).catch(() => null);
      if (names === null || this.#open.has(id)) continue;
      const age = this.#now() - (await stat(names[0] ? join(folder, names[0]) : folder).catch(() => null).then((s) => s?.mtimeMs ?? Infinity));
      if (age > (names.some((n) => n.endsWith(PART)) ? DAY_MS : KEEP_FINISHED_MS)) await rm(folder, { recursive: true, force: true });
    }
  }

  async #begin(name: string): Promise<string> {
    const id = randomBytes(16).toString('hex');
    const file = join(this.#folder, id, safeName(name));
    try {
      await mkdir(join(this.#folder, id), { recursive: true, mode: 0o700 });
    } catch (error) {
      throw asBatchError(error);
    }
    this.#open.set(id, { part: `${file}${PART}`, file, bytes: 0, busy: false });
    return id;
  }
}

/** The last part of a file name without anything that a file system or a terminal could take amiss. */
export function safeName(name: string): string {
  const base = name.normalize('NFC').toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = base.replace(/[^\p{L}\p{N}\p{M} ._-]/gu, '_').replace(/^[. ]+|[. ]+$/g, '');
  const short = [...clean].slice(-50).join('');
  return short === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(short) ? 'dataset.jsonl' : short;
}

function decode(chunk: string): Buffer {
  if (chunk.length > Math.ceil(MAX_PIECE_BYTES / 3) * 4 + 4) throw new BatchError('invalid', 'A piece of the file is larger than 1 MB.');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(chunk)) throw new BatchError('invalid', 'A piece of the file is not valid base64.');
  return Buffer.from(chunk, 'base64');
}

function asBatchError(error: unknown): BatchError {
  if (error instanceof BatchError) return error;
  const full = ['ENOSPC', 'EDQUOT'].includes(systemCode(error));
  const said = error instanceof Error ? error.message : String(error);
  return new BatchError('unavailable', full ? 'There is no space left on the disk to take this file.' : `The file could not be stored: ${said}.`, { cause: error });
}
