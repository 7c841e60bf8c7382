import type { TFunction } from 'i18next';
import type { DatasetShape } from '#shared/contract/run-spec.ts';
import { DATASET_SHAPES } from '#shared/contract/run-spec.ts';
import { runOptionText } from '#shared/run-options.ts';
import { readRunOption } from '#shared/run-values.ts';
import type { RunDraft } from './draft.ts';

/** How the columns of the dataset are to be understood. */
export interface Mapping {
  datasetShape: DatasetShape;
  /** Our column to theirs. */
  columns: Record<string, string>;
}

export const FOUND_MAPPING: Mapping = { datasetShape: 'auto', columns: {} };

/** What the form says; what cannot be read there is left to the file. */
export function mappingOfDraft({ datasetShape, columns }: Pick<RunDraft, 'datasetShape' | 'columns'>): Mapping {
  const read = readRunOption('columns', columns);
  const said = 'value' in read ? (read.value as Record<string, string> | undefined) : undefined;
  return { datasetShape: DATASET_SHAPES.find((shape) => shape === datasetShape.trim()) ?? 'auto', columns: said ?? {} };
}

export function draftOfMapping({ datasetShape, columns }: Mapping): Pick<RunDraft, 'datasetShape' | 'columns'> {
  return { datasetShape: datasetShape === 'auto' ? '' : datasetShape, columns: runOptionText(columns) };
}

const NO_PROMPT = /^(?<file>.+) has no column that prompts could be taken from: its columns are (?<columns>.+)\. Say which one it is\.$/s;
const OTHER_SHAPE = /^(?<file>.+) is not shaped like (?<shape>.+): it lacks (?<missing>.+)\. Its columns are (?<columns>.+)\.$/s;

/** What is wrong with the columns of a file, in the page's language; any other sentence of the engine as it is. */
export function mappingProblem(problem: string, t: TFunction<'batch'>): string {
  const { file = '', columns = '', shape = '', missing = '' } = (NO_PROMPT.exec(problem) ?? OTHER_SHAPE.exec(problem))?.groups ?? {};
  if (file === '') return problem;
  return missing === '' ? t('mapping.noPrompt', { file, columns }) : t('mapping.otherShape', { file, shape, missing, columns });
}
