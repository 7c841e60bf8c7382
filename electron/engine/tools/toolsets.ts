import { clarifyTool } from './clarify.ts';
import { spawnAgentTool, spawnParallelTool } from './delegation.ts';
import { memoryTool } from './memory.ts';
import { patchTool } from './patch.ts';
import { processTool } from './process.ts';
import { readFileTool } from './read-file.ts';
import { searchFilesTool } from './search-files.ts';
import { sessionSearchTool } from './session-search.ts';
import { skillManageTool, skillsListTool, skillViewTool } from './skills.ts';
import { terminalTool } from './terminal.ts';
import { todoTool } from './todo.ts';
import type { Tool, ToolServices } from './types.ts';
import { visionAnalyzeTool } from './vision-analyze.ts';
import { webExtractTool } from './web-extract.ts';
import { webSearchTool } from './web-search.ts';
import { writeFileTool } from './write-file.ts';

/** Every tool that is built, in the order in which models are offered them. A new tool is added here. */
export const ALL_TOOLS: readonly Tool[] = [
  terminalTool, processTool, readFileTool, writeFileTool, patchTool, searchFilesTool, webSearchTool, webExtractTool, visionAnalyzeTool, todoTool, clarifyTool, sessionSearchTool, memoryTool,
  skillsListTool, skillViewTool, skillManageTool, spawnAgentTool, spawnParallelTool,
];

/** Names of every tool that is built: the keys of zero-filled statistics. */
export const ALL_TOOL_NAMES: readonly string[] = ALL_TOOLS.map((tool) => tool.spec.name);

/** Toolsets that are built: those that some tool belongs to. */
export const BUILT_TOOLSETS: readonly string[] = [...new Set(ALL_TOOLS.map((tool) => tool.toolset))];

/** On in new chats when config.yaml does not say. */
export const DEFAULT_TOOLSETS: readonly string[] = ['terminal', 'file', 'web', 'vision', 'todo', 'clarify', 'session_search', 'memory', 'skills', 'delegation'];

/** Toolsets that Hermes datasets and distributions name and that have no tools here. */
const NOT_BUILT = ['image_gen', 'moa', 'browser', 'code_execution', 'cronjob', 'messaging', 'tts', 'rl', 'kanban'];

/** Only ever on by its own name: a worker of a board gets these from the board, and nobody else should have them unasked. */
const NEVER_IN_ALL: readonly string[] = ['kanban'];

/** What `all` stands for among toolsets that exist. */
export function partsOfAll(built: readonly string[]): string[] {
  return built.filter((name) => !NEVER_IN_ALL.includes(name));
}

/** Names that stand for several toolsets; they may name each other. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  debugging: ['terminal', 'web', 'file'],
  safe: ['web', 'vision', 'image_gen', 'moa'],
  coding: ['terminal', 'file', 'web', 'todo', 'clarify', 'session_search'],
  research: ['web', 'vision', 'file', 'todo', 'clarify'],
  'hermes-cli': DEFAULT_TOOLSETS,
  all: partsOfAll(BUILT_TOOLSETS),
  '*': partsOfAll(BUILT_TOOLSETS),
};

/** Names of the composites, for people to choose from. */
export const COMPOSITE_NAMES: readonly string[] = Object.keys(COMPOSITES).filter((name) => name !== '*');

/** A toolset name that nobody knows: most likely a typing mistake, so it is an error rather than skipped. */
export class UnknownToolsetError extends Error {
  readonly code = 'unknown_toolset';
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super(`Unknown toolset ${names.map((name) => `"${name}"`).join(', ')}. Available: ${BUILT_TOOLSETS.join(', ')}; also ${Object.keys(COMPOSITES).join(', ')}.`);
    this.name = 'UnknownToolsetError';
    this.names = names;
  }
}

export interface ResolvedToolsets {
  /** Built toolsets in the order of ALL_TOOLS, each once. */
  toolsets: string[];
  /** Known names without tools here, with a sentence for the person. */
  skipped: { name: string; note: string }[];
}

/**
 * Turns toolset names, composites included, into the built toolsets that they mean. An empty list means no tools.
 * @throws UnknownToolsetError when a name is not known at all.
 */
export function resolveToolsets(names: readonly string[]): ResolvedToolsets {
  // A set that grows while it is walked: composites add their parts, and a cycle adds nothing new.
  const wanted = new Set(names);
  for (const name of wanted) for (const part of compositeOf(name) ?? []) wanted.add(part);
  const unknown = [...wanted].filter((name) => !compositeOf(name) && !BUILT_TOOLSETS.includes(name) && !NOT_BUILT.includes(name));
  if (unknown.length > 0) throw new UnknownToolsetError(unknown);
  return {
    toolsets: BUILT_TOOLSETS.filter((name) => wanted.has(name)),
    skipped: NOT_BUILT.filter((name) => wanted.has(name)).map((name) => ({ name, note: `The toolset "${name}" is not part of this version and is skipped.` })),
  };
}

/** Toolsets with at least one tool that works with these services. */
export function availableToolsets(services: ToolServices): string[] {
  return BUILT_TOOLSETS.filter((name) => ALL_TOOLS.some((tool) => tool.toolset === name && (tool.missing?.(services) ?? null) === null));
}

/** Why a toolset has no tool with these services, in a sentence; null when it has. */
export function whyMissing(name: string, services: ToolServices): string | null {
  const tools = ALL_TOOLS.filter((tool) => tool.toolset === name);
  if (tools.length === 0) return NOT_BUILT.includes(name) ? `The toolset "${name}" is not part of this version.` : `Nobody knows a toolset "${name}".`;
  const reasons = tools.map((tool) => tool.missing?.(services) ?? null);
  return reasons.includes(null) ? null : reasons[0]!;
}

/** The built toolsets a composite stands for; undefined for any other name. */
export function partsOf(name: string): string[] | undefined {
  return compositeOf(name) && resolveToolsets([name]).toolsets;
}

/** Every name that `resolveToolsets` accepts and that means something here. */
export function knownToolsetNames(): string[] {
  return [...BUILT_TOOLSETS, ...Object.keys(COMPOSITES)];
}

function compositeOf(name: string): readonly string[] | undefined {
  return Object.hasOwn(COMPOSITES, name) ? COMPOSITES[name] : undefined;
}
