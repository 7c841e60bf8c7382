import { createHash } from 'node:crypto';
import { mkdir, open, readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { isRecord, parseJson } from '../model/json.ts';
import type { ToolContext } from './types.ts';

/** Most characters of one result that a model is given (Hermes' limit). */
export const RESULT_CAP_CHARS = 100_000;

const FOLDER = '.talaria';
const RESULTS = `${FOLDER}/results`;
const HEAD_CHARS = 6_000;
const TAIL_CHARS = 2_000;
/** Written, and looked at, so much at a time: between the pieces others get their turn. */
const PIECE_CHARS = 256 * 1024;
/** `read_file` shows no more of one line. */
const READABLE_LINE_CHARS = 2_000;
/** JSON is laid out on lines of its own up to this size. */
const MAX_PRETTY_CHARS = 4_000_000;

/** What a spilled result has instead of its text. */
interface Spilled {
  path: string;
  characters: number;
  lines: number;
  hint: string;
}

/**
 * A result that fits: short ones as they are, longer ones as their beginning and end, with the whole text in a file of the workspace
 * (`.talaria/results/<n>-<tool>.txt`) and how to read on. A JSON result stays one: only its longest text is spilled, with real line
 * ends, so that it can be read by lines. The same text is written once. When writing fails the result is cut, and says so.
 */
export async function fitResult(text: string, tool: string, context: ToolContext): Promise<string> {
  if (text.length <= RESULT_CAP_CHARS) return text;
  try {
    const value = parseJson(text);
    const field = isRecord(value) ? dominantText(value, text.length) : null;
    if (isRecord(value) && field !== null) {
      const whole = (value[field] as string).toWellFormed();
      const spilled = await spill(whole, tool, context);
      return JSON.stringify({ ...value, [field]: preview(whole), spilled });
    }
    const whole = value !== undefined && text.length <= MAX_PRETTY_CHARS ? JSON.stringify(value, null, 2) : text;
    const { path, hint } = await spill(whole, tool, context);
    return `${preview(whole)}\n\n[The whole result is in ${path}. ${hint}]`;
  } catch {
    return cut(text);
  }
}

/** The field that makes the result long, when the rest fits beside it. */
function dominantText(value: Record<string, unknown>, length: number): string | null {
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [field, text] = texts.reduce<[string, string] | []>((longest, entry) => (entry[1].length > (longest[1]?.length ?? -1) ? entry : longest), []);
  if (field === undefined || text === undefined || text.length < length / 4) return null;
  const rest = JSON.stringify({ ...value, [field]: '' });
  return rest.length + 2 * (HEAD_CHARS + TAIL_CHARS) < RESULT_CAP_CHARS ? field : null;
}

async function spill(text: string, tool: string, context: ToolContext): Promise<Spilled> {
  const { sandbox, state } = context;
  const memory = memoryOf(state);
  // the folder is named by us, but a command may have put a link in its place: only what lies inside is written to
  const folder = await sandbox.resolve(RESULTS);
  await mkdir(folder, { recursive: true });
  await writeFile(join(await sandbox.resolve(FOLDER), '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
  memory.next ??= await firstFree(folder);
  const name = `${memory.next++}-${tool.replace(/[^\w-]/g, '_')}.txt`;
  const file = join(folder, name);
  const facts = await write(file, text, context.signal);
  const earlier = memory.paths.get(facts.digest);
  if (earlier !== undefined) await unlink(file).catch(() => undefined);
  const path = earlier ?? `${RESULTS}/${name}`;
  memory.paths.set(facts.digest, path);
  const long = facts.longestLine > READABLE_LINE_CHARS ? ' Some lines are too long for read_file; look at those with a program in the terminal.' : '';
  const hint = `Read on with read_file (path "${path}", offset in lines), or look in it with search_files.${long}`;
  return { path, characters: text.length, lines: facts.lines, hint };
}

/** Writes a new file piece by piece. @throws when it cannot be written, or the call is interrupted. */
async function write(file: string, text: string, signal: AbortSignal): Promise<{ digest: string; lines: number; longestLine: number }> {
  const hash = createHash('sha256');
  const handle = await open(file, 'wx');
  let lines = 1;
  let lineStart = 0;
  let longestLine = 0;
  try {
    for (let from = 0; from < text.length; ) {
      signal.throwIfAborted();
      let to = Math.min(text.length, from + PIECE_CHARS);
      // a character of two units stays whole
      if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
      for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
        lines++;
        longestLine = Math.max(longestLine, at - lineStart);
        lineStart = at + 1;
      }
      const bytes = Buffer.from(text.slice(from, to));
      hash.update(bytes);
      await handle.write(bytes);
      await breathe();
      from = to;
    }
  } catch (error) {
    await unlink(file).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
  return { digest: hash.digest('hex'), lines, longestLine: Math.max(longestLine, text.length - lineStart) };
}

interface Memory {
  next: number | null;
  /** By digest of the text. */
  paths: Map<string, string>;
}

function memoryOf(state: Map<string, unknown>): Memory {
  let memory = state.get('spill') as Memory | undefined;
  if (!memory) state.set('spill', (memory = { next: null, paths: new Map() }));
  return memory;
}

async function firstFree(folder: string): Promise<number> {
  const taken = (await readdir(folder)).map((name) => Number.parseInt(name, 10)).filter(Number.isInteger);
  return Math.max(0, ...taken) + 1;
}

function preview(text: string): string {
  const head = text.slice(0, HEAD_CHARS).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-TAIL_CHARS).replace(/^[\udc00-\udfff]/, '');
  const left = (text.length - head.length - tail.length).toLocaleString('en-US');
  return `${head}\n\n[… ${left} characters are left out here …]\n\n${tail}`;
}

function cut(text: string): string {
  const kept = text.slice(0, RESULT_CAP_CHARS).replace(/[\ud800-\udbff]$/, '');
  const left = (text.length - kept.length).toLocaleString('en-US');
  return `${kept}\n\n[Result cut: ${left} more characters are left out. Ask for less at a time.]`;
}
