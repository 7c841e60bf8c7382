import { createHash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { TextDecoder } from 'node:util';
import type { DatasetReport, Refusal, RejectedLine } from '#shared/contract/datasets.ts';
import { BatchError, systemCode } from './errors.ts';
import { findJsonFault } from './json-error.ts';
import { type ByteLine, type LineOptions, readLines } from './lines.ts';

/** A longer line is rejected; the rest of the file loads. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Preview and rejected entries of a report. */
const MAX_LISTED = 200;
const PREVIEW_CHARS = 500;
const EXCERPT_CHARS = 120;
/** In a longer broken line the place of the fault is not searched. */
const MAX_FAULT_SEARCH_CHARS = 2_000_000;
const HEAD_BYTES = 4096;
const NAMED_COLUMNS = 5;

type Encoding = DatasetReport['encoding'];

export interface DatasetRow {
  /** Position among the valid rows, from 0. */
  index: number;
  /** Line of the file, from 1. */
  line: number;
  prompt: string;
  /** The row's other columns. */
  row: Record<string, unknown>;
  /** Hash of the whole row with its keys sorted: the same for equal rows. */
  hash: string;
}

export type DatasetItem =
  | ({ type: 'row' } & DatasetRow)
  | ({ type: 'rejected' } & RejectedLine)
  | { type: 'blank'; line: number }
  /** The last item. */
  | { type: 'end'; bytes: number; encoding: Encoding; sha256: string };

/**
 * Reads a JSONL file of prompts, one line at a time: UTF-8 with or without byte order mark, UTF-16 of both orders (by its mark, or
 * detected), lines ended by LF or CRLF. Every line is a row, blank, or rejected with a reason.
 * Throws BatchError `invalid` when the file as a whole cannot be read, is of another kind, or holds no valid row.
 */
export async function* readDataset(path: string): AsyncGenerator<DatasetItem> {
  const file = await openDataset(path);
  try {
    const head = await readHead(file);
    const { encoding, start } = detectEncoding(head);
    refuseBinary(path, head);
    const sha = createHash('sha256').update(head.subarray(0, start));
    const decoder = new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding, { fatal: true });
    let bytes = start;
    const options: LineOptions = {
      maxBytes: MAX_LINE_BYTES,
      unit: encoding.startsWith('utf-16') ? { bytes: 2, littleEndian: encoding === 'utf-16le' } : { bytes: 1 },
      start,
      onBytes: (b) => {
        sha.update(b);
        bytes += b.length;
      },
    };
    let index = 0;
    let first: { line: number; reason: string; excerpt: string } | null = null;
    for await (const line of readLines(file, options)) {
      const item = readRow(line, decoder, index);
      if (item.type === 'row') index += 1;
      else if (item.type === 'rejected' && first === null) {
        first = item;
        if (index === 0 && /^\s*\[/.test(first.excerpt) && item.broken) throw wrongKind(path, first);
      }
      if (item.type === 'rejected') {
        const { broken: _, ...rejected } = item;
        yield rejected;
      } else yield item;
    }
    if (index === 0) throw wrongKind(path, first);
    yield { type: 'end', bytes, encoding, sha256: sha.digest('hex') };
  } catch (error) {
    throw error instanceof BatchError ? error : cannotRead(path, error);
  } finally {
    await file.close();
  }
}

/** What is in a dataset file: counts, the first rows, and every kind of line that was not taken. Holds no more than it lists. */
export async function inspectDataset(path: string): Promise<DatasetReport> {
  const report: DatasetReport = {
    path,
    name: basename(path),
    bytes: 0,
    encoding: 'utf-8',
    rows: 0,
    blankLines: 0,
    duplicates: 0,
    preview: [],
    rejectedCount: 0,
    rejected: [],
  };
  // 48 bits of a hash: enough to count by, a fraction of the memory of the texts
  const seen = new Set<number>();
  for await (const item of readDataset(path)) {
    if (item.type === 'row') {
      report.rows += 1;
      const key = createHash('sha256').update(item.prompt).digest().readUIntBE(0, 6);
      if (seen.has(key)) report.duplicates += 1;
      else seen.add(key);
      if (report.preview.length < MAX_LISTED) report.preview.push({ index: item.index, line: item.line, prompt: cut(item.prompt, PREVIEW_CHARS) });
    } else if (item.type === 'rejected') {
      report.rejectedCount += 1;
      const { type: _, ...rejected } = item;
      if (report.rejected.length < MAX_LISTED) report.rejected.push(rejected);
    } else if (item.type === 'blank') report.blankLines += 1;
    else Object.assign(report, { bytes: item.bytes, encoding: item.encoding });
  }
  return report;
}

/** SHA-256 of a file in hex; null when there is no such file (any more). */
export async function hashFile(path: string): Promise<string | null> {
  let file: FileHandle;
  try {
    file = await openDataset(path);
  } catch (error) {
    if (error instanceof BatchError && systemCode(error.cause) === 'ENOENT') return null;
    throw error;
  }
  try {
    const sha = createHash('sha256');
    for await (const chunk of file.createReadStream({ autoClose: false })) sha.update(chunk as Buffer);
    return sha.digest('hex');
  } catch (error) {
    throw cannotRead(path, error);
  } finally {
    await file.close();
  }
}

/** Text of at most `chars` characters, with an ellipsis when it was longer. */
export function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text;
}

