import type { ToolSpec } from '#shared/trajectory.ts';
import type { Sandbox } from '../sandbox/types.ts';

export interface ToolContext {
  sandbox: Sandbox;
  signal: AbortSignal;
  /** Per-rollout scratch for tools that remember (e.g. repeated reads), keyed by tool. */
  state: Map<string, unknown>;
  /** Live output for display; never stored. */
  onOutput: (text: string) => void;
}

/**
 * A tool that a model may call. `run` gets arguments that were parsed as a JSON object and validated by the tool itself,
 * and answers with the text the model sees (mostly JSON). It does not throw for bad arguments or failed work: those are
 * results with an error. What it throws is a defect, and is turned into an error result by the registry.
 */
export interface Tool {
  readonly spec: ToolSpec;
  readonly toolset: string;
  /** Runs beside other calls of the same turn: always, never, or when paths differ. */
  readonly parallel: 'safe' | 'by_path' | 'never';
  /** The path a `by_path` call touches, relative to the workspace; null when it is several or unknown: the call then runs alone. */
  pathOf?(args: Record<string, unknown>): string | null;
  run(args: Record<string, unknown>, context: ToolContext): Promise<string>;
}

/** The tools of one rollout. */
export interface ToolRegistry {
  readonly specs: readonly ToolSpec[];
  get(name: string): Tool | undefined;
}
