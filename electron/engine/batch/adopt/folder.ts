import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchError, systemCode } from '../errors.ts';
import { readLines } from '../lines.ts';

const MAX_ROW_BYTES = 256 * 1024 * 1024;
const MAX_JSON_BYTES = 256 * 1024 * 1024;
const BATCH_NAME = /^batch_(\d{1,9})\.jsonl$/;

/** Where a row of the old run stands, and what it is matched by. */
export interface OldRow {
  file: string;
  offset: number;
  length: number;
  /** As the row says; null when it says none. */
  promptIndex: number | null;
  /** Of what the person said first. */
  promptHash: string;
  completed: boolean;
}

export interface OldRun {
  folder: string;
  runName: string;
  model: string;
  batchSize: number | null;
  distribution: string | null;
  files: string[];
  rows: OldRow[];
  badLines: number;
  failedRows: number;
  /** Ids of the checkpoint, each once. */
  done: Set<number>;
  repeatedIds: number;
}

/** A row as Hermes Agent writes it; nothing is sure. */
export interface HermesRow {
  prompt_index?: unknown;
  conversations?: unknown;
  metadata?: unknown;
  completed?: unknown;
  partial?: unknown;
  api_calls?: unknown;
  toolsets_used?: unknown;
}

/**
 * Reads the folder of a run of Hermes Agent's batch runner: all rows of all batch files in numeric order, whichever file they were put
 * into. Holds a few dozen bytes per row. Throws BatchError `invalid` when it is no such folder.
 * @param onRow with the number of rows so far @throws the signal's reason when it is aborted
 */
export async function readOldRun(folder: string, onRow: (rows: number) => void, signal?: AbortSignal): Promise<OldRun> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw noRun(folder, systemCode(error) === 'ENOENT' ? 'it does not exist' : `it cannot be read (${systemCode(error)})`);
  });
  const batches = names.filter((name) => BATCH_NAME.test(name)).sort((a, b) => Number(BATCH_NAME.exec(a)![1]) - Number(BATCH_NAME.exec(b)![1]));
  const files = batches.length > 0 ? batches : names.filter((name) => name === 'trajectories.jsonl');
  const checkpoint = await readJson(join(folder, 'checkpoint.json'));
  if (files.length === 0 && !checkpoint) throw noRun(folder, 'it holds no batch_<n>.jsonl and no checkpoint.json');
  if (typeof checkpoint?.['run_id'] === 'string') throw new BatchError('invalid', `${folder} is the folder of a run of Talaria. Resume that run instead.`, { field: 'folder' });
  const statistics = await readJson(join(folder, 'statistics.json'));
  const ids = Array.isArray(checkpoint?.['completed_prompts']) ? checkpoint['completed_prompts'].filter((id) => Number.isSafeInteger(id) && (id as number) >= 0).map(Number) : [];
  const run: OldRun = {
    folder,
    runName: text(checkpoint?.['run_name']) ?? text(statistics?.['run_name']) ?? '',
    model: text(statistics?.['model']) ?? '',
    batchSize: Number.isSafeInteger(statistics?.['batch_size']) && Number(statistics!['batch_size']) > 0 ? Number(statistics!['batch_size']) : null,
    distribution: text(statistics?.['distribution']),
    files,
    rows: [],
    badLines: 0,
    failedRows: 0,
    done: new Set(ids),
    repeatedIds: ids.length - new Set(ids).size,
  };
  for (const file of files) await readFileRows(run, file, onRow, signal);
  return run;
}

/** One row, read again. Throws when the file has changed. */
export async function readOldRow(folder: string, { file, offset, length }: OldRow): Promise<HermesRow> {
  const handle = await open(join(folder, file), 'r');
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, offset);
    return JSON.parse(bytes.toString('utf8', 0, bytesRead)) as HermesRow;
  } catch (error) {
    throw error instanceof SyntaxError ? new BatchError('invalid', `${join(folder, file)} was changed while it was read. Try again.`, { field: 'folder' }) : error;
  } finally {
    await handle.close();
  }
}

/** The same for equal prompts; white space at the ends and kinds of line ends do not count. */
export function promptHash(prompt: string): string {
  return createHash('sha256').update(prompt.toWellFormed().replace(/\r\n?/g, '\n').trim()).digest('base64url').slice(0, 24);
}

async function readFileRows(run: OldRun, name: string, onRow: (rows: number) => void, signal?: AbortSignal): Promise<void> {
  const file = await openFile(join(run.folder, name));
  try {
    for await (const line of readLines(file, { maxBytes: MAX_ROW_BYTES, unit: { bytes: 1 }, start: 0 })) {
      signal?.throwIfAborted();
      if (line.bytes?.toString('latin1').trim() === '') continue;
      const row = line.bytes ? readRow(line.bytes) : null;
      if (!row) run.badLines += 1;
      else if (!row.answered) run.failedRows += 1;
      else {
        run.model ||= row.model;
        run.rows.push({ file: name, offset: line.offset, length: line.length, promptIndex: row.promptIndex, promptHash: row.promptHash, completed: row.completed });
        onRow(run.rows.length);
      }
    }
  } finally {
    await file.close();
  }
}

function readRow(bytes: Buffer): (Pick<OldRow, 'promptIndex' | 'promptHash' | 'completed'> & { answered: boolean; model: string }) | null {
  let row: HermesRow | null;
  try {
    row = JSON.parse(bytes.toString('utf8')) as HermesRow | null;
  } catch {
    return null;
  }
  if (!Array.isArray(row?.conversations)) return null;
  const turns = (row.conversations as unknown[]).filter((t): t is { from?: unknown; value?: unknown } => typeof t === 'object' && t !== null);
  const human = turns.find((t) => t.from === 'human');
  if (typeof human?.value !== 'string') return null;
  const { prompt_index: index } = row;
  return {
    promptIndex: Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : null,
    promptHash: promptHash(human.value),
    completed: row.completed === true,
    answered: turns.some((t) => t.from === 'gpt'),
    model: text((row.metadata as { model?: unknown } | null | undefined)?.model) ?? '',
  };
}

async function openFile(path: string): Promise<FileHandle> {
  // a device or pipe in its place could be read for ever
  if (!(await stat(path)).isFile()) throw new BatchError('invalid', `${path} is not a file.`, { field: 'folder' });
  return open(path, 'r');
}

/** An object of a JSON file; null when there is none that can be read. */
async function readJson(path: string): Promise<Record<string, unknown> | null> {
  try {
    const at = await stat(path);
    if (!at.isFile() || at.size > MAX_JSON_BYTES) return null;
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function noRun(folder: string, why: string): BatchError {
  return new BatchError('invalid', `${folder} is no folder of a run of Hermes Agent: ${why}.`, { field: 'folder' });
}