type RowItem = ({ type: 'row' } & DatasetRow) | ({ type: 'rejected'; broken: boolean } & RejectedLine) | { type: 'blank'; line: number };

function readRow(line: ByteLine, decoder: TextDecoder, index: number): RowItem {
  const reject = (code: Refusal, params: Record<string, string | number>, reason: string, text: string): RowItem => ({
    type: 'rejected',
    line: line.line,
    reason,
    code,
    params,
    excerpt: cut(text.trim(), EXCERPT_CHARS),
    broken: code === 'not_json',
  });
  if (line.bytes === null) {
    const mb = Math.ceil(line.length / 1024 / 1024);
    const limit = MAX_LINE_BYTES / 1024 / 1024;
    return reject('too_long', { mb, limit }, `The line is ${mb} MB long; the limit is ${limit} MB.`, '');
  }
  let text: string;
  try {
    text = decoder.decode(line.bytes);
  } catch {
    const loose = new TextDecoder(decoder.encoding).decode(line.bytes);
    const column = loose.indexOf('\ufffd') + 1;
    const encoding = decoder.encoding.toUpperCase();
    return reject('encoding', { encoding, column }, `The bytes are not valid ${encoding}, first at column ${column}.`, loose);
  }
  if (text.trim() === '') return { type: 'blank', line: line.line };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { reason, params } = jsonReason(text, error);
    return reject('not_json', params, reason, text);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return reject('not_object', { kind: kindCode(value) }, `A row must be a JSON object like {"prompt": "…"}; this one is ${kindOf(value)}.`, text);
  }
  if (!Object.hasOwn(value, 'prompt')) return reject('no_prompt', { columns: columnsOf(value) }, `There is no "prompt" in this row${keysOf(value)}.`, text);
  const { prompt, ...row } = value as Record<string, unknown>;
  if (typeof prompt !== 'string') return reject('prompt_not_text', { kind: kindCode(prompt) }, `"prompt" must be a text; here it is ${kindOf(prompt)}.`, text);
  if (prompt.trim() === '') return reject('prompt_empty', {}, '"prompt" is empty.', text);
  const sorted = canonical(value);
  if (sorted === null) return reject('too_deep', {}, 'The row is nested too deeply to be worked with.', text);
  const hash = createHash('sha256').update(sorted).digest('base64url').slice(0, 22);
  return { type: 'row', index, line: line.line, prompt: prompt.toWellFormed(), row, hash };
}

function jsonReason(text: string, error: unknown): { reason: string; params: Record<string, string | number> } {
  const fault = text.length <= MAX_FAULT_SEARCH_CHARS ? findJsonFault(text) : null;
  if (fault) return { reason: `Not valid JSON at column ${fault.at + 1}: ${fault.problem}.`, params: { column: fault.at + 1, problem: fault.problem } };
  return { reason: `Not valid JSON: ${cut(error instanceof Error ? error.message : String(error), 200)}`, params: {} };
}

