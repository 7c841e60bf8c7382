import { patchTool } from './patch.ts';
import { readFileTool } from './read-file.ts';
import { searchFilesTool } from './search-files.ts';
import { terminalTool } from './terminal.ts';
import type { Tool } from './types.ts';
import { writeFileTool } from './write-file.ts';

/** Every tool that is built, in the order in which models are offered them. A new tool is added here. */
export const ALL_TOOLS: readonly Tool[] = [terminalTool, readFileTool, writeFileTool, patchTool, searchFilesTool];

/** Names of every tool that is built: the keys of zero-filled statistics. */
export const ALL_TOOL_NAMES: readonly string[] = ALL_TOOLS.map((tool) => tool.spec.name);

/** Toolsets that are built: those that some tool belongs to. */
export const BUILT_TOOLSETS: readonly string[] = [...new Set(ALL_TOOLS.map((tool) => tool.toolset))];

/** Toolsets that Hermes datasets and distributions name and that have no tools here. */
const NOT_BUILT = [
  'web', 'vision', 'image_gen', 'moa', 'browser', 'todo', 'memory', 'skills', 'session_search', 'clarify', 'code_execution', 'delegation', 'cronjob', 'messaging', 'tts', 'rl', 'kanban',
];

/** Names that stand for several toolsets; they may name each other. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  debugging: ['terminal', 'web', 'file'],
  safe: ['web', 'vision', 'image_gen', 'moa'],
  coding: ['terminal', 'file'],
  all: BUILT_TOOLSETS,
  '*': BUILT_TOOLSETS,
};

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

function compositeOf(name: string): readonly string[] | undefined {
  return Object.hasOwn(COMPOSITES, name) ? COMPOSITES[name] : undefined;
}
