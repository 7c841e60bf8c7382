import type { RunSummary } from '#shared/contract/runs.ts';
import { fileName } from '../run-codes.ts';

/** Runs to compare `run` with: those over the same file first, then over a file of the same name, then the rest, each in their order. */
export function byLikeness(run: Pick<RunSummary, 'id' | 'spec'>, runs: readonly RunSummary[]): RunSummary[] {
  const name = fileName(run.spec.datasetFile);
  const likeness = (other: RunSummary): number => (other.spec.datasetFile === run.spec.datasetFile ? 0 : fileName(other.spec.datasetFile) === name ? 1 : 2);
  return runs.filter((other) => other.id !== run.id).toSorted((x, y) => likeness(x) - likeness(y));
}

/** The least reward that counts as solved; null when nothing usable was typed: then everything above 0 does. */
export function parseThreshold(text: string): number | null {
  const value = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || !Number.isFinite(value) ? null : value;
}