/** JSON with sorted keys at every level; null when there are more levels than the stack takes, which parsing does not mind. */
function canonical(value: unknown): string | null {
  try {
    return JSON.stringify(value, (_key, v: unknown) =>
      typeof v === 'object' && v !== null && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : v,
    );
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function kindCode(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const kinds: Record<string, string> = { string: 'a text', number: 'a number', boolean: 'true or false', object: 'an object' };
  return kinds[typeof value] ?? typeof value;
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  if (keys.length === 0) return ', it has no columns at all';
  return `; its columns are ${firstColumns(value)}${keys.length > NAMED_COLUMNS ? ' and more' : ''}`;
}

function columnsOf(value: object): string {
  return `${firstColumns(value)}${Object.keys(value).length > NAMED_COLUMNS ? ', …' : ''}`;
}

/** The first names of a row, quoted. */
function firstColumns(value: object): string {
  return Object.keys(value).slice(0, NAMED_COLUMNS).map((k) => `"${cut(k, 40)}"`).join(', ');
}

async function openDataset(path: string): Promise<FileHandle> {
  try {
    const file = await openAtOnce(path);
    const info = await file.stat();
    if (info.isFile()) return file;
    await file.close();
    throw new BatchError('invalid', `${path} is ${info.isDirectory() ? 'a folder' : 'not a regular file'}. Choose a JSONL file.`, { field: 'datasetFile' });
  } catch (error) {
    throw error instanceof BatchError ? error : cannotRead(path, error);
  }
}

/** Opening a named pipe would wait for a writer, perhaps for ever. */
function openAtOnce(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  return head.subarray(0, bytesRead);
}

/** By the byte order mark; without one, JSON in UTF-16 shows by the zero halves of its ASCII characters (RFC 4627 §3). */
function detectEncoding(head: Buffer): { encoding: Encoding; start: number } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8-bom', start: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', start: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', start: 2 };
  let even = 0;
  let odd = 0;
  for (let i = 0; i + 1 < head.length; i += 2) {
    if (head[i] === 0) even += 1;
    if (head[i + 1] === 0) odd += 1;
  }
  const pairs = Math.floor(head.length / 2);
  if (odd > pairs * 0.2 && even < odd * 0.1) return { encoding: 'utf-16le', start: 0 };
  if (even > pairs * 0.2 && odd < even * 0.1) return { encoding: 'utf-16be', start: 0 };
  return { encoding: 'utf-8', start: 0 };
}

function refuseBinary(path: string, head: Buffer): void {
  const kind =
    head[0] === 0x1f && head[1] === 0x8b ? 'a gzip file: unpack it first'
    : head.subarray(0, 4).toString('latin1') === 'PAR1' ? 'a Parquet file: convert it first'
    : head.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004' ? 'a ZIP archive or spreadsheet: export it first'
    : head.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])) ? 'a zstd file: unpack it first'
    : null;
  if (kind !== null) throw new BatchError('invalid', `${basename(path)} is ${kind}. This reads JSONL: one JSON object with a "prompt" per line.`, { field: 'datasetFile' });
}

/** The whole file is of no use; the first line that was refused tells why. */
function wrongKind(path: string, first: { line: number; reason: string; excerpt: string } | null): BatchError {
  const name = basename(path);
  const wanted = 'This reads JSONL: one JSON object with a "prompt" per line';
  const say = (what: string) => new BatchError('invalid', what, { field: 'datasetFile' });
  if (first === null) return say(`${name} is empty. ${wanted}.`);
  const firstLine = first.excerpt;
  if (firstLine.startsWith('[')) return say(`${name} is a JSON array. ${wanted}: write each element of the array on a line of its own.`);
  if (/^\{\s*$/.test(firstLine)) return say(`${name} is one JSON document over several lines. ${wanted}.`);
  const isTable = ['.csv', '.tsv'].includes(extname(name).toLowerCase()) || (!firstLine.startsWith('{') && /[,;\t]/.test(firstLine));
  if (isTable) return say(`${name} looks like a CSV table. ${wanted}.`);
  return say(`${name} holds no valid row. Line ${first.line}: ${first.reason} ${wanted}.`);
}

function cannotRead(path: string, error: unknown): BatchError {
  const sentences: Record<string, string> = {
    ENOENT: `There is no file ${path}.`,
    ENOTDIR: `There is no file ${path}.`,
    EISDIR: `${path} is a folder. Choose a JSONL file.`,
    EACCES: `${path} may not be read: its permissions forbid it.`,
    EPERM: `${path} may not be read: its permissions forbid it.`,
  };
  const said = error instanceof Error ? error.message : String(error);
  return new BatchError('invalid', sentences[systemCode(error)] ?? `${path} cannot be read: ${said}.`, { field: 'datasetFile', cause: error });
}
