import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient, useConnection } from '../../../lib/engine-context.tsx';
import { useChatChanges } from '../feed.tsx';
import { withChange, withPage, type SessionFilter, type SessionPages } from './sessions.ts';

const PAGE = 100;
const SEARCH_PAUSE_MS = 120;

export interface Sessions {
  pages: SessionPages | null;
  error: unknown;
  /** Asks for older ones; does nothing while it waits. */
  loadMore: () => void;
  reload: () => void;
}

/** The chats of the list, page by page and live. Old ones stay visible while a search is on its way. */
export function useSessions(filter: SessionFilter): Sessions {
  const client = useClient();
  const { generation } = useConnection();
  const { query, archived } = filter;
  const [state, setState] = useState<{ filter: SessionFilter; pages: SessionPages | null; error: unknown }>({ filter, pages: null, error: null });
  const [tick, setTick] = useState(0);
  const loading = useRef(false);
  const shown = useRef(state.filter);

  useEffect(() => {
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      const common = { archived, ...(query === '' ? {} : { query }) };
      const [pinned, page] = await Promise.all([
        client.chats.list({ ...common, pinned: true, limit: 200 }, { signal: abort.signal }),
        client.chats.list({ ...common, limit: PAGE }, { signal: abort.signal }),
      ]);
      if (abort.signal.aborted) return;
      shown.current = { query, archived };
      setState({ filter: shown.current, pages: withPage(withPage(null, { items: pinned.items, more: false }), page), error: null });
    };
    loading.current = false;
    const timer = setTimeout(() => void ask().catch((error: unknown) => !abort.signal.aborted && setState((s) => ({ ...s, error }))), query === '' ? 0 : SEARCH_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, query, archived, tick, generation]);

  useChatChanges((change) => setState((s) => (s.pages ? { ...s, pages: withChange(s.pages, change, s.filter) } : s)));

  const loadMore = useCallback(() => {
    const { pages, filter: of } = state;
    if (loading.current || !pages?.more || !pages.before) return;
    loading.current = true;
    client.chats.list({ archived: of.archived, ...(of.query === '' ? {} : { query: of.query }), before: pages.before, limit: PAGE }).then(
      (page) => {
        loading.current = false;
        setState((s) => (s.filter === of ? { ...s, pages: withPage(s.pages, page) } : s));
      },
      () => (loading.current = false),
    );
  }, [client, state]);

  return { pages: state.pages, error: state.error, loadMore, reload: useCallback(() => setTick((n) => n + 1), []) };
}
