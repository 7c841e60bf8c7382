import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

export interface ByteLine {
  /** Counts from 1. */
  line: number;
  /** Where the line begins in the file. */
  offset: number;
  /** Length without the line feed; the content is not kept when it is over the limit. */
  length: number;
  /** Without the line feed; null when the line is longer than the limit. */
  bytes: Buffer | null;
  /** False for a last line without a line feed. */
  ended: boolean;
}

export interface LineOptions {
  /** Longer lines are reported without content. */
  maxBytes: number;
  /** 1 for UTF-8; 2 for UTF-16, where a line feed is one aligned unit. */
  unit: { bytes: 1 } | { bytes: 2; littleEndian: boolean };
  /** Bytes to skip at the beginning (a byte order mark). */
  start: number;
  /** Sees every byte from `start` on, in order. */
  onBytes?: (bytes: Buffer) => void;
}

/**
 * Lines of a file or a stream, split at line feeds only, on bytes: U+2028 and others that some readers split at may stand inside a JSON
 * string. Holds one line at a time. An empty remainder after the last line feed is no line.
 */
export async function* readLines(source: FileHandle | AsyncIterable<Buffer>, options: LineOptions): AsyncGenerator<ByteLine> {
  const { maxBytes, unit, onBytes } = options;
  let line = 1;
  let offset = options.start;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) parts = [];
    // the chunk's buffer may be reused, so what stays must be copied
    else if (piece.length > 0) parts.push(Buffer.from(piece));
  };
  const finish = (ended: boolean): ByteLine => {
    const bytes = length > maxBytes ? null : parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const done = { line, offset, length, bytes, ended };
    line += 1;
    offset += length + (ended ? unit.bytes : 0);
    parts = [];
    length = 0;
    return done;
  };

  let carried: Buffer | null = null;
  for await (const piece of 'read' in source ? chunksOf(source, options.start) : skipFirst(source, options.start)) {
    onBytes?.(piece);
    const chunk: Buffer = carried === null ? piece : Buffer.concat([carried, piece]);
    // half of a UTF-16 unit waits for its other half
    const usable = chunk.length - (chunk.length % unit.bytes);
    let from = 0;
    for (;;) {
      const at = findLineFeed(chunk, from, usable, unit);
      if (at < 0) break;
      take(chunk.subarray(from, at));
      yield finish(true);
      from = at + unit.bytes;
    }
    take(chunk.subarray(from, usable));
    carried = usable < chunk.length ? Buffer.from(chunk.subarray(usable)) : null;
  }
  if (carried !== null) take(carried);
  if (length > 0) yield finish(false);
}

/** The same buffer over and over. */
async function* chunksOf(file: FileHandle, start: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = start; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** A stream without its first bytes. */
export async function* skipFirst(stream: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const piece of stream) {
    if (piece.length > left) yield left === 0 ? piece : piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}

function findLineFeed(chunk: Buffer, from: number, to: number, unit: LineOptions['unit']): number {
  if (unit.bytes === 1) {
    const at = chunk.indexOf(0x0a, from);
    return at >= to ? -1 : at;
  }
  for (let at = from; ; at += 1) {
    at = chunk.indexOf(0x0a, at);
    if (at < 0 || at >= to) return -1;
    const start = unit.littleEndian ? at : at - 1;
    if (start < from || start % 2 !== 0 || start + 1 >= to) continue;
    if (chunk[unit.littleEndian ? at + 1 : at - 1] === 0) return start;
  }
}
