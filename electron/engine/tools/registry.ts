import { errorResult } from './define.ts';
import { ALL_TOOLS, resolveToolsets } from './toolsets.ts';
import type { Tool, ToolContext, ToolRegistry } from './types.ts';

export { ALL_TOOLS, ALL_TOOL_NAMES, resolveToolsets } from './toolsets.ts';

/** Most characters of one result that a model is given (Hermes' limit). */
export const RESULT_CAP_CHARS = 100_000;

/**
 * The tools of these toolsets. Known toolsets that are not built are left out (`resolveToolsets` names them); an empty list gives a
 * registry without tools.
 * @throws UnknownToolsetError for names that nobody knows.
 */
export function createRegistry(toolsets: readonly string[]): ToolRegistry {
  const wanted = new Set(resolveToolsets(toolsets).toolsets);
  return registryOf(ALL_TOOLS.filter((tool) => wanted.has(tool.toolset)));
}

/** A registry of exactly these tools. */
export function registryOf(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));
  return { specs: tools.map((tool) => tool.spec), get: (name) => byName.get(name) };
}

/**
 * Runs one tool and answers with the text for the model: well-formed Unicode, at most RESULT_CAP_CHARS and a notice. Never
 * throws: a defect in a tool becomes an error result, so that one bad call cannot end a run.
 */
export async function runTool(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<string> {
  try {
    return cap((await tool.run(args, context)).toWellFormed());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return cap(errorResult(`${tool.spec.name} failed unexpectedly: ${reason}`.toWellFormed()));
  }
}

function cap(text: string): string {
  if (text.length <= RESULT_CAP_CHARS) return text;
  const kept = text.slice(0, RESULT_CAP_CHARS).replace(/[\ud800-\udbff]$/, '');
  const left = (text.length - kept.length).toLocaleString('en-US');
  return `${kept}\n\n[Result cut: ${left} more characters are left out. Ask for less at a time.]`;
}
