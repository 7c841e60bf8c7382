import type { ToolSpec } from '#shared/trajectory.ts';

const IDENTITY =
  'You are a capable agent that solves tasks with the tools it is given. You work carefully, check your results, and say plainly what you did and what you could not do.';

const TOOL_USE =
  'Use the tools instead of describing what you would do. Paths are relative to your workspace folder, which is yours alone. After an error, read it, find the cause and try again in another way. When the task is done, answer without calling a tool.';

/** The system prompt of a rollout: built once, then sent byte for byte the same on every call. */
export function buildSystemPrompt(tools: readonly ToolSpec[], extra?: string): string {
  return [IDENTITY, tools.length > 0 ? TOOL_USE : null, extra?.trim() || null].filter((p) => p !== null).join('\n\n');
}
