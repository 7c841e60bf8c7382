import { isAbsolute } from 'node:path';
import type { RunSpec } from '#shared/contract/runs.ts';
import { parseFilters } from '#shared/filters.ts';
import { RUN_OPTION_KEYS, RUN_OPTIONS } from '#shared/run-options.ts';
import { parseScoreRules } from '#shared/scoring.ts';
import { BUILT_TOOLSETS } from '../tools/toolsets.ts';
import { DistributionError, getDistribution, listDistributions, type OwnDistributions } from './distribution.ts';
import { BatchError } from './errors.ts';

/** Which toolsets can be drawn here. */
export interface Drawable {
  available: readonly string[];
  own: OwnDistributions;
}

/** Throws BatchError `invalid` with the field for options of a new run that cannot be used, as far as that shows without reading a file. */
export function checkSpec(spec: RunSpec, { available, own }: Drawable): void {
  if (!isAbsolute(spec.datasetFile)) throw new BatchError('invalid', 'Give the whole path of the dataset file.', { field: 'datasetFile' });
  if (spec.outputDir !== undefined && !isAbsolute(spec.outputDir)) throw new BatchError('invalid', 'Give the whole path of the output folder.', { field: 'outputDir' });
  try {
    getDistribution(spec.distribution, available, own);
  } catch (error) {
    throw error instanceof DistributionError ? new BatchError('invalid', error.message, { field: 'distribution', cause: error }) : error;
  }
  readable('filters', () => parseFilters(spec.filters));
  readable('scoring', () => parseScoreRules(spec.scoring));
}

/** Of changed options those that may change in a resume: they do not make a rollout another one. */
export function resumable(changes: Partial<RunSpec>): Partial<RunSpec> {
  return Object.fromEntries(RUN_OPTION_KEYS.filter((key) => RUN_OPTIONS[key].resume && key in changes).map((key) => [key, changes[key]]));
}

/** Only those that have a tool here. */
export function usableDistributions({ available, own }: Drawable): { name: string; description: string; toolsets: Record<string, number>; skipped: string[] }[] {
  return listDistributions(available, own)
    .filter((d) => d.built.length > 0)
    .map(({ name, toolsets, built, skipped }) => ({
      name,
      description: built.map((t) => `${t} ${toolsets[t]} %`).join(', ') + skippedWords(skipped),
      toolsets: { ...toolsets },
      skipped: [...skipped],
    }));
}

function skippedWords(skipped: readonly string[]): string {
  const [unset, absent] = [skipped.filter((name) => BUILT_TOOLSETS.includes(name)), skipped.filter((name) => !BUILT_TOOLSETS.includes(name))];
  return (unset.length > 0 ? `; not set up: ${unset.join(', ')}` : '') + (absent.length > 0 ? `; not in this version: ${absent.join(', ')}` : '');
}

function readable(field: string, parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    throw new BatchError('invalid', error instanceof Error ? error.message : String(error), { field, cause: error });
  }
}
