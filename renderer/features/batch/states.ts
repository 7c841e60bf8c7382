import type { PromptState } from '#shared/contract/runs.ts';

/** Order of the states in bars and legends: best first, waiting last. */
export const STATE_ORDER = [
  'completed',
  'partial',
  'failed',
  'discarded',
  'cancelled',
  'running',
  'pending',
] as const satisfies readonly PromptState[];

/** The one colour of each state, as a CSS variable: in bars, legends, reasons and the grid alike. */
export const CELL_VARIABLES: Record<PromptState, string> = {
  completed: '--cell-good',
  partial: '--cell-warn',
  failed: '--cell-bad',
  discarded: '--cell-mute',
  cancelled: '--line-strong',
  running: '--accent',
  pending: '--bg-hover',
};

/** The same for styles. */
export function colorOf(state: PromptState): string {
  return `var(${CELL_VARIABLES[state]})`;
}
