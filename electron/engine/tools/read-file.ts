import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import { encodingOf, fileError, looksBinary, relativePathOf, shownPath, statFile } from './files.ts';
import { pathsOf } from './paths.ts';

const DEFAULT_LINES = 500;
const MAX_LINES = 2000;
const MAX_LINE_CHARS = 2000;
/** Keeps the result, JSON escapes included, below the cap of all results in all but odd cases. */
const MAX_CONTENT_CHARS = 80_000;
const CHUNK_BYTES = 256 * 1024;
const IN_PLACE_BYTES = 256 * 1024;
/** Beyond this the total number of lines is not counted. */
const MAX_COUNT_BYTES = 256 * 1024 * 1024;
const MAX_UTF16_BYTES = 16 * 1024 * 1024;
/** The identical read, one after another, that is answered with a warning; the next ones are refused. */
const WARN_AT = 3;

interface LastRead {
  key: string;
  times: number;
}

/**
 * `read_file`: numbered lines of a text file. Result `{path, content, total_lines, file_size, truncated, hint?, warning?}`;
 * `total_lines` is null for files that are too large to be counted.
 */
export const readFileTool = defineTool({
  name: 'read_file',
  toolset: 'file',
  parallel: 'by_path',
  pathOf: relativePathOf,
  description:
    `Read a text file. Lines come numbered ("12|text"; the number and the bar are not part of the file). Lines longer than ${MAX_LINE_CHARS} characters are cut. ` +
    'Read long files in parts with offset and limit. Use this rather than cat, head or tail.',
  parameters: z.object({
    path: z.string().describe('File to read, relative to the workspace root.'),
    offset: z.int().min(1).default(1).describe('First line to read; lines count from 1.'),
    limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('Most lines to read.'),
  }),
  async run({ path, offset, limit }, context) {
    const { sandbox, state, signal } = context;
    const real = await pathsOf(context, 'read_file')(path, 'read');
    const facts = await statFile(sandbox, path, real);
    const times = countRead(state, [real, offset, limit, facts.mtimeMs, facts.size].join('|'));
    if (times > WARN_AT) {
      throw new ToolError(`You have read exactly these lines of "${path}" ${times - 1} times in a row and the file has not changed. Use what you have, or read other lines.`);
    }
    const file = await openToRead(path, real, facts.size);
    try {
      const read = await readLines(file, { path, offset, limit, size: facts.size, signal });
      if (offset > 1 && read.lines.length === 0) {
        throw new ToolError(`"${path}" has only ${read.total ?? 'fewer'} lines; offset ${offset} is past its end.`);
      }
      const next = offset + read.lines.length;
      const truncated = read.total === null || next <= read.total;
      const total = read.total?.toLocaleString('en-US') ?? 'more';
      return {
        path: shownPath(sandbox, real),
        content: read.lines.map((line, i) => `${String(offset + i).padStart(6)}|${line}`).join('\n'),
        total_lines: read.total,
        file_size: facts.size,
        truncated,
        ...(truncated && { hint: `Lines ${offset} to ${next - 1} of ${total}. Go on with offset=${next}.` }),
        ...(facts.size === 0 && { hint: 'The file is empty.' }),
        ...(times === WARN_AT && { warning: 'This is the same read for the third time in a row and the file has not changed. Another one will be refused.' }),
      };
    } finally {
      await file.close();
    }
  },
});

function countRead(state: Map<string, unknown>, key: string): number {
  const last = state.get('read_file') as LastRead | undefined;
  const times = last?.key === key ? last.times + 1 : 1;
  state.set('read_file', { key, times } satisfies LastRead);
  return times;
}

interface Window {
  path: string;
  offset: number;
  limit: number;
  size: number;
  signal: AbortSignal;
}

/** What is needed of a file that is open. */
interface Readable {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  readFile(): Promise<Buffer>;
  close(): Promise<void>;
}

/** A small file is read in place: through the thread pool each step would wait for its turn. @throws ToolError */
async function openToRead(path: string, real: string, size: number): Promise<Readable> {
  try {
    return size <= IN_PLACE_BYTES ? openHere(real) : await open(real);
  } catch (error) {
    throw fileError(path, error);
  }
}

