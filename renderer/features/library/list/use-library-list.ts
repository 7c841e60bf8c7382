import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Client } from '#shared/contract/index.ts';
import type { TrajectorySort } from '#shared/contract/trajectories.ts';
import type { TrajectorySummary } from '#shared/trajectory.ts';
import { useClient, useConnection, useStream } from '../../../lib/engine-context.tsx';
import { filterFromSearch, searchFromFilter, type LibraryFilter } from '../url.ts';
import { PageWindow } from './page-window.ts';

export type Counts = Awaited<ReturnType<Client['trajectories']['counts']>>;

export interface LibraryList {
  window: PageWindow<TrajectorySummary>;
  /** Rows of the list as it stands, without those that came later. */
  total: number;
  filter: LibraryFilter;
  sort: TrajectorySort;
}

export interface LibraryData {
  /** The list for the newest filter and order that has arrived; null before the first. */
  list: LibraryList | null;
  counts: Counts | null;
  /** The shown list is of an older filter or order, and the new one is on its way. */
  stale: boolean;
  /** Matching trajectories that came after the list was made. */
  fresh: number;
  error: unknown;
  /** Makes the list anew from the top. */
  reload: () => void;
}

/** Holds the list of trajectories for a filter and an order: first page and counts together, then follows what changes. */
export function useLibraryList(filter: LibraryFilter, sort: TrajectorySort): LibraryData {
  const client = useClient();
  const { generation } = useConnection();
  const search = searchFromFilter(filter);
  const key = `${sort}${search}`;
  const [epoch, setEpoch] = useState(0);
  const [state, setState] = useState<{ key: string; list: LibraryList | null; counts: Counts | null; error: unknown }>({ key, list: null, counts: null, error: null });
  const current = useRef(state);
  useEffect(() => {
    current.current = state;
  });
  const reload = useCallback(() => setEpoch((n) => n + 1), []);

  useEffect(() => {
    let wanted = true;
    const shownFilter = filterFromSearch(search);
    const byReward = sort !== 'newest' && { placeOf: ({ n, reward }: TrajectorySummary) => ({ n, reward }) };
    const window = new PageWindow<TrajectorySummary>((page) => client.trajectories.list({ filter: shownFilter, sort, ...page }), { ...byReward });
    void (async () => {
      try {
        const [, counts] = await Promise.all([window.load(0), client.trajectories.counts({ filter: shownFilter })]);
        if (!wanted) return;
        if (window.error !== null) setState((s) => ({ ...s, error: window.error }));
        else {
          // Without a filter, and with nothing ever removed, the numbers of the rows are their places.
          if (key === 'newest' && counts.total === window.get(0)?.n) window.assumeDense();
          setState({ key, list: { window, total: window.knownTotal ?? counts.matching, filter: shownFilter, sort }, counts, error: null });
        }
      } catch (error) {
        if (wanted) setState((s) => ({ ...s, error }));
      }
    })();
    return () => {
      wanted = false;
    };
  }, [client, key, search, sort, epoch]);

  const list = state.list;
  useEffect(() => () => list?.window.dispose(), [list?.window]);
  useSyncExternalStore(list?.window.subscribe ?? nothing, () => list?.window.version ?? 0);

  const update = useCallback(async () => {
    const { list: shown, key: shownKey } = current.current;
    if (!shown) return;
    const counts = await client.trajectories.counts({ filter: shown.filter });
    if (current.current.list !== shown || current.current.key !== shownKey) return;
    if (shown.total === 0 && counts.matching > 0) {
      reload();
      return;
    }
    setState((s) => (s.list === shown ? { ...s, counts, list: counts.matching < shown.total ? { ...shown, total: counts.matching } : shown } : s));
    await shown.window.refresh();
  }, [client, reload]);

  useEffect(() => {
    if (current.current.error !== null) reload();
    else {
      current.current.list?.window.retry();
      void update().catch(() => undefined);
    }
  }, [generation, reload, update]);

  const busy = useRef<'no' | 'yes' | 'again'>('no');
  useStream(
    (c, signal) => c.trajectories.changes(undefined, { signal }),
    () => {
      if (busy.current !== 'no') {
        busy.current = 'again';
        return;
      }
      busy.current = 'yes';
      void (async () => {
        do {
          busy.current = 'yes';
          await update().catch(() => undefined);
        } while ((busy.current as string) === 'again');
        busy.current = 'no';
      })();
    },
    [],
  );

  const total = list ? Math.min(list.total, list.window.knownTotal ?? list.total) : 0;
  const shown = list && total !== list.total ? { ...list, total } : list;
  return {
    list: shown,
    counts: state.counts,
    stale: state.key !== key,
    fresh: state.counts && shown && state.key === key ? Math.max(0, state.counts.matching - total) : 0,
    error: state.error ?? list?.window.error ?? null,
    reload,
  };
}

const nothing = (): (() => void) => () => undefined;
