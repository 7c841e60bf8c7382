import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { TrajectoryDetail, TrajectoryKind } from '#shared/trajectory.ts';
import { outcomeOf } from '#shared/trajectory.ts';

/** Why something was left out or what is to be said of it; `id`: a trajectory to look at. */
export interface Remark {
  reason: string;
  id: string;
  /** Of how many trajectories it is said; 1 when absent. */
  count?: number;
}

/** What became of the trajectories (one, or those of a group) that a format looked at in one step. */
export interface ExportStep {
  /** Trajectories looked at; over all steps as many as are selected. */
  seen: number;
  /** Trajectories in the line. */
  written: number;
  /** The line without its newline; null when nothing of the step is fit. */
  line: string | null;
  /** Every trajectory that is not in the line. */
  leftOut: Remark[];
  warnings: Remark[];
  /** Only of formats that write groups: null when it was written. */
  group?: { leftOut: Remark | null; size: number };
  /** Only of lines with tokens: of how many rollouts they were made, how many they are, and how many of them are trained on. */
  tokens?: { rollouts: number; total: number; trained: number };
}

/**
 * A format of exports: walks what a request selects, in its own order and holding no more than one line's worth. The job counts, writes
 * and cancels; a format neither knows of files nor of progress.
 */
export interface ExportFormat {
  steps(): Iterable<ExportStep>;
  /** Remarks on the whole file, known only after the last step. */
  atEnd?(): Remark[];
  /** Files that belong beside the export: name and text. */
  companions?: readonly { name: string; text: string }[];
  /** Which tokenizer and masks the lines have. */
  tokenized?: { algorithm: 'prefix' | 'generation'; template: string };
}

/** Kinds that hold other conversations, or repeat one on purpose: written only when they are asked for by kind or by name. */
const ONLY_WHEN_ASKED: readonly TrajectoryKind[] = ['review', 'trial'];

/** Why a trajectory cannot be training data whatever its messages say; null when it may be. */
export function refused(detail: TrajectoryDetail, options: { includePartial: boolean; includeScripted: boolean; filter?: Pick<TrajectoryFilter, 'kinds' | 'ids'> }): string | null {
  if (ONLY_WHEN_ASKED.includes(detail.kind) && !options.filter?.kinds?.includes(detail.kind) && options.filter?.ids === undefined) return `of a kind that is written only when it is chosen: ${detail.kind}`;
  const outcome = outcomeOf(detail);
  if (outcome === 'running') return 'still running';
  if (outcome === 'discarded') return `discarded: ${detail.discardReason}`;
  if (detail.scripted && !options.includeScripted) return 'made by the scripted demo model';
  if (outcome === 'failed') return 'failed';
  if (outcome === 'partial' && !options.includePartial) return `partial: ${detail.exitReason}`;
  return null;
}
