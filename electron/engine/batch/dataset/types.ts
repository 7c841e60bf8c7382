import type { Compression, DatasetFormat, DatasetReport, RejectedLine, Refusal } from '#shared/contract/datasets.ts';
import type { DatasetShape } from '#shared/contract/run-spec.ts';

/** A longer line or record is rejected; the rest of the file loads. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export type Encoding = NonNullable<DatasetReport['encoding']>;

export interface DatasetOptions {
  /** `auto` when absent. */
  shape?: DatasetShape | undefined;
  /** Our column to theirs; goes before what the shape takes. */
  columns?: Record<string, string> | undefined;
}

export interface DatasetRow {
  /** Position among the valid rows, from 0. */
  index: number;
  /** Line of the file, from 1; in a JSON array or Parquet the number of the record. */
  line: number;
  prompt: string;
  /** The row's other columns: by our names where they are known, the others under their own. */
  row: Record<string, unknown>;
  /** Hash of the whole row as it is used, with its keys sorted: the same for equal rows of any format. */
  hash: string;
}

export type DatasetItem =
  | ({ type: 'row' } & DatasetRow)
  | ({ type: 'rejected' } & RejectedLine)
  | { type: 'blank'; line: number }
  /** The last item. `sha256` is of the file as it is stored. */
  | { type: 'end'; bytes: number; encoding: Encoding | null; format: DatasetFormat; compression: Compression; sha256: string };

export type Rejected = { type: 'rejected'; code: Refusal } & RejectedLine;

/** What a format makes of a file: records as they are there, before anything is made of their columns. */
export type RawItem = { type: 'record'; line: number; value: Record<string, unknown>; excerpt: () => string } | Rejected | { type: 'blank'; line: number };

/** A file as a format reads it. */
export interface RawSource {
  name: string;
  format: DatasetFormat;
  compression: Compression;
  encoding: Encoding | null;
  /** Columns known before the first record; null when each record has its own. */
  header: string[] | null;
  items: AsyncIterable<RawItem>;
  /** After all items were read: of the file as it is stored. */
  end: () => { bytes: number; sha256: string };
}