function openHere(real: string): Readable {
  // something that is no file may have come in its place: nothing is waited for
  const file = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  return {
    read: (buffer, offset, length, position) => settled(() => ({ bytesRead: readSync(file, buffer, offset, length, position) })),
    readFile: () => settled(() => readFileSync(file)),
    close: () => settled(() => closeSync(file)),
  };
}

function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}

async function readLines(file: Readable, window: Window): Promise<{ lines: string[]; total: number | null }> {
  const head = Buffer.alloc(Math.min(8192, window.size));
  await file.read(head, 0, head.length, 0);
  if (looksBinary(head)) {
    throw new ToolError(`"${window.path}" is a binary file (${window.size.toLocaleString('en-US')} bytes). Look at it with a program in the terminal, for example file, xxd or python.`);
  }
  const encoding = encodingOf(head);
  if (encoding === 'utf-8') return readUtf8(file, window);
  if (window.size > MAX_UTF16_BYTES) throw new ToolError(`"${window.path}" is a large UTF-16 file. Convert it first, for example with iconv in the terminal.`);
  const all = new TextDecoder(encoding).decode(await file.readFile()).split('\n');
  if (all.at(-1) === '') all.pop();
  const picker = new LinePicker(window);
  for (const line of all) picker.add(line);
  return { lines: picker.lines, total: all.length };
}

/** Goes through the file in pieces: only the lines asked for are decoded, and of a long line only its beginning is held. */
async function readUtf8(file: Readable, window: Window): Promise<{ lines: string[]; total: number | null }> {
  const picker = new LinePicker(window);
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(4096, window.size)));
  const line: Buffer[] = [];
  let held = 0;
  let lineBytes = 0;
  for (let position = 0; ; ) {
    if (window.signal.aborted) throw new ToolError('Reading was interrupted.');
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (let from = 0; from < bytesRead; ) {
      const stop = chunk.subarray(0, bytesRead).indexOf(0x0a, from);
      const end = stop === -1 ? bytesRead : stop;
      lineBytes += end - from;
      // Four bytes are the most that one character takes.
      const room = picker.wants ? 4 * (MAX_LINE_CHARS + 1) - held : 0;
      if (room > 0 && end > from) {
        const piece = Buffer.from(chunk.subarray(from, Math.min(end, from + room)));
        line.push(piece);
        held += piece.length;
      }
      if (stop === -1) break;
      picker.add(picker.wants ? Buffer.concat(line).toString('utf8') : '', lineBytes);
      line.length = 0;
      held = 0;
      lineBytes = 0;
      from = end + 1;
    }
    if (picker.done && position > MAX_COUNT_BYTES) return { lines: picker.lines, total: null };
  }
  if (lineBytes > 0) picker.add(Buffer.concat(line).toString('utf8'), lineBytes);
  return { lines: picker.lines, total: picker.count };
}

/** Takes the lines of the window and leaves the others, until the window or the room for it is full. */
class LinePicker {
  readonly lines: string[] = [];
  count = 0;
  private chars = 0;
  private full = false;
  private readonly window: Window;

  constructor(window: Window) {
    this.window = window;
  }

  get done(): boolean {
    return this.full || this.lines.length >= this.window.limit;
  }

  /** Whether the next line is in the window. */
  get wants(): boolean {
    return !this.done && this.count + 1 >= this.window.offset;
  }

  add(line: string, bytes = Buffer.byteLength(line)): void {
    const wanted = this.wants;
    this.count += 1;
    if (!wanted) return;
    let text = this.count === 1 && line.startsWith('\ufeff') ? line.slice(1) : line;
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (text.length > MAX_LINE_CHARS) {
      text = `${text.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, '')} […line cut; it has ${bytes.toLocaleString('en-US')} bytes]`;
    }
    const size = JSON.stringify(text).length + 8;
    if (this.lines.length > 0 && this.chars + size > MAX_CONTENT_CHARS) {
      this.full = true;
      return;
    }
    this.chars += size;
    this.lines.push(text);
  }
}
