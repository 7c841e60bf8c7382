import { ALL_TOOLS, createRegistry, registryOf, resolveToolsets } from '../../tools/registry.ts';
import { availableToolsets, UnknownToolsetError, whyMissing } from '../../tools/toolsets.ts';
import type { ToolRegistry, ToolServices } from '../../tools/types.ts';
import { DistributionError, numbersOf, type OwnDistributions, sampleToolsets } from '../distribution.ts';
import type { RolloutTask } from '../queue/types.ts';
import { RolloutProblem } from './problem.ts';
import type { RowOptions } from './row.ts';

export interface ChosenTools {
  toolsets: string[];
  tools: ToolRegistry;
}

/**
 * The tools of a rollout: those that its row names, else the toolsets that an earlier attempt drew, else a draw that depends on the
 * run's seed (its id where it has none) and the rollout's place alone. What a row names must all be there: a row that lost a tool in
 * silence would make data that was not asked for.
 * @throws RolloutProblem
 */
export function chooseTools(task: RolloutTask, row: Pick<RowOptions, 'tools' | 'toolsets'>, services: ToolServices, own: OwnDistributions): ChosenTools {
  if (row.tools !== null || row.toolsets !== null) return namedTools(row, services);
  const toolsets = task.toolsets ?? drawn(task, services, own);
  return { toolsets, tools: createRegistry(toolsets, services) };
}

function drawn({ spec, runId, promptIndex, rollout }: RolloutTask, services: ToolServices, own: OwnDistributions): string[] {
  try {
    return sampleToolsets(spec.distribution, numbersOf(spec.seed ?? runId, promptIndex, rollout), availableToolsets(services), own);
  } catch (error) {
    if (error instanceof DistributionError) throw new RolloutProblem('distribution', error.message, { retryable: true, cause: error });
    throw error;
  }
}

/** Exactly the tools that a row names. @throws RolloutProblem when one is not there */
export function namedTools({ tools, toolsets }: Pick<RowOptions, 'tools' | 'toolsets'>, services: ToolServices): ChosenTools {
  const wanted = new Set([...toolsOf(toolsets ?? []), ...(tools ?? [])]);
  const chosen = ALL_TOOLS.filter((tool) => wanted.delete(tool.spec.name));
  if (wanted.size > 0) {
    const known = ALL_TOOLS.map((tool) => tool.spec.name).join(', ');
    throw new RolloutProblem('unknown_tool', `The row names tools that do not exist here: ${shown([...wanted])}. Those that do: ${known}.`, { retryable: false });
  }
  for (const { spec, missing } of chosen) {
    const why = missing?.(services) ?? null;
    if (why !== null) throw new RolloutProblem('tool_unavailable', `The row asks for ${spec.name}, which cannot be used in this run: ${why}`, { retryable: true });
  }
  return { toolsets: [...new Set(chosen.map((tool) => tool.toolset))], tools: registryOf(chosen) };
}

/** Names of all tools of these toolsets. */
function toolsOf(names: readonly string[]): string[] {
  try {
    const { toolsets, skipped } = resolveToolsets(names);
    const absent = skipped.map(({ name }) => name).filter((name) => names.includes(name));
    if (absent.length > 0) throw new RolloutProblem('unknown_tool', `The row asks for toolsets that have no tools here: ${absent.map((name) => whyMissing(name, {}) ?? name).join(' ')}`, { retryable: false });
    return ALL_TOOLS.filter((tool) => toolsets.includes(tool.toolset)).map((tool) => tool.spec.name);
  } catch (error) {
    if (error instanceof UnknownToolsetError) throw new RolloutProblem('unknown_tool', `The row asks for toolsets that nobody knows. ${error.message.slice(0, 600)}`, { retryable: false, cause: error });
    throw error;
  }
}

function shown(names: readonly string[]): string {
  return `${names.slice(0, 10).map((name) => `"${name.slice(0, 60)}"`).join(', ')}${names.length > 10 ? ', …' : ''}`;
}
