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
 * Lines of a file, split at line feeds only, on bytes: U+2028 and others that some readers split at may stand inside a JSON string.
 * Holds one line at a time. An empty remainder after the last line feed is no line.
 */
export async function* readLines(file: FileHandle, options: LineOptions): AsyncGenerator<ByteLine> {
  const { maxBytes, unit, onBytes } = options;
  let position = options.start;
  let line = 1;
  let offset = position;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) parts = [];
    // the chunk buffer is reused, so what stays must be copied
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

  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let carried = 0;
  for (;;) {
    const { bytesRead } = await file.read(chunk, carried, CHUNK_BYTES - carried, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    onBytes?.(chunk.subarray(carried, carried + bytesRead));
    const filled = carried + bytesRead;
    // half of a UTF-16 unit waits for its other half
    const usable = filled - (filled % unit.bytes);
    let from = 0;
    for (;;) {
      const at = findLineFeed(chunk, from, usable, unit);
      if (at < 0) break;
      take(chunk.subarray(from, at));
      yield finish(true);
      from = at + unit.bytes;
    }
    take(chunk.subarray(from, usable));
    chunk.copyWithin(0, usable, filled);
    carried = filled - usable;
  }
  if (carried > 0) take(chunk.subarray(0, carried));
  if (length > 0) yield finish(false);
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
