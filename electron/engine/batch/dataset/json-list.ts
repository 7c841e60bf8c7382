import { TextDecoder } from 'node:util';
import { readJsonRecord } from './json-text.ts';
import { MAX_LINE_BYTES, type RawItem } from './types.ts';
import { fileError, reject } from './words.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MAX_KEY_BYTES = 200;

interface Element {
  /** Null when it is over the limit. */
  bytes: Buffer | null;
  length: number;
}

/**
 * Cuts a JSON list into the texts of its elements, as the bytes come; each is then parsed by itself, so a broken one costs no other. A
 * parser of the whole would stop at the first fault. Of an object (`wrapped`), the list under its first key that has a list of objects.
 */
class ListSplitter {
  depth = 0;
  inElement = false;
  /** Something stands behind the end. */
  trailing = false;
  /** A further list of objects. */
  second: string | null = null;
  list: string | null = null;
  readonly #wrapped: boolean;
  #inString = false;
  #escaped = false;
  /** Depth at which elements stand; null until the list was found. */
  #base: number | null;
  #closed = false;
  #begun = false;
  #afterComma = false;
  #awaitsFirst = false;
  #key: number[] = [];
  #parts: Buffer[] = [];
  #length = 0;

  constructor(wrapped: boolean) {
    this.#wrapped = wrapped;
    this.#base = wrapped ? null : 1;
  }

  push(chunk: Buffer): Element[] {
    const out: Element[] = [];
    if (this.trailing) return out;
    let from = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      const c = chunk[i]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (c === BACKSLASH) this.#escaped = true;
        else if (c === QUOTE) this.#inString = false;
        if (this.#inString && this.#wrapped && this.depth === 1 && this.#key.length < MAX_KEY_BYTES) this.#key.push(c);
        continue;
      }
      if (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) continue;
      if (this.depth === 0 && this.#begun) {
        this.trailing = true;
        return out;
      }
      if (this.#awaitsFirst) this.#lookAtFirst(c);
      const here = this.#base !== null && !this.#closed && this.depth === this.#base;
      if (here && (c === COMMA || c === CLOSE_LIST || c === CLOSE_OBJECT)) {
        if (this.inElement || c === COMMA || (this.#afterComma && c !== CLOSE_LIST)) out.push(this.#take(chunk.subarray(this.inElement ? from : i, i)));
        this.inElement = false;
        this.#afterComma = c === COMMA;
        if (c !== COMMA) {
          this.#closed = true;
          this.depth -= 1;
        }
        continue;
      }
      if (here && !this.inElement) {
        this.inElement = true;
        this.#afterComma = false;
        from = i;
      }
      if (c === QUOTE) {
        this.#inString = true;
        if (this.depth === 1) this.#key = [];
      } else if (c === OPEN_LIST || c === OPEN_OBJECT) {
        this.#begun = true;
        this.depth += 1;
        if (this.#wrapped && this.depth === 2 && c === OPEN_LIST) this.#awaitsFirst = true;
      } else if (c === CLOSE_LIST || c === CLOSE_OBJECT) this.depth -= 1;
    }
    if (this.inElement) this.#keep(chunk.subarray(from));
    return out;
  }

  /** What stands first in a list directly inside the object tells whether it is the list of rows. */
  #lookAtFirst(c: number): void {
    this.#awaitsFirst = false;
    if (c !== OPEN_OBJECT) return;
    const key = Buffer.from(this.#key).toString();
    if (this.#base === null) {
      this.#base = 2;
      this.list = key;
    } else this.second ??= key;
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES) this.#parts = [];
    else this.#parts.push(Buffer.from(piece));
  }

  #take(piece: Buffer): Element {
    this.#keep(piece);
    const element = { bytes: this.#length > MAX_LINE_BYTES ? null : Buffer.concat(this.#parts), length: this.#length };
    this.#parts = [];
    this.#length = 0;
    return element;
  }
}

/**
 * The records of a JSON list in UTF-8, numbered from 1. A list that ends before its end has a last rejected record that says so.
 * Throws BatchError `invalid` for an object with several lists of rows.
 */
export async function* readJsonList(name: string, stream: AsyncIterable<Buffer>, wrapped: boolean): AsyncGenerator<RawItem> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const splitter = new ListSplitter(wrapped);
  let record = 0;
  for await (const chunk of stream) {
    for (const { bytes, length } of splitter.push(chunk)) {
      record += 1;
      yield readJsonRecord(record, bytes, length, decoder, 'record');
    }
    if (splitter.second !== null) {
      throw fileError(`${name} has several lists of rows ("${splitter.list}" and "${splitter.second}"). Put the one you want into a file of its own.`);
    }
  }
  record += 1;
  if (splitter.trailing) {
    const problem = 'there is more after the end of the list';
    yield reject(record, 'not_json', { column: 1, problem }, `Not valid JSON: ${problem}.`, '');
  } else if (splitter.inElement) yield reject(record, 'cut_off', {}, 'The file ends in the middle of this record: it is cut off.', '');
  else if (splitter.depth > 0) yield reject(record, 'cut_off', {}, 'The list is never closed: the file is cut off after the record before.', '');
}
