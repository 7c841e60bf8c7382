import { z } from 'zod';
import { base } from './base.ts';
import { DATASET_SHAPES } from './run-spec.ts';

/** Our columns of a dataset row; whatever else a row has is carried through under its own name. */
export const ROW_COLUMNS = ['prompt', 'prompts', 'system', 'answer', 'tests', 'entry_point', 'id', 'info', 'tools', 'toolsets', 'scoring', 'image', 'cwd'] as const;
export type RowColumn = (typeof ROW_COLUMNS)[number];

export const DATASET_FORMATS = ['jsonl', 'json', 'csv', 'tsv', 'parquet'] as const;
export type DatasetFormat = (typeof DATASET_FORMATS)[number];
export const COMPRESSIONS = ['none', 'gzip', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Why a row was refused. */
export const REFUSALS = ['too_long', 'encoding', 'not_json', 'not_object', 'no_prompt', 'prompt_not_text', 'prompt_empty', 'too_deep', 'column_type', 'fields', 'open_quote', 'cut_off'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** `reason` says it in an English sentence; `code` and its `params` let a page say it in its own language. */
export const rejectedLineSchema = z.object({
  /** Number of the line, or of the record in formats without lines (`unit` of the report), from 1. */
  line: z.number().int(),
  reason: z.string(),
  code: z.enum(REFUSALS).optional(),
  /**
   * too_long: mb, limit; encoding: encoding, column; not_json: column, problem (English; both only when found); not_object: kind (null,
   * list, string, number, boolean, object); no_prompt: column, columns; prompt_not_text: column, kind; prompt_empty: column;
   * column_type: column, kind, wanted (text, names, texts, tests, id, identifier); fields: count, expected.
   */
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  excerpt: z.string(),
});
export type RejectedLine = z.infer<typeof rejectedLineSchema>;

export const VALUE_KINDS = ['string', 'number', 'boolean', 'list', 'object'] as const;

/** A column of the file, by its first rows. */
export const datasetColumnSchema = z.object({
  name: z.string(),
  /** Kinds of its values; none when it was always empty. */
  kinds: z.array(z.enum(VALUE_KINDS)),
  /** Its first value, shortened; JSON when it is no text. */
  example: z.string().nullable(),
  /** What is made of it, as `prompt` or `info.solution`; empty when it is carried through as it is. */
  to: z.array(z.string()),
});
export type DatasetColumn = z.infer<typeof datasetColumnSchema>;

export const datasetReportSchema = z.object({
  path: z.string(),
  name: z.string(),
  bytes: z.number(),
  format: z.enum(DATASET_FORMATS),
  compression: z.enum(COMPRESSIONS),
  /** Null for Parquet. */
  encoding: z.enum(['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be']).nullable(),
  /** What `line` counts. */
  unit: z.enum(['line', 'record']),
  /** As asked for, or as found; never `auto`. */
  shape: z.enum(DATASET_SHAPES),
  columns: z.array(datasetColumnSchema),
  /** Our columns that have a source: the names of theirs. */
  mapping: z.partialRecord(z.enum(ROW_COLUMNS), z.array(z.string())),
  /** Why these rows cannot be used as they are mapped (a sentence); there are no rows then. */
  problem: z.string().nullable(),
  /** Rules of scoring that fit this shape. */
  suggestedScoring: z.array(z.string()),
  rows: z.number().int(),
  blankLines: z.number().int(),
  /** Rows whose prompt equals an earlier one; kept, each is its own prompt. */
  duplicates: z.number().int(),
  /** Rows whose id equals an earlier one, and the first of these ids. */
  duplicateIds: z.number().int(),
  duplicateId: z.string().nullable(),
  /** The first rows as they will run. `row` has the other columns, each as a short text. */
  preview: z.array(z.object({ index: z.number().int(), line: z.number().int(), prompt: z.string(), row: z.record(z.string(), z.string()) })),
  rejectedCount: z.number().int(),
  rejected: z.array(rejectedLineSchema),
});
export type DatasetReport = z.infer<typeof datasetReportSchema>;

export const datasetsContract = {
  /**
   * Reads a file of prompts on the engine's machine (JSONL, JSON, CSV, TSV, Parquet, also packed with gzip or zstd) and says what is in
   * it and how its columns are understood. INVALID when it cannot be read.
   */
  inspect: base
    .input(z.object({ path: z.string().min(1), shape: z.enum(DATASET_SHAPES).optional(), columns: z.record(z.string(), z.string().min(1)).optional() }))
    .output(datasetReportSchema),
  /** Brings a dropped file to the engine in pieces (base64, at most 1 MiB decoded each); the last piece answers with the stored path. */
  upload: base
    .input(z.object({ uploadId: z.string().optional(), name: z.string().min(1).max(255), chunk: z.string(), last: z.boolean() }))
    .output(z.object({ uploadId: z.string(), path: z.string().nullable() })),
};
