import { isUtf8 } from 'node:buffer';
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type AsyncBuffer, type Compressors, type FileMetaData, type ParquetParsers, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors as others } from 'hyparquet-compressors';
import { BatchError } from '../errors.ts';
import { checkPages, MAX_PAGE_BYTES } from './parquet-pages.ts';
import { fileError } from './words.ts';

/** Unpacked bytes that are decoded at once: a part of a row group when that is larger. */
const PART_BYTES = 32 * 1024 * 1024;
const PART_ROWS = 100_000;
/** Packed, of one column in one row group; it is held while its part is decoded. */
const MAX_CHUNK_BYTES = 1024 ** 3;
const MAX_FOOTER_BYTES = 256 * 1024 * 1024;

/** An open file; `name` is for sentences. */
export interface ParquetFile {
  name: string;
  fd: number;
  bytes: number;
}

const readAt = promisify(read);

/**
 * Decodes a Parquet file: its columns, and its records in order. Throws BatchError `invalid` with a sentence; `records` ends with one
 * when the data is damaged. `onProgress` is told of everything that goes on, so that silence means that the decoder hangs: crafted files
 * can make it go on for ever or fill the memory, so it runs in a worker (see parquet-reader.ts).
 */
export async function decodeParquet(file: ParquetFile, onProgress: () => void): Promise<{ header: string[]; records: AsyncGenerator<Record<string, unknown>> }> {
  const { name } = file;
  const buffer = await asBuffer(file, onProgress);
  let metadata: FileMetaData;
  let header: string[];
  try {
    metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
    header = parquetSchema(metadata).children.map((child) => child.element.name);
  } catch (error) {
    throw damaged(name, error);
  }
  const twice = header.find((column, i) => header.indexOf(column) !== i);
  if (twice !== undefined) throw fileError(`${name} has two columns called "${twice}". Give each its own name.`);
  return { header, records: readGroups(name, buffer, metadata, header, compressors(onProgress)) };
}

/** Large row groups are decoded in parts. */
async function* readGroups(name: string, file: AsyncBuffer, metadata: FileMetaData, header: string[], compressors: Compressors): AsyncGenerator<Record<string, unknown>> {
  let groupStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const tooLarge = group.columns.find((c) => Number(c.meta_data?.total_compressed_size ?? 0) > MAX_CHUNK_BYTES);
    if (tooLarge) throw fileError(`${name} has a row group whose column "${tooLarge.meta_data?.path_in_schema.join('.')}" is larger than 1 GB. Write the file with smaller row groups.`);
    await checkPages(file, group).catch((error: unknown) => Promise.reject(damaged(name, error)));
    const size = group.columns.reduce((sum, c) => sum + Number(c.meta_data?.total_uncompressed_size ?? 0), 0);
    const part = Math.min(PART_ROWS, Math.max(1, Math.ceil(rows / Math.max(1, Math.ceil(size / PART_BYTES)))));
    for (let from = 0; from < rows; from += part) {
      const [rowStart, rowEnd] = [groupStart + from, groupStart + Math.min(rows, from + part)];
      const found = await readPart(name, { file, metadata, rowStart, rowEnd, compressors, parsers: PARSERS, utf8: false, geoparquet: false }, header);
      for (const values of found) yield Object.fromEntries(header.map((column, c) => [column, plain(values[c])]));
    }
    groupStart += rows;
  }
}

async function readPart(name: string, options: Parameters<typeof parquetRead>[0], header: string[]): Promise<unknown[][]> {
  const rowEnd = options.rowEnd!;
  let found: unknown[][] = [];
  // where each column ends: what is missing there would be given as no value
  const ends = new Map<string, number>();
  try {
    await parquetRead({
      ...options,
      rowFormat: 'array',
      onChunk: (chunk) => ends.set(chunk.columnName, Math.max(ends.get(chunk.columnName) ?? 0, chunk.rowEnd)),
      onComplete: (rows: unknown[][]) => (found = rows),
    });
  } catch (error) {
    throw damaged(name, error);
  }
  if (found.length !== rowEnd - options.rowStart! || header.some((column) => (ends.get(column) ?? 0) < rowEnd)) throw damaged(name, new Error('rows that it announces are not there'));
  return found;
}

