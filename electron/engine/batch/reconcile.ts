import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type Out, writeAtomically } from './atomic.ts';
import { systemCode } from './errors.ts';
import { readLines } from './lines.ts';

const MAX_ROW_BYTES = 1024 * 1024 * 1024;

interface Place {
  index: number;
  offset: number;
  length: number;
  completed: boolean;
}

/** What a batch file should hold. */
export interface ExpectedRows {
  /** By rollout index. */
  rows: ReadonlyMap<number, ExpectedRow>;
  /** What `rowShape` says of every row. */
  shape: string;
  /** The rollout index of a row as it is in the file; null for a row that cannot be one of this run's. */
  indexOf(row: FileRow): number | null;
  /** The line of a row that is missing, without newline. */
  line(index: number): string;
}

/** What tells the row that stands for a rollout from an older one. */
export interface ExpectedRow {
  trajectoryId: string;
  /** As it is in the row. */
  reward: number;
}

/** A row of a batch file, as far as it is looked at. */
export interface FileRow {
  prompt_index?: unknown;
  rollout?: unknown;
  reward?: unknown;
  completed?: unknown;
  metadata?: { trajectory_id?: unknown };
  tool_stats?: unknown;
}

/** A batch file with the places of its rows. */
export interface SurveyedFile {
  path: string;
  places: readonly Place[];
}

/** The columns of a row: all rows of all files must have the same, also those that an earlier version of this program wrote. */
export function rowShape(row: object): string {
  const { tool_stats: stats } = row as FileRow;
  return JSON.stringify([Object.keys(row), typeof stats === 'object' && stats !== null ? Object.keys(stats) : []]);
}

/**
 * Makes a batch file hold exactly the expected rows, each once: torn lines, lines of replaced attempts, doubles and strangers go,
 * missing lines are added. The file is rewritten, atomically, only when it differs; one without rows is not made, or goes.
 */
export async function reconcileFile(path: string, expected: ExpectedRows): Promise<SurveyedFile> {
  const { places, clean, exists } = await survey(path, expected);
  if (expected.rows.size === 0) {
    if (exists) await rm(path);
    return { path, places: [] };
  }
  const have = new Set(places.map((p) => p.index));
  const missing = [...expected.rows.keys()].filter((index) => !have.has(index)).sort((a, b) => a - b);
  if (clean && missing.length === 0) return { path, places };
  await writeAtomically(path, async (out) => {
    await copyLines(path, places, out);
    for (const index of missing) {
      await out.write(`${expected.line(index)}\n`);
      await yieldToOthers();
    }
  });
  return { path, places: (await survey(path, expected)).places };
}

/** Copies the rows of a reconciled file in the order of their index. Holds one row at a time. */
export async function copyRows({ path, places }: SurveyedFile, out: Out): Promise<{ completed: number; partial: number }> {
  await copyLines(path, places.toSorted((a, b) => a.index - b.index), out);
  const completed = places.filter((p) => p.completed).length;
  return { completed, partial: places.length - completed };
}

/** Where the good lines are: expected ones, the first time each; `clean` when there is nothing else. */
async function survey(path: string, expected: ExpectedRows): Promise<{ places: Place[]; clean: boolean; exists: boolean }> {
  const file = await openIfThere(path);
  if (!file) return { places: [], clean: true, exists: false };
  const places: Place[] = [];
  const seen = new Set<number>();
  let clean = true;
  try {
    for await (const line of readLines(file, { maxBytes: MAX_ROW_BYTES, unit: { bytes: 1 }, start: 0 })) {
      const row = line.ended && line.bytes ? parseRow(line.bytes) : null;
      const index = row && indexIn(row, expected);
      if (row && index !== null && !seen.has(index)) {
        seen.add(index);
        places.push({ index, offset: line.offset, length: line.length + 1, completed: row.completed === true });
      } else clean = false;
    }
  } finally {
    await file.close();
  }
  return { places, clean, exists: true };
}

function indexIn(row: FileRow, expected: ExpectedRows): number | null {
  const index = expected.indexOf(row);
  const wanted = index === null ? undefined : expected.rows.get(index);
  if (!wanted || row.metadata?.trajectory_id !== wanted.trajectoryId || row.reward !== wanted.reward || rowShape(row) !== expected.shape) return null;
  return index;
}

function parseRow(bytes: Buffer): FileRow | null {
  try {
    const row = JSON.parse(bytes.toString('utf8')) as FileRow | null;
    return typeof row === 'object' && row !== null && !Array.isArray(row) ? row : null;
  } catch {
    return null;
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    // a device or pipe in its place could be read for ever
    if (!(await stat(path)).isFile()) throw Object.assign(new Error(`${path} is not a file`), { code: 'EISDIR' });
    return await open(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function copyLines(path: string, places: readonly Place[], out: Out): Promise<void> {
  if (places.length === 0) return;
  const file = await open(path, 'r');
  try {
    for (const { offset, length } of places) {
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; ) {
        const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
        if (bytesRead === 0) throw new Error(`${path} changed while it was read`);
        at += bytesRead;
      }
      await out.write(bytes);
    }
  } finally {
    await file.close();
  }
}
