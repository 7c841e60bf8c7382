import { open, realpath, stat } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import { injectionSigns } from './injection.ts';

/** Hermes Agent's: 70 % of the cap from the beginning, 20 % from the end, the rest for the marker. */
const MAX_CHARS = 20_000;
const HEAD_CHARS = 0.7 * MAX_CHARS;
const TAIL_CHARS = 0.2 * MAX_CHARS;
/** Enough for the characters of head and tail, whatever they are. */
const EDGE_BYTES = 4 * MAX_CHARS;

export interface ContextFile {
  /** Name, for the prompt. */
  file: string;
  /** The text, cut; or a line that begins with "[BLOCKED:" and says why there is none. */
  text: string;
  blocked: boolean;
}

/**
 * Reads a text file that is to become part of a system prompt. Null when there is none that can be used: missing, empty, binary, not a
 * file, not readable, or a link out of `within` (absolute, real path).
 */
export async function readContextFile(path: string, within: string): Promise<ContextFile | null> {
  const raw = await readEdges(path, within);
  if (raw === null || raw.head.trim() === '') return null;
  const file = basename(path);
  const text = capped(raw, file);
  const signs = injectionSigns(text);
  if (signs.length === 0) return { file, text, blocked: false };
  return { file, text: `[BLOCKED: ${file} was left out because it may be meant to take over the agent: it ${signs.join(', ')}.]`, blocked: true };
}

interface Edges {
  head: string;
  /** Null when `head` is all there is. */
  tail: string | null;
  bytes: number;
}

async function readEdges(path: string, within: string): Promise<Edges | null> {
  try {
    const real = await realpath(path);
    if (real !== within && !real.startsWith(within.endsWith(sep) ? within : within + sep)) return null;
    // a pipe or device must not be opened at all: that could wait for ever
    if (!(await stat(real)).isFile()) return null;
    const file = await open(real, 'r');
    try {
      const { size } = await file.stat();
      if (size <= 2 * EDGE_BYTES) {
        const whole = textOf(await piece(file, 0, size));
        return whole === null ? null : { head: whole, tail: null, bytes: size };
      }
      const head = textOf(await piece(file, 0, EDGE_BYTES));
      const tail = textOf(await piece(file, size - EDGE_BYTES, EDGE_BYTES));
      return head === null || tail === null ? null : { head, tail, bytes: size };
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}

async function piece(file: Awaited<ReturnType<typeof open>>, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Null for what is no text. Characters cut at an edge become U+FFFD, of which a text may hold a few. */
function textOf(data: Buffer): string | null {
  if (data.includes(0)) return null;
  const text = data.toString('utf8').replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const broken = text.length - text.replaceAll('\ufffd', '').length;
  return broken > 6 + text.length / 1_000 ? null : text;
}

function capped({ head, tail, bytes }: Edges, file: string): string {
  if (tail === null && head.length <= MAX_CHARS) return head.trim();
  const end = tail ?? head;
  return `${head.slice(0, HEAD_CHARS)}\n\n[… the middle of ${file} (${bytes} bytes in all) is left out here; read the file where you need it …]\n\n${end.slice(-TAIL_CHARS)}`.toWellFormed().trim();
}