function damaged(name: string, error: unknown): BatchError {
  if (error instanceof BatchError) return error;
  const said = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  return fileError(`${name} is a damaged Parquet file, or one of a kind that is not read here (${said}). Bring it here again, or write it anew.`, error);
}

async function asBuffer({ name, fd, bytes: size }: ParquetFile, onProgress: () => void): Promise<AsyncBuffer> {
  const tail = Buffer.alloc(Math.min(8, size));
  await readAt(fd, tail, 0, tail.length, size - tail.length);
  if (size < 12 || tail.subarray(4).toString('latin1') !== 'PAR1') throw fileError(`${name} is a Parquet file that is cut off: its end is missing. Bring the file here again.`);
  if (tail.readUInt32LE(0) > Math.min(MAX_FOOTER_BYTES, size - 8)) throw damaged(name, new Error('the footer has an impossible length'));
  return {
    byteLength: size,
    // Never rejects: the package drops promises when another one fails. What is short is found when it is decoded.
    async slice(start, end = size) {
      const length = Math.min(end, size) - start;
      if (!(start >= 0 && length >= 0 && length <= MAX_CHUNK_BYTES)) return new ArrayBuffer(0);
      const part = new ArrayBuffer(length);
      const bytesRead = await readAt(fd, new Uint8Array(part), 0, length, start).then((r) => r.bytesRead, () => 0);
      onProgress();
      return bytesRead === length ? part : new ArrayBuffer(0);
    },
  };
}

/** Each refuses to unpack to more than was announced, and that is limited. Those of Node are much faster than the package's. */
function compressors(onProgress: () => void): Compressors {
  const limited = (decompress: Decompress): Decompress => (input, length) => {
    if (!(length >= 0 && length <= MAX_PAGE_BYTES)) throw new Error('a page is announced to be larger than 512 MB');
    const bytes = decompress(input, length);
    onProgress();
    return bytes;
  };
  return {
    SNAPPY: limited((input, length) => others.SNAPPY!(input, length)),
    GZIP: limited((input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) })),
    BROTLI: limited((input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) })),
    ZSTD: limited((input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) })),
    LZ4: limited((input, length) => others.LZ4!(input, length)),
    LZ4_RAW: limited((input, length) => others.LZ4_RAW!(input, length)),
  };
}

type Decompress = (input: Uint8Array, length: number) => Uint8Array;

/** As text where a number or a `Date` would lose something: microseconds, nanoseconds. */
const PARSERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (ms) => isoTime(ms, 1_000n, 3),
  timestampFromMicroseconds: (us) => isoTime(us, 1_000_000n, 6),
  timestampFromNanoseconds: (ns) => isoTime(ns, 1_000_000_000n, 9),
  dateFromDays: (days) => (days === null || days === undefined ? null : isoDate(days)),
};

function isoDate(days: number): string {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? String(days) : date.toISOString().slice(0, 10);
}

function isoTime(value: bigint | null | undefined, perSecond: bigint, digits: number): string | null {
  if (value === null || value === undefined) return null;
  const count = BigInt(value);
  const fraction = ((count % perSecond) + perSecond) % perSecond;
  const date = new Date(Number((count - fraction) / perSecond) * 1000);
  if (Number.isNaN(date.getTime())) return String(count);
  const rest = fraction.toString().padStart(digits, '0').replace(/0+$/, '');
  return `${date.toISOString().slice(0, -5)}${rest ? `.${rest.length > 3 ? rest : rest.padEnd(3, '0')}` : ''}Z`;
}

/** A value as JSON has it: whole numbers beyond 2^53 as texts, bytes as text or else base64, no number that JSON cannot write. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : Number.isNaN(value) ? null : String(value);
  if (value instanceof Uint8Array) return isUtf8(value) ? Buffer.from(value).toString() : Buffer.from(value).toString('base64');
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, plain);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  return value;
}
