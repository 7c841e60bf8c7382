import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Compression } from '#shared/contract/datasets.ts';
import { openCsv } from './csv.ts';
import { bytesOf, headOf, openDataset } from './file.ts';
import { detectEncoding, detectText, HEAD_BYTES, isParquet, refuseOthers } from './format.ts';
import { readJsonList } from './json-list.ts';
import { readJsonl } from './jsonl.ts';
import { openParquet } from './parquet-reader.ts';
import { toUtf8 } from './transcode.ts';
import type { RawItem, RawSource } from './types.ts';
import { compressionOf, unpack } from './unpack.ts';
import { fileError, WANTED } from './words.ts';

/**
 * Opens a dataset file and tells by its content how it is packed and what it is; its name plays no part. What `use` reads from it is
 * read while it runs; the file is closed afterwards. Throws BatchError `invalid` and errors of the file system.
 */
export async function* withSource<T>(path: string, use: (source: RawSource) => AsyncGenerator<T>): AsyncGenerator<T> {
  const name = basename(path);
  const file = await openDataset(path);
  const cleanups: (() => Promise<unknown>)[] = [() => file.close()];
  try {
    const compression = compressionOf(await headOf(bytesOf(file), 4));
    const seen = { hash: createHash('sha256'), bytes: 0 };
    const head = await headOf(unpacked(file, compression, name), HEAD_BYTES);
    if (head.length === 0) throw fileError(`${name} is empty. ${WANTED}.`);
    refuseOthers(name, head);
    if (isParquet(head)) {
      const data = compression === 'none' ? file : await unpackToFile(file, compression, name, cleanups);
      const { header, items } = await openParquet(name, data);
      const all = (async function* () {
        yield* items;
        for await (const _ of bytesOf(file, seen));
      })();
      return yield* use({ name, format: 'parquet', compression, encoding: null, header, items: all, end: () => digest(seen) });
    }
    const { encoding, start } = detectEncoding(head);
    const text = detectText(name, head, encoding, head.length < HEAD_BYTES);
    const stream = unpacked(file, compression, name, seen);
    const utf8 = (): AsyncIterable<Buffer> => toUtf8(stream, encoding, start);
    let header: string[] | null = null;
    let items: AsyncIterable<RawItem>;
    if (text.format === 'jsonl') items = readJsonl(stream, encoding, start);
    else if (text.format === 'json') items = readJsonList(name, utf8(), text.wrapped);
    else ({ header, items } = await openCsv(name, utf8(), text.delimiter));
    return yield* use({ name, format: text.format, compression, encoding, header, items, end: () => digest(seen) });
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

function digest(seen: { hash: Hash; bytes: number }): { bytes: number; sha256: string } {
  return { bytes: seen.bytes, sha256: seen.hash.copy().digest('hex') };
}

function unpacked(file: FileHandle, compression: Compression, name: string, seen?: { hash: Hash; bytes: number }): AsyncIterable<Buffer> {
  const bytes = bytesOf(file, seen);
  return compression === 'none' ? bytes : unpack(bytes, compression, name);
}

/** Parquet is read from its end, so a packed one is unpacked beside. */
async function unpackToFile(file: FileHandle, compression: Exclude<Compression, 'none'>, name: string, cleanups: (() => Promise<unknown>)[]): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-dataset-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'data.parquet');
  await pipeline(unpack(bytesOf(file), compression, name), createWriteStream(path, { mode: 0o600 }));
  const data = await open(path, 'r');
  cleanups.push(() => data.close());
  return data;
}
