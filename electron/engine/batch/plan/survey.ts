import { stat } from 'node:fs/promises';
import type { RunSpec } from '#shared/contract/run-spec.ts';
import { estimateTokens } from '../../agent/tokens.ts';
import { readDataset } from '../dataset.ts';

/** So many prompts are weighed; the rest are taken to be like them. */
const WEIGHED_ROWS = 2_000;

/** What a plan wants to know of a dataset. */
export interface Survey {
  rows: number;
  rejected: number;
  /** Tokens of one prompt on average. */
  promptTokens: number;
  /** Rows among those that run which name a Docker image, and the first image. */
  images: number;
  image: string | null;
  /** Known columns that some of them have. */
  columns: ReadonlySet<string>;
}

/** Reads datasets for plans and remembers the last one, since a form asks again with each change. */
export class DatasetSurveys {
  #last: { key: string; survey: Promise<Survey> } | null = null;

  /** Throws BatchError `invalid` when the dataset cannot be read. */
  async of(spec: RunSpec): Promise<Survey> {
    const info = await stat(spec.datasetFile).catch(() => null);
    const key = JSON.stringify([spec.datasetFile, info?.size, info?.mtimeMs, info?.ino, spec.datasetShape, spec.columns, spec.maxSamples]);
    if (this.#last?.key === key) return this.#last.survey;
    const survey = surveyDatasetFor(spec);
    this.#last = { key, survey };
    // what failed is looked at again
    survey.catch(() => this.#last?.survey === survey && (this.#last = null));
    return survey;
  }
}

async function surveyDatasetFor(spec: RunSpec): Promise<Survey> {
  const found = { rows: 0, rejected: 0, tokens: 0, weighed: 0, images: 0, image: null as string | null, columns: new Set<string>() };
  for await (const item of readDataset(spec.datasetFile, { shape: spec.datasetShape, columns: spec.columns })) {
    if (item.type === 'rejected') found.rejected += 1;
    if (item.type !== 'row') continue;
    found.rows += 1;
    if (item.index >= (spec.maxSamples ?? Infinity)) continue;
    if (found.weighed < WEIGHED_ROWS) {
      found.weighed += 1;
      found.tokens += estimateTokens(item.prompt);
    }
    for (const column of Object.keys(item.row)) if (found.columns.size < 1_000) found.columns.add(column);
    const image = item.row.image;
    if (typeof image === 'string' && image !== '') {
      found.images += 1;
      found.image ??= image;
    }
  }
  return { ...found, promptTokens: found.weighed === 0 ? 0 : found.tokens / found.weighed };
}
