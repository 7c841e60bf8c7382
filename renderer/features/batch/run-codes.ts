import { PROMPT_STATE_CODES, type PromptState, type RunEvent, type RunSummary, type ActiveRollout } from '#shared/contract/runs.ts';

/** The page's picture of one watched run. `codes` holds one state per prompt, by index. */
export interface RunView {
  run: RunSummary;
  codes: PromptState[];
  active: readonly ActiveRollout[];
  /** Grows with every change of `codes`, which is changed in place (100,000 rollouts, a few times a second). */
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
export function lacksReasoning(run: Pick<RunSummary, 'states' | 'causes'>): boolean {
  const without = run.causes.no_reasoning ?? 0;
  return without >= TELLING && without * 2 >= doneCount(run);
}

/** A rate as prompts per minute, without its unit: the same unit for every run, so that it can be compared. @param perSecond prompts per second */
export function perMinute(perSecond: number): number {
  const rate = perSecond * 60;
  return Number(rate.toFixed(rate >= 99.95 ? 0 : rate >= 1 ? 1 : 2));
}

/** What a resume would run again or for the first time. */
export function resumable(run: Pick<RunSummary, 'states'>): number {
  return run.states.pending + run.states.failed + run.states.cancelled;
}

/** Whether it stands because it has spent what it may. */
export function overBudget(run: Pick<RunSummary, 'state' | 'spec' | 'costUsd'>): boolean {
  return run.state === 'paused' && run.spec.budgetUsd !== undefined && run.costUsd >= run.spec.budgetUsd;
}

/** What a person can do with a run in its present state. */
export interface RunActions {
  pause: boolean;
  cancel: boolean;
  /** Goes on with what a stop left over. A run that came to its end has nothing of that: its failures are retried by name. */
  resume: boolean;
  /** Of failed or discarded rollouts. */
  retry: boolean;
  remove: boolean;
}

export function actionsOf(run: Pick<RunSummary, 'state' | 'states'>): RunActions {
  const live = run.state === 'running' || run.state === 'pausing';
  return {
    pause: run.state === 'running',
    cancel: live || (run.state === 'paused' && run.states.pending > 0),
    resume: !live && (run.state === 'completed' ? run.states.pending + run.states.cancelled : resumable(run)) > 0,
    retry: !live && run.states.failed + run.states.discarded > 0,
    remove: !live,
  };
}

/** A rollout for people: "#12", or "#12.3" where prompts have several. Both count from 0, as the files do. */
export function rolloutName(index: number, rollouts: number): string {
  return rollouts > 1 ? `#${Math.floor(index / rollouts)}.${index % rollouts}` : `#${index}`;
}

/** The last part of a path of either kind of system. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}
