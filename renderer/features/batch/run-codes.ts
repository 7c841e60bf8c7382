import { PROMPT_STATE_CODES, type PromptState, type RunEvent, type RunSummary, type ActiveRollout } from '#shared/contract/runs.ts';

/** The page's picture of one watched run. `codes` holds one state per prompt, by index. */
export interface RunView {
  run: RunSummary;
  codes: PromptState[];
  active: readonly ActiveRollout[];
  /** Grows with every change of `codes`, which is changed in place (10,000 prompts, twice a second). */
  version: number;
}

const STATE_OF_CODE = new Map<string, PromptState>(Object.entries(PROMPT_STATE_CODES).map(([state, code]) => [code, state as PromptState]));

/** Reads a snapshot's letters; an unknown letter counts as waiting. */
export function decodeStates(codes: string): PromptState[] {
  return Array.from(codes, (code) => STATE_OF_CODE.get(code) ?? 'pending');
}

/** The picture after an event; null in, and a progress before any snapshot, gives null. */
export function applyRunEvent(view: RunView | null, event: RunEvent): RunView | null {
  if (event.type === 'snapshot')
    return { run: event.run, codes: decodeStates(event.codes), active: event.active, version: (view?.version ?? 0) + 1 };
  if (!view) return null;
  for (const { index, state } of event.changed) view.codes[index] = state;
  return { run: event.run, codes: view.codes, active: event.active, version: view.version + (event.changed.length > 0 ? 1 : 0) };
}

/** Indexes of the prompts in one of these states, ascending; all of them when no state is given. */
export function indexesIn(codes: readonly PromptState[], states: readonly PromptState[]): number[] {
  const found: number[] = [];
  for (let i = 0; i < codes.length; i++) {
    const state = codes[i];
    if (state !== undefined && (states.length === 0 || states.includes(state))) found.push(i);
  }
  return found;
}

/** Prompts that have come to an end. */
export function doneCount(run: Pick<RunSummary, 'states'>): number {
  const s = run.states;
  return s.completed + s.partial + s.failed + s.discarded;
}

/** Prompts whose rows are in the files; without any there is no batch file. */
export function keptCount(run: Pick<RunSummary, 'states'>): number {
  return run.states.completed + run.states.partial;
}

/** Fewer discarded prompts than this say nothing about the model. */
const TELLING = 3;

/** Whether so many finished prompts were discarded for having no reasoning that the person should know: 3 or more, and at least half. */
export function lacksReasoning(run: Pick<RunSummary, 'states'>): boolean {
  return run.states.discarded >= TELLING && run.states.discarded * 2 >= doneCount(run);
}

/** A rate as prompts per minute, without its unit: the same unit for every run, so that it can be compared. @param perSecond prompts per second */
export function perMinute(perSecond: number): string {
  const rate = perSecond * 60;
  return String(Number(rate.toFixed(rate >= 99.95 ? 0 : rate >= 1 ? 1 : 2)));
}

/** What a resume would run again or for the first time. */
export function resumable(run: Pick<RunSummary, 'states'>): number {
  return run.states.pending + run.states.failed + run.states.cancelled;
}

/** What a person can do with a run in its present state. */
export interface RunActions {
  pause: boolean;
  cancel: boolean;
  resume: boolean;
  remove: boolean;
}

export function actionsOf(run: Pick<RunSummary, 'state' | 'states'>): RunActions {
  const live = run.state === 'running' || run.state === 'pausing';
  return {
    pause: run.state === 'running',
    cancel: live || (run.state === 'paused' && run.states.pending > 0),
    resume: !live && resumable(run) > 0,
    remove: !live,
  };
}

/**
 * How many cells of the prompt grid fit: the largest size from `max` down to `min` at which all prompts fit into the height.
 * @param count prompts @param width px @param maxHeight px @returns size of a cell with its gap, px, and columns
 */
export function gridShape(
  count: number,
  width: number,
  maxHeight: number,
  max = 19,
  min = 6,
): { size: number; columns: number; rows: number } {
  const fit = (size: number): { size: number; columns: number; rows: number } => {
    const columns = Math.max(1, Math.floor((width + gapOf(size)) / size));
    return { size, columns, rows: Math.ceil(count / columns) };
  };
  for (let size = max; size > min; size--) {
    const shape = fit(size);
    if (shape.rows * size <= maxHeight) return shape;
  }
  return fit(min);
}

/** Space between cells of the grid, px. */
export function gapOf(size: number): number {
  return size >= 12 ? 2 : 1;
}

/** The last part of a path of either kind of system. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}
