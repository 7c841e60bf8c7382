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

/** CSS colours of the bar's parts and of the grid's cells. */
export const BAR_COLORS: Record<PromptState, string> = {
  completed: 'var(--good)',
  partial: 'var(--warn)',
  failed: 'var(--bad)',
  discarded: 'var(--fg-3)',
  cancelled: 'var(--line-strong)',
  running: 'var(--accent)',
  pending: 'transparent',
};
export const CELL_VARIABLES: Record<PromptState, string> = {
  completed: '--cell-good',
  partial: '--cell-warn',
  failed: '--cell-bad',
  discarded: '--cell-mute',
  cancelled: '--line-strong',
  running: '--accent',
  pending: '--bg-hover',
};
