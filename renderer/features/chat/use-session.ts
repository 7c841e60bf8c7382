import { ORPCError } from '@orpc/client';
import { useCallback, useState, useSyncExternalStore } from 'react';
import type { SessionState } from '#shared/contract/chats.ts';
import { useStream } from '../../lib/engine-context.tsx';

function onVisibility(change: () => void): () => void {
  document.addEventListener('visibilitychange', change);
  return () => document.removeEventListener('visibilitychange', change);
}

/** Whether the page can be seen at all. */
export function usePageVisible(): boolean {
  return useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible');
}

export interface OpenSession {
  state: SessionState | null;
  /** It is not there (any more). */
  gone: boolean;
  error: unknown;
  set: (state: SessionState) => void;
}

/** The state of one chat, live. Only while the page is seen: watching tells the engine that the person knows. */
export function useSession(id: string): OpenSession {
  const [state, setState] = useState<SessionState | null>(null);
  const [error, setError] = useState<unknown>(null);
  const visible = usePageVisible();
  useStream(
    async (client, signal) => (visible ? client.chats.watch({ id }, { signal }) : nothing()),
    (next) => {
      setState(next);
      setError(null);
    },
    [id, visible],
    setError,
  );
  const mine = state?.session.id === id ? state : null;
  const set = useCallback((next: SessionState) => setState((now) => (now === null || now.session.id === next.session.id ? next : now)), []);
  return { state: mine, gone: error instanceof ORPCError && error.code === 'NOT_FOUND', error, set };
}

async function* nothing(): AsyncGenerator<never> {}
