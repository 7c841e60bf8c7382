import { type FileHandle, open, stat } from 'node:fs/promises';
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
  /** Prompt index to the id of the trajectory that stands for it. */
  rows: ReadonlyMap<number, string>;
  /** The line of a row that is missing, without newline. */
  line(index: number): string;
}

/** A batch file with the places of its rows. */
export interface SurveyedFile {
  path: string;
  places: readonly Place[];
}

/**
 * Makes a batch file hold exactly the expected rows, each once: torn lines, lines of replaced attempts, doubles and strangers go,
 * missing lines are added. The file is rewritten, atomically, only when it differs; one without rows is not made.
 */
export async function reconcileFile(path: string, expected: ExpectedRows): Promise<SurveyedFile> {
  const { places, clean } = await survey(path, expected.rows);
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
  return { path, places: (await survey(path, expected.rows)).places };
}

/** Writes the rows of reconciled batch files, in the order of their prompt index, to one file, atomically. Holds one row at a time. */
export async function mergeFiles(files: readonly SurveyedFile[], target: string): Promise<{ written: number; completed: number; partial: number }> {
  const sum = { written: 0, completed: 0, partial: 0 };
  await writeAtomically(target, async (out) => {
    for (const { path, places } of files) {
      await copyLines(path, places.toSorted((a, b) => a.index - b.index), out);
      sum.written += places.length;
      for (const p of places) sum[p.completed ? 'completed' : 'partial'] += 1;
    }
  });
  return sum;
}

/** Where the good lines are: expected ones, the first time each; `clean` when there is nothing else. */
async function survey(path: string, rows: ReadonlyMap<number, string>): Promise<{ places: Place[]; clean: boolean }> {
  const file = await openIfThere(path);
  if (!file) return { places: [], clean: true };
  const places: Place[] = [];
  const seen = new Set<number>();
  let clean = true;
  try {
    for await (const line of readLines(file, { maxBytes: MAX_ROW_BYTES, unit: { bytes: 1 }, start: 0 })) {
      const row = line.ended && line.bytes ? parseRow(line.bytes) : null;
      if (row && !seen.has(row.index) && rows.get(row.index) === row.trajectoryId) {
        seen.add(row.index);
        places.push({ index: row.index, offset: line.offset, length: line.length + 1, completed: row.completed });
      } else clean = false;
    }
  } finally {
    await file.close();
  }
  return { places, clean };
}

function parseRow(bytes: Buffer): { index: number; trajectoryId: string; completed: boolean } | null {
  try {
    const row = JSON.parse(bytes.toString('utf8')) as { prompt_index?: unknown; completed?: unknown; metadata?: { trajectory_id?: unknown } } | null;
    const id = row?.metadata?.trajectory_id;
    if (typeof row?.prompt_index !== 'number' || typeof id !== 'string') return null;
    return { index: row.prompt_index, trajectoryId: id, completed: row.completed === true };
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
