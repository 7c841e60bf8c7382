import { basename } from 'node:path';
import type { DatasetFormat, DatasetReport, Refusal } from '#shared/contract/datasets.ts';
import { BatchError, systemCode } from '../errors.ts';
import type { Rejected } from './types.ts';

const EXCERPT_CHARS = 120;
const NAMED_COLUMNS = 5;

export const WANTED = 'This reads JSONL, a JSON array, CSV, TSV and Parquet, also packed as .gz or .zst: one row per prompt';

/** Text of at most `chars` characters, with an ellipsis when it was longer. */
export function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text;
}

/** An error of the dataset file as a whole, at the field where it was named. */
export function fileError(sentence: string, cause?: unknown, field = 'datasetFile'): BatchError {
  return new BatchError('invalid', sentence, { field, cause });
}

export function reject(line: number, code: Refusal, params: Record<string, string | number>, reason: string, text: string): Rejected {
  return { type: 'rejected', line, reason, code, params, excerpt: cut(text.trim(), EXCERPT_CHARS) };
}

/** What the numbers of rows count in a format. */
export function unitOf(format: DatasetFormat): DatasetReport['unit'] {
  return format === 'json' || format === 'parquet' ? 'record' : 'line';
}

export function kindCode(value: unknown): string {
  return value === null || value === undefined ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

export function kindOf(value: unknown): string {
  const kinds: Record<string, string> = { null: 'null', list: 'a list', string: 'a text', number: 'a number', boolean: 'true or false', object: 'an object' };
  return kinds[kindCode(value)] ?? typeof value;
}

/** The first names, quoted. */
export function namesOf(names: readonly string[]): string {
  return `${names.slice(0, NAMED_COLUMNS).map((k) => `"${cut(k, 40)}"`).join(', ')}${names.length > NAMED_COLUMNS ? ', …' : ''}`;
}

/** A failure of reading as a sentence about this file. */
export function cannotRead(path: string, error: unknown): BatchError {
  const sentences: Record<string, string> = {
    ENOENT: `There is no file ${path}.`,
    ENOTDIR: `There is no file ${path}.`,
    EISDIR: `${path} is a folder. Choose a dataset file.`,
    EACCES: `${path} may not be read: its permissions forbid it.`,
    EPERM: `${path} may not be read: its permissions forbid it.`,
    Z_BUF_ERROR: `${basename(path)} is cut off: the packed data ends before its end. Bring the file here again.`,
    Z_DATA_ERROR: `${basename(path)} is damaged: its packed data cannot be unpacked. Bring the file here again.`,
    ENOSPC: `There is no space left on the disk to unpack ${basename(path)}.`,
  };
  const code = systemCode(error);
  const known = sentences[code] ?? (code.startsWith('ZSTD_') ? sentences.Z_DATA_ERROR : undefined);
  const said = error instanceof Error ? error.message : String(error);
  return fileError(known ?? `${path} cannot be read: ${said}.`, error);
}
