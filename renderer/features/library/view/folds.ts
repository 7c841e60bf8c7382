import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Turn } from './turns.ts';

/** What is unfolded: single parts as a person left them, else all or nothing, else what each part does by itself. */
export interface Folds {
  all: boolean | null;
  parts: ReadonlyMap<string, boolean>;
}

export type FoldStore = StoreApi<Folds>;

export const createFolds = (all: boolean | null): FoldStore => createStore<Folds>(() => ({ all, parts: new Map() }));

/** @param usual how the part stands when nobody said anything */
export function isOpen(folds: Folds, part: string, usual: boolean): boolean {
  return folds.parts.get(part) ?? folds.all ?? usual;
}

export function setOpen(store: FoldStore, parts: Iterable<string>, open: boolean): void {
  store.setState((s) => {
    const next = new Map(s.parts);
    for (const part of parts) next.set(part, open);
    return { parts: next };
  });
}

/** Names of the parts; a turn is known by its seq. */
export const part = {
  system: (seq: number) => `${seq}:system`,
  tools: (seq: number) => `${seq}:tools`,
  reasoning: (seq: number) => `${seq}:reasoning`,
  call: (seq: number, index: number) => `${seq}:call:${index}`,
  args: (seq: number, index: number) => `${seq}:args:${index}`,
  whole: (seq: number) => `${seq}:whole`,
};

/** The parts of a turn that fold, with how they usually stand. */
export function foldable(turn: Turn): { part: string; usual: boolean }[] {
  const seq = turn.key;
  if (turn.kind === 'system') return [{ part: part.system(seq), usual: false }];
  if (turn.kind !== 'assistant') return [];
  const parts = turn.message.reasoning ? [{ part: part.reasoning(seq), usual: false }] : [];
  turn.calls.forEach((_, i) => parts.push({ part: part.call(seq, i), usual: true }, { part: part.args(seq, i), usual: false }));
  return parts;
}

/** Unfolds a turn whole, or folds it when it already is. */
export function toggleTurn(store: FoldStore, turn: Turn): void {
  const parts = foldable(turn);
  const open = parts.every((p) => isOpen(store.getState(), p.part, p.usual));
  setOpen(store, parts.map((p) => p.part), !open);
}
