import { createContext, use, useCallback, type ReactNode } from 'react';
import { useStore, type StoreApi } from 'zustand';
import type { Client } from '#shared/contract/index.ts';
import { isOpen, setOpen, type FoldStore } from './folds.ts';
import type { Run, Runs } from './runs.ts';

/** What every part of an open trajectory needs. */
export interface ViewContextValue {
  folds: FoldStore;
  /** The whole content of a message that came cut. */
  loadContent: (seq: number) => Promise<string>;
  /** The calls that are being worked on. */
  live: Pick<StoreApi<{ runs: Runs }>, 'getState' | 'getInitialState' | 'subscribe'>;
}

const ViewContext = createContext<ViewContextValue | null>(null);

export function ViewProvider({ value, children }: { value: ViewContextValue; children: ReactNode }): ReactNode {
  return <ViewContext value={value}>{children}</ViewContext>;
}

export function useView(): ViewContextValue {
  const value = use(ViewContext);
  if (!value) throw new Error('ViewProvider is missing.');
  return value;
}

/** Whether a part is unfolded, and how to turn it. It outlives the row, which disappears when it is scrolled away. */
export function useFold(part: string, usual: boolean): [boolean, () => void] {
  const { folds } = useView();
  const open = useStore(folds, (s) => isOpen(s, part, usual));
  const turn = useCallback(() => setOpen(folds, [part], !open), [folds, part, open]);
  return [open, turn];
}

/** What is known of a call while it has no result. */
export function useRun(callId: string, waiting: boolean): Run | null {
  const { live } = useView();
  return useStore(live, (s) => (waiting ? (s.runs.get(callId) ?? null) : null));
}

/** Large contents that were opened are kept, the last few of them. */
const KEPT_CONTENTS = 4;

export function contentLoader(client: Client, id: string): (seq: number) => Promise<string> {
  const kept = new Map<number, Promise<string>>();
  return (seq) => {
    const known = kept.get(seq);
    if (known) return known;
    const loading = client.trajectories.content({ id, seq }).then((answer) => answer.content);
    kept.set(seq, loading);
    loading.catch(() => kept.delete(seq));
    const oldest = kept.keys().next().value;
    if (kept.size > KEPT_CONTENTS && oldest !== undefined) kept.delete(oldest);
    return loading;
  };
}
