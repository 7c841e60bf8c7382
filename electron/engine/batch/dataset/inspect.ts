import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type DatasetColumn, type DatasetReport, type Refusal, VALUE_KINDS } from '#shared/contract/datasets.ts';
import { destinations, mappingOf, type Plan } from './plan.ts';
import { readWithPlan } from './read.ts';
import type { DatasetOptions, RawSource } from './types.ts';
import { cut, fileError, kindCode, unitOf, WANTED } from './words.ts';

/** Preview and rejected entries of a report. */
const MAX_LISTED = 200;
const MAX_COLUMNS = 200;
const PREVIEW_CHARS = 500;
const CELL_CHARS = 200;
const EXAMPLE_CHARS = 120;
/** Items between two looks at whether others wait. */
const BREATH_ITEMS = 2_000;

const OF_COLUMNS: readonly (Refusal | undefined)[] = ['no_prompt', 'prompt_empty', 'prompt_not_text', 'column_type'];

/**
 * What is in a dataset file and how it is understood: columns, mapping, counts, the first rows, and every kind of row that was not
 * taken. Holds no more than it lists. A file whose columns cannot be used has a report that says so; one that cannot be read or that
 * has nothing in it throws BatchError `invalid`.
 */
export async function inspectDataset(path: string, options: DatasetOptions = {}, signal?: AbortSignal): Promise<DatasetReport> {
  const report: DatasetReport = {
    path,
    name: basename(path),
    bytes: 0,
    format: 'jsonl',
    compression: 'none',
    encoding: 'utf-8',
    unit: 'line',
    shape: 'plain',
    columns: [],
    mapping: {},
    problem: null,
    suggestedScoring: [],
    rows: 0,
    blankLines: 0,
    duplicates: 0,
    duplicateIds: 0,
    duplicateId: null,
    preview: [],
    rejectedCount: 0,
    rejected: [],
  };
  const prompts = new Seen();
  const ids = new Seen();
  let items = 0;
  for await (const item of readWithPlan(path, options, (plan, source, sample) => Object.assign(report, describe(plan, source, sample)))) {
    signal?.throwIfAborted();
    if ((items += 1) % BREATH_ITEMS === 0) await yieldToOthers();
    if (item.type === 'row') {
      if (report.problem !== null) continue;
      report.rows += 1;
      if (prompts.again(item.prompt)) report.duplicates += 1;
      const { id } = item.row;
      if (id !== undefined && ids.again(String(id))) {
        report.duplicateIds += 1;
        report.duplicateId ??= cut(String(id), CELL_CHARS);
      }
      if (report.preview.length < MAX_LISTED) {
        const row = Object.fromEntries(Object.entries(item.row).slice(0, MAX_COLUMNS).map(([column, value]) => [column, shown(value, CELL_CHARS)]));
        report.preview.push({ index: item.index, line: item.line, prompt: cut(item.prompt, PREVIEW_CHARS), row });
      }
    } else if (item.type === 'rejected') {
      // follows from the columns, and is told by `problem`
      if (report.problem !== null && OF_COLUMNS.includes(item.code)) continue;
      report.rejectedCount += 1;
      const { type: _, ...rejected } = item;
      if (report.rejected.length < MAX_LISTED) report.rejected.push(rejected);
    } else if (item.type === 'blank') report.blankLines += 1;
    else Object.assign(report, { bytes: item.bytes, encoding: item.encoding });
  }
  if (report.rows === 0 && report.columns.length === 0 && report.rejectedCount === 0) throw fileError(`${report.name} is empty. ${WANTED}.`);
  if (report.rows === 0 && report.columns.length === 0 && /^\{\s*$/.test(report.rejected[0]?.excerpt ?? '')) throw fileError(`${report.name} is one JSON document over several lines. ${WANTED}.`);
  return report;
}

function describe(plan: Plan, source: RawSource, sample: Record<string, unknown>[]): Partial<DatasetReport> {
  const to = destinations(plan);
  return {
    format: source.format,
    compression: source.compression,
    unit: unitOf(source.format),
    shape: plan.shape,
    columns: plan.columns.slice(0, MAX_COLUMNS).map((name) => describeColumn(name, sample, to.get(name) ?? [])),
    mapping: mappingOf(plan),
    problem: plan.problem?.message ?? null,
    suggestedScoring: plan.scoring,
  };
}

function describeColumn(name: string, sample: Record<string, unknown>[], to: string[]): DatasetColumn {
  const values = sample.flatMap((row) => (Object.hasOwn(row, name) && row[name] !== null ? [row[name]] : []));
  const kinds = new Set(values.map(kindCode));
  const example = values.find((value) => value !== '');
  return { name, kinds: VALUE_KINDS.filter((kind) => kinds.has(kind)), example: example === undefined ? null : shown(example, EXAMPLE_CHARS), to };
}

function shown(value: unknown, chars: number): string {
  if (typeof value === 'string') return cut(value.toWellFormed(), chars);
  try {
    return cut(JSON.stringify(value) ?? '', chars);
  } catch {
    return '…';
  }
}

/** Texts that were there before: 48 bits of a hash each, a fraction of the memory of the texts. */
class Seen {
  readonly #hashes = new Set<number>();

  again(text: string): boolean {
    const key = createHash('sha256').update(text).digest().readUIntBE(0, 6);
    if (this.#hashes.has(key)) return true;
    this.#hashes.add(key);
    return false;
  }
}
