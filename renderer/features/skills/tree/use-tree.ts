import { useCallback, useMemo, useState } from 'react';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { readRemembered, remember } from '../../../lib/remembered.ts';
import { matching, stepFrom, treeRows, type TreeRow } from './rows.ts';
import type { TreeHandle } from './SkillTree.tsx';

const CLOSED_KEY = 'skills.closed';
const PAGE_ROWS = 12;
const NONE: readonly SkillSummary[] = [];

function closedOnes(): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(readRemembered(CLOSED_KEY) ?? '[]');
    return new Set(Array.isArray(kept) ? kept.filter((key) => typeof key === 'string') : []);
  } catch {
    return new Set();
  }
}

export interface Tree {
  rows: readonly TreeRow[] | null;
  /** Key of the line that keys act on. */
  cursor: string | null;
  found: readonly SkillSummary[];
  press: (row: TreeRow) => void;
  step: (by: 1 | -1) => void;
  page: (by: 1 | -1) => void;
  end: (which: 'first' | 'last') => void;
  /** Folds, or goes to the group of a skill. */
  left: () => void;
  /** Unfolds; true when there is nothing to unfold: then one goes into the skill. */
  right: () => boolean;
}

/** The lines to show, and moving in them. @param open goes to a skill @param handle of the list on screen */
export function useTree(items: readonly SkillSummary[] | undefined, query: string, inText: ReadonlySet<string>, openId: string | null, open: (id: string) => void, handle: { current: TreeHandle | null }): Tree {
  const [closed, setClosed] = useState(closedOnes);
  const [at, setAt] = useState<{ key: string; openId: string | null } | null>(null);
  const searching = query.trim() !== '';
  const found = useMemo(() => (items ? matching(items, query, inText) : undefined), [items, query, inText]);
  const rows = useMemo(() => (found ? treeRows(found, closed, searching) : null), [found, closed, searching]);
  // A place in the tree is good until another skill is opened, from wherever.
  const cursor = at !== null && at.openId === openId ? at.key : openId;

  const fold = useCallback((key: string, shut: boolean) => {
    setClosed((now) => {
      const next = new Set(now);
      if (shut) next.add(key);
      else next.delete(key);
      remember(CLOSED_KEY, JSON.stringify([...next]));
      return next;
    });
  }, []);
  const go = (row: TreeRow | null | undefined): void => {
    if (!row) return;
    if (row.kind === 'skill') {
      setAt({ key: row.key, openId: row.key });
      open(row.key);
    } else setAt({ key: row.key, openId });
    handle.current?.reveal(row.key);
  };
  const here = (): TreeRow | undefined => rows?.find((row) => row.key === cursor);
  return {
    rows,
    cursor,
    found: found ?? NONE,
    press: (row) => {
      go(row);
      if (row.kind !== 'skill' && !searching) fold(row.key, row.open);
    },
    step: (by) => rows && go(stepFrom(rows, cursor, by)),
    page: (by) => {
      if (!rows) return;
      let row: TreeRow | null = here() ?? null;
      for (let i = 0; i < PAGE_ROWS; i += 1) row = stepFrom(rows, row?.key ?? null, by) ?? row;
      go(row);
    },
    end: (which) => rows && go(which === 'first' ? rows.find((row) => row.kind === 'skill') : rows.findLast((row) => row.kind === 'skill')),
    left: () => {
      const row = here();
      if (row && row.kind !== 'skill' && row.open && !searching) fold(row.key, true);
      else if (row && row.parent !== null) go(rows?.find((other) => other.key === row.parent));
    },
    right: () => {
      const row = here();
      if (!row || row.kind === 'skill') return true;
      if (!row.open) fold(row.key, false);
      return false;
    },
  };
}
