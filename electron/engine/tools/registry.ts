import { errorResult } from './define.ts';
import { fitResult } from './spill.ts';
import { ALL_TOOLS, resolveToolsets } from './toolsets.ts';
import type { Tool, ToolContext, ToolRegistry, ToolServices } from './types.ts';

export { ALL_TOOLS, ALL_TOOL_NAMES, resolveToolsets } from './toolsets.ts';

/**
 * The tools of these toolsets, without those that miss something of `services`. Known toolsets that are not built are left out
 * (`resolveToolsets` names them); an empty list gives a registry without tools.
 * @throws UnknownToolsetError for names that nobody knows.
 */
export function createRegistry(toolsets: readonly string[], services: ToolServices = {}): ToolRegistry {
  const wanted = new Set(resolveToolsets(toolsets).toolsets);
  return registryOf(ALL_TOOLS.filter((tool) => wanted.has(tool.toolset) && (tool.missing?.(services) ?? null) === null));
}

/** A registry of exactly these tools. */
export function registryOf(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));
  return { specs: tools.map((tool) => tool.spec), get: (name) => byName.get(name) };
}

/**
 * Runs one tool and answers with the text for the model: well-formed Unicode, and no longer than `fitResult` allows. Never
 * throws: a defect in a tool becomes an error result, so that one bad call cannot end a run.
 */
export async function runTool(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<string> {
  const { name } = tool.spec;
  try {
    return await fitResult((await tool.run(args, context)).toWellFormed(), name, context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fitResult(errorResult(`${name} failed unexpectedly: ${reason}`.toWellFormed()), name, context);
  }
}
