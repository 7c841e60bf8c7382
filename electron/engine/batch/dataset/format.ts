import { extname } from 'node:path';
import { TextDecoder } from 'node:util';
import type { Encoding } from './types.ts';
import { fileError, WANTED } from './words.ts';

/** How much of a file is looked at to tell what it is. */
export const HEAD_BYTES = 1024 * 1024;
/** Names of lists inside one row, not of a list of rows. */
const ROW_LISTS = new Set(['messages', 'conversations', 'conversation', 'prompt', 'prompts', 'tools', 'turns']);
const PROMPT_NAMES = new Set(['prompt', 'prompts', 'question', 'instruction', 'problem', 'text', 'query', 'task', 'messages', 'conversations']);

export type TextFormat =
  | { format: 'jsonl' }
  /** `wrapped`: an object that has the list of rows in one of its keys. */
  | { format: 'json'; wrapped: boolean }
  | { format: 'csv' | 'tsv'; delimiter: ',' | ';' | '\t' };

/** By the byte order mark; without one, text in UTF-16 shows by the zero halves of its ASCII characters (RFC 4627 §3). */
export function detectEncoding(head: Buffer): { encoding: Encoding; start: number } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8-bom', start: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', start: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', start: 2 };
  const part = head.subarray(0, 4096);
  let even = 0;
  let odd = 0;
  for (let i = 0; i + 1 < part.length; i += 2) {
    if (part[i] === 0) even += 1;
    if (part[i + 1] === 0) odd += 1;
  }
  const pairs = Math.floor(part.length / 2);
  if (odd > pairs * 0.2 && even < odd * 0.1) return { encoding: 'utf-16le', start: 0 };
  if (even > pairs * 0.2 && odd < even * 0.1) return { encoding: 'utf-16be', start: 0 };
  return { encoding: 'utf-8', start: 0 };
}

/** The name that decoders know it by. */
export function decoderName(encoding: Encoding): string {
  return encoding === 'utf-8-bom' ? 'utf-8' : encoding;
}

export function isParquet(head: Buffer): boolean {
  return head.subarray(0, 4).toString('latin1') === 'PAR1';
}

/** Says of what kind a file is that no reader here takes. Throws BatchError `invalid`. */
export function refuseOthers(name: string, head: Buffer): void {
  const starts = (hex: string): boolean => head.subarray(0, hex.length / 2).toString('hex') === hex;
  const kind =
    starts('504b0304') ? 'a ZIP archive or spreadsheet: unpack it, or save the sheet as CSV'
    : starts('425a68') ? 'packed with bzip2: unpack it, or pack it with gzip or zstd'
    : starts('fd377a585a00') ? 'packed with xz: unpack it, or pack it with gzip or zstd'
    : starts('4152524f5731') ? 'an Arrow file: save it as Parquet'
    : starts('50415245') ? 'an encrypted Parquet file: decrypt it'
    : starts('d0cf11e0') ? 'an old spreadsheet: save the sheet as CSV'
    : starts('25504446') ? 'a PDF'
    : starts('1f8b') || starts('28b52ffd') ? 'packed twice: unpack it once'
    : null;
  if (kind !== null) throw fileError(`${name} is ${kind}. ${WANTED}.`);
}

/**
 * What a text file is, by its beginning. The name only decides for a table of one column.
 * @param whole false when the file goes on after `head`
 */
export function detectText(name: string, head: Buffer, encoding: Encoding, whole: boolean): TextFormat {
  const text = new TextDecoder(decoderName(encoding)).decode(head).replace(/^\ufeff/, '');
  const lines = text.split('\n');
  // the last line may go on behind what was read
  const complete = (whole ? lines : lines.slice(0, -1)).filter((line) => line.trim() !== '').slice(0, 5);
  const begin = text.trimStart();
  if (begin.startsWith('[')) {
    // a line of its own that is no list of rows, and more lines behind it
    const first = parse(complete[0] ?? '');
    return complete.length > 1 && Array.isArray(first) && !isRowList(first) ? { format: 'jsonl' } : { format: 'json', wrapped: false };
  }
  if (begin.startsWith('{')) return isWrapper(begin, complete) ? { format: 'json', wrapped: true } : { format: 'jsonl' };
  if (complete.some((line) => isObject(parse(line)))) return { format: 'jsonl' };
  const first = begin.split('\n', 1)[0] ?? '';
  const delimiter = delimiterOf(begin);
  const named = extname(name.replace(/\.(?:gz|zst)$/i, '')).toLowerCase();
  if (delimiter === null) {
    const single = first.trim().replace(/^"(.*)"$/, '$1').toLowerCase();
    return ['.csv', '.tsv'].includes(named) || PROMPT_NAMES.has(single) ? { format: named === '.tsv' ? 'tsv' : 'csv', delimiter: named === '.tsv' ? '\t' : ',' } : { format: 'jsonl' };
  }
  return { format: delimiter === '\t' ? 'tsv' : 'csv', delimiter };
}

/** Scalars, then a list of objects that is no part of a row: `{"version": "1", "data": [{`. */
const LIST_IN_OBJECT = /^\{\s*(?:"[^"\\]{0,200}"\s*:\s*(?:"(?:[^"\\]|\\.){0,2000}"|[-+\d.eE]{1,40}|true|false|null)\s*,\s*){0,50}"([^"\\]{0,200})"\s*:\s*\[\s*(?:\{|\])/;

function isWrapper(text: string, complete: string[]): boolean {
  const first = parse(complete[0] ?? '');
  // several rows, one a line
  if (isObject(first) && (complete.length > 1 || Object.keys(first as object).some((key) => PROMPT_NAMES.has(key)))) return false;
  if (isObject(first)) return Object.entries(first as object).some(([key, value]) => !ROW_LISTS.has(key) && isRowList(value));
  const key = LIST_IN_OBJECT.exec(text.slice(0, 200_000))?.[1];
  return key !== undefined && !ROW_LISTS.has(key);
}

/** The one that stands oftenest in the first record, outside of quotes. */
function delimiterOf(text: string): ',' | ';' | '\t' | null {
  const counts = { '\t': 0, ',': 0, ';': 0 };
  let quoted = false;
  for (const c of text.slice(0, 100_000)) {
    if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === '\n') break;
    else if (c === '\t' || c === ',' || c === ';') counts[c] += 1;
  }
  const most = Math.max(...Object.values(counts));
  return most === 0 ? null : counts['\t'] === most ? '\t' : counts[','] === most ? ',' : ';';
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isRowList(value: unknown): boolean {
  return Array.isArray(value) && isObject(value[0]);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
