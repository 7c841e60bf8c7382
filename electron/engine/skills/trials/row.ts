import type { TrialPrompt, TrialSpec } from '#shared/contract/trials.ts';
import { RolloutProblem } from '../../batch/worker/problem.ts';
import { type RowOptions, rowOptions } from '../../batch/worker/row.ts';
import { namedTools } from '../../batch/worker/tools.ts';
import { createRegistry, registryOf } from '../../tools/registry.ts';
import type { ToolRegistry, ToolServices } from '../../tools/types.ts';
import { TrialError } from './errors.ts';

const SKILLS = 'skills';

/** What a prompt's row says of how it is run, as batch runs read it. Throws TrialError `invalid` for what a trial cannot do. */
export function rowOf(prompt: TrialPrompt): RowOptions {
  const row = reading(() => rowOptions(prompt));
  if (row.image !== null) throw new TrialError('invalid', `Its row runs in the container image ${row.image}, and trials have no containers. Take a row without "image", or try it in a batch run.`, { field: 'prompts' });
  return row;
}

/** The tools of an attempt: those that the row names, else those of the trial; and in either case those of skills. */
export function toolsFor(spec: Pick<TrialSpec, 'toolsets'>, row: Pick<RowOptions, 'tools' | 'toolsets'>, services: ToolServices): ToolRegistry {
  if (row.tools === null && row.toolsets === null) return createRegistry([...new Set([...spec.toolsets, SKILLS])], services);
  const named = reading(() => namedTools(row, services).tools);
  const skills = createRegistry([SKILLS], services);
  const own = named.specs.filter(({ name }) => !skills.get(name));
  return registryOf([...own.map(({ name }) => named.get(name)!), ...skills.specs.map(({ name }) => skills.get(name)!)]);
}

/** What of the prompts cannot be run, in a sentence; null when all can. */
export function rowProblem(spec: Pick<TrialSpec, 'prompts' | 'toolsets'>, services: ToolServices): string | null {
  const found = spec.prompts.flatMap((prompt, i) => {
    try {
      toolsFor(spec, rowOf(prompt), services);
      return [];
    } catch (error) {
      if (error instanceof TrialError) return [{ place: i + 1, why: error.message }];
      throw error;
    }
  });
  const [first, ...rest] = found;
  if (!first) return null;
  return `Prompt ${first.place} cannot be run. ${first.why}${rest.length > 0 ? ` The same or the like holds for ${rest.length} more.` : ''}`;
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RolloutProblem ? new TrialError('invalid', error.message, { field: 'prompts', cause: error }) : error;
  }
}
