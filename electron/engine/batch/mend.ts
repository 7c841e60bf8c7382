import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs';
import { systemCode } from './errors.ts';

const STEP_BYTES = 64 * 1024;
const HEAD_BYTES = 256;

/** Which row a torn line was. */
export interface TornRow {
  promptIndex: number;
  rollout: number;
}

/**
 * Cuts a last line that a crash or a full disk left without its end, so that what is appended begins a line of its own. Reads no more
 * than that line. Returns which row it was as far as it says; null when nothing was torn, `unknown` when it does not say.
 * Throws the system's error.
 */
export function cutTornLine(path: string): TornRow | 'unknown' | null {
  let file: number;
  try {
    const at = statSync(path);
    // a pipe in its place would be waited for
    if (at.isFIFO()) throw Object.assign(new Error(`${path} is a pipe`), { code: 'ENOTSUP' });
    if (!at.isFile()) return null;
    file = openSync(path, 'r+');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const start = lastLineStart(file, size);
    if (start === size) return null;
    const head = Buffer.alloc(HEAD_BYTES);
    const said = /^\{"prompt_index":(\d+),"rollout":(\d+),/.exec(head.toString('latin1', 0, readSync(file, head, 0, HEAD_BYTES, start)));
    ftruncateSync(file, start);
    return said ? { promptIndex: Number(said[1]), rollout: Number(said[2]) } : 'unknown';
  } finally {
    closeSync(file);
  }
}

/** Behind the last line feed. */
function lastLineStart(file: number, size: number): number {
  const buffer = Buffer.alloc(STEP_BYTES);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - STEP_BYTES);
    const read = readSync(file, buffer, 0, end - start, start);
    const at = buffer.lastIndexOf(0x0a, read - 1);
    if (read > 0 && at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
