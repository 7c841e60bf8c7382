import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import type { LibraryList } from './use-library-list.ts';
import type { ListHandle } from './TrajectoryList.tsx';
import { EVERYTHING, NOTHING, isSelected, setAll, toggle, type Selection } from './selection.ts';

/** The longest range that is chosen row by row; longer ones would be read row by row from the engine. */
const RANGE_MAX = 5_000;

export interface Cursor {
  selection: Selection;
  open: (index: number) => void;
  /** Moves by rows, from the open one or from the first on screen. */
  move: (rows: number) => void;
  movePage: (pages: number) => void;
  moveTo: (end: 'first' | 'last') => void;
  toggleAt: (index: number) => void;
  toggleHere: () => void;
  /** Chooses everything from the last chosen or opened row to this one. */
  rangeTo: (index: number) => void;
  rangeBy: (rows: number) => void;
  selectAll: () => void;
  clear: () => void;
}

/** Where one is in the list and what is chosen; rows that are not here yet are fetched before they are opened or chosen. */
export function useCursor(list: LibraryList | null, openId: string | null, onOpen: (id: string) => void, handle: RefObject<ListHandle | null>): Cursor {
  const [chosen, setChosen] = useState<{ list: unknown; selection: Selection }>({ list: null, selection: NOTHING });
  const at = useRef<number | null>(null);
  const anchor = useRef<number | null>(null);
  // A choice is about one filter: with another list of rows it is void, unless only newer rows came in.
  const key = list ? JSON.stringify(list.filter) : null;
  const selection = chosen.list === key ? chosen.selection : NOTHING;
  const choose = useCallback((change: (selection: Selection) => Selection) => setChosen((c) => ({ list: key, selection: change(c.list === key ? c.selection : NOTHING) })), [key]);

  // Places in another list of rows mean nothing.
  const order = list ? `${list.sort}${key}` : null;
  useEffect(() => {
    at.current = null;
    anchor.current = null;
  }, [order]);

  // Held keys run ahead of the engine: this is where they are, until that row is open.
  const pending = useRef<number | null>(null);
  useEffect(() => {
    pending.current = null;
  }, [openId]);

  const here = useCallback((): number | null => {
    if (pending.current !== null) return pending.current;
    if (!list || openId === null) return null;
    const held = list.window.find((row) => row.id === openId);
    return held >= 0 ? held : at.current;
  }, [list, openId]);

  const open = useCallback((index: number) => {
    if (!list || index < 0 || index >= list.total) return;
    at.current = index;
    pending.current = index;
    anchor.current = index;
    handle.current?.reveal(index);
    void list.window.load(index).then((row) => {
      if (row && pending.current === index) onOpen(row.id);
    });
  }, [list, onOpen, handle]);

  const from = useCallback((rows: number): number => {
    const base = here();
    if (base === null) return (rows > 0 ? handle.current?.visible().first : handle.current?.visible().last) ?? 0;
    return Math.min(Math.max(0, base + rows), Math.max(0, (list?.total ?? 1) - 1));
  }, [here, handle, list]);

  const rangeTo = useCallback((index: number) => {
    if (!list || index < 0 || index >= list.total) return;
    const start = anchor.current ?? here() ?? index;
    anchor.current = start;
    const [low, high] = start < index ? [start, index] : [index, start];
    void (async () => {
      const ids: string[] = [];
      for (let i = low; i <= Math.min(high, low + RANGE_MAX); i++) {
        const row = list.window.get(i) ?? (await list.window.load(i));
        if (row) ids.push(row.id);
      }
      choose((s) => setAll(s, ids, true));
    })();
  }, [list, here, choose]);

  const toggleAt = useCallback((index: number) => {
    anchor.current = index;
    const row = list?.window.get(index);
    if (row) choose((s) => toggle(s, row.id));
  }, [list, choose]);

  return {
    selection,
    open,
    move: (rows) => open(from(rows)),
    movePage: (pages) => {
      const shown = handle.current?.visible();
      open(from(pages * Math.max(1, (shown ? shown.last - shown.first : 10) - 1)));
    },
    moveTo: (end) => open(end === 'first' ? 0 : (list?.total ?? 1) - 1),
    toggleAt,
    toggleHere: () => {
      const index = here();
      if (index !== null) toggleAt(index);
    },
    rangeTo,
    rangeBy: (rows) => {
      const index = here();
      if (index === null) return;
      const next = Math.min(Math.max(0, index + rows), (list?.total ?? 1) - 1);
      const start = anchor.current ?? index;
      rangeTo(next);
      const low = list?.window.get(index);
      // Going back towards the start takes rows off again.
      if (low && Math.abs(next - start) < Math.abs(index - start) && isSelected(selection, low.id)) choose((s) => setAll(s, [low.id], false));
      open(next);
      anchor.current = start;
    },
    selectAll: () => choose(() => EVERYTHING),
    clear: () => choose(() => NOTHING),
  };
}
