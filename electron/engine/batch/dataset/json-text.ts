import { TextDecoder } from 'node:util';
import { findJsonFault } from '../json-error.ts';
import { MAX_LINE_BYTES, type RawItem } from './types.ts';
import { cut, kindCode, kindOf, reject } from './words.ts';

/** In a longer broken text the place of the fault is not searched. */
const MAX_FAULT_SEARCH_CHARS = 2_000_000;

/** The JSON object of one line or element, or why there is none. `bytes` is null when it was over the limit. */
export function readJsonRecord(line: number, bytes: Buffer | null, length: number, decoder: TextDecoder, what: 'line' | 'record'): RawItem {
  if (bytes === null) {
    const mb = Math.ceil(length / 1024 / 1024);
    const limit = MAX_LINE_BYTES / 1024 / 1024;
    return reject(line, 'too_long', { mb, limit }, `The ${what} is ${mb} MB long; the limit is ${limit} MB.`, '');
  }
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    const loose = new TextDecoder(decoder.encoding).decode(bytes);
    const column = loose.indexOf('\ufffd') + 1;
    const encoding = decoder.encoding.toUpperCase();
    return reject(line, 'encoding', { encoding, column }, `The bytes are not valid ${encoding}, first at column ${column}.`, loose);
  }
  if (what === 'line' && text.trim() === '') return { type: 'blank', line };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { reason, params } = jsonReason(text, error);
    return reject(line, 'not_json', params, reason, text);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return reject(line, 'not_object', { kind: kindCode(value) }, `A row must be a JSON object like {"prompt": "…"}; this one is ${kindOf(value)}.`, text);
  }
  return { type: 'record', line, value: value as Record<string, unknown>, excerpt: () => text };
}

function jsonReason(text: string, error: unknown): { reason: string; params: Record<string, string | number> } {
  const fault = text.length <= MAX_FAULT_SEARCH_CHARS ? findJsonFault(text) : null;
  if (fault) return { reason: `Not valid JSON at column ${fault.at + 1}: ${fault.problem}.`, params: { column: fault.at + 1, problem: fault.problem } };
  return { reason: `Not valid JSON: ${cut(error instanceof Error ? error.message : String(error), 200)}`, params: {} };
}
