import { createContext, use, useEffect, useRef, type ReactNode } from 'react';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { useStream } from '../../lib/engine-context.tsx';

export interface ChatChange {
  changed: SessionSummary[];
  removed: string[];
}

type Listener = (change: ChatChange) => void;

const FeedContext = createContext<Set<Listener> | null>(null);

/** Follows all chats once for the whole page: lists and notifications read from it. */
export function ChatFeed({ children }: { children: ReactNode }): ReactNode {
  const listeners = useRef(new Set<Listener>());
  useStream(
    (client, signal) => client.chats.changes(undefined, { signal }),
    (change) => listeners.current.forEach((listener) => listener(change)),
    [],
  );
  return <FeedContext value={listeners.current}>{children}</FeedContext>;
}

/** Hears of chats as they change. */
export function useChatChanges(onChange: Listener): void {
  const listeners = use(FeedContext);
  const newest = useRef(onChange);
  useEffect(() => {
    newest.current = onChange;
  });
  useEffect(() => {
    const listener: Listener = (change) => newest.current(change);
    listeners?.add(listener);
    return () => void listeners?.delete(listener);
  }, [listeners]);
}
