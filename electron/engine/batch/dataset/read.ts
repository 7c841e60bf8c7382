import type { DatasetFormat } from '#shared/contract/datasets.ts';
import { BatchError } from '../errors.ts';
import { withSource } from './open.ts';
import { makePlan, type Plan } from './plan.ts';
import { toRow } from './row.ts';
import type { DatasetItem, DatasetOptions, RawItem, RawSource, Rejected } from './types.ts';
import { cannotRead, fileError, unitOf, WANTED } from './words.ts';

/** Rows that tell what the columns are, and how much of them is held for that. */
const SAMPLE_ROWS = 200;
const SAMPLE_CHARS = 4_000_000;

/**
 * Reads a dataset row by row: JSONL, a JSON list (also as the one list of an object), CSV, TSV or Parquet; plain, gzip or zstd; told
 * apart by content. Text may be UTF-8 with or without byte order mark, or UTF-16 of both orders. Every line or record is a row, blank,
 * or rejected with a reason; columns are brought to our names by the shape of the file and by what `options.columns` says.
 * Throws BatchError `invalid` when the file as a whole cannot be read, is of another kind, lacks what the shape or a mapping needs, or
 * holds no valid row.
 */
export async function* readDataset(path: string, options: DatasetOptions = {}): AsyncGenerator<DatasetItem> {
  let rows = 0;
  let first: Rejected | null = null;
  let name = path;
  for await (const item of readWithPlan(path, options, (plan, source) => {
    name = source.name;
    if (plan.problem) throw plan.problem;
  })) {
    if (item.type === 'row') rows += 1;
    else if (item.type === 'rejected') first ??= item as Rejected;
    else if (item.type === 'end' && rows === 0) throw nothingIn(name, item.format, first);
    yield item;
  }
}

/** The same, but says first what was made of the columns, and does not mind when no row is valid. */
export async function* readWithPlan(path: string, options: DatasetOptions, onPlan: (plan: Plan, source: RawSource, sample: Record<string, unknown>[]) => void): AsyncGenerator<DatasetItem> {
  try {
    yield* withSource(path, (source) => readSource(source, options, onPlan));
  } catch (error) {
    throw error instanceof BatchError ? error : cannotRead(path, error);
  }
}

async function* readSource(source: RawSource, options: DatasetOptions, onPlan: (plan: Plan, source: RawSource, sample: Record<string, unknown>[]) => void): AsyncGenerator<DatasetItem> {
  let held: RawItem[] | null = [];
  let chars = 0;
  let plan: Plan | null = null;
  let index = 0;
  const give = function* (items: RawItem[]): Generator<DatasetItem> {
    for (const item of items) {
      const out = item.type === 'record' ? toRow(item, plan!, index) : item;
      if (out.type === 'row') index += 1;
      yield out;
    }
  };
  const decide = (): RawItem[] => {
    const items = held ?? [];
    const sample = items.flatMap((item) => (item.type === 'record' ? [item.value] : []));
    held = null;
    plan = makePlan(source.name, source.header, sample, options);
    onPlan(plan, source, sample);
    return items;
  };
  for await (const item of source.items) {
    if (held === null) {
      yield* give([item]);
      continue;
    }
    held.push(item);
    chars += item.type === 'record' ? sizeOf(item.value) : 100;
    if (held.length >= SAMPLE_ROWS || chars >= SAMPLE_CHARS) yield* give(decide());
  }
  if (held !== null) yield* give(decide());
  yield { type: 'end', ...source.end(), encoding: source.encoding, format: source.format, compression: source.compression };
}

function sizeOf(value: Record<string, unknown>): number {
  let size = 100;
  for (const v of Object.values(value)) size += typeof v === 'string' ? v.length : typeof v === 'object' ? 2_000 : 8;
  return size;
}

/** The whole file is of no use; what was refused first tells why. */
function nothingIn(name: string, format: DatasetFormat, first: Rejected | null): BatchError {
  if (first === null) return fileError(`${name} has no rows. ${WANTED}.`);
  if (/^\{\s*$/.test(first.excerpt)) return fileError(`${name} is one JSON document over several lines. ${WANTED}.`);
  return fileError(`${name} holds no valid row. ${unitOf(format) === 'line' ? 'Line' : 'Record'} ${first.line}: ${first.reason} ${WANTED}.`);
}
