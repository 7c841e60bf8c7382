import { createContext, use, useCallback, useEffect, useRef, useState, type DependencyList, type ReactNode } from 'react';
import { useStore } from 'zustand';
import type { Client } from '#shared/contract/index.ts';
import type { Engine } from './client.ts';
import type { ConnectionState } from './connection-state.ts';
import { keepFollowing } from './stream.ts';

const EngineContext = createContext<Engine | null>(null);

export function EngineProvider({ engine, children }: { engine: Engine; children: ReactNode }): ReactNode {
  return <EngineContext value={engine}>{children}</EngineContext>;
}

export function useEngine(): Engine {
  const engine = use(EngineContext);
  if (!engine) throw new Error('EngineProvider is missing.');
  return engine;
}

/** The typed client: `await client.runs.list()`. Stable for the life of the page. */
export function useClient(): Client {
  return useEngine().client;
}

export function useConnection(): ConnectionState {
  return useStore(useEngine().connection);
}

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  /** Asks again; the old data stay visible meanwhile. */
  reload: () => void;
  /** Puts in what a call just answered. */
  set: (data: T) => void;
}

/**
 * Reads something from the engine, again when `deps` change and after the engine came back. Data of other `deps` are never shown.
 * @param load the call; gets a signal that aborts when the answer is no longer wanted
 */
export function useLoad<T>(load: (client: Client, signal: AbortSignal) => Promise<T>, deps: DependencyList): Loaded<T> {
  const client = useClient();
  const { generation } = useConnection();
  const key = JSON.stringify(deps);
  const [state, setState] = useState<{ key: string; data: T | undefined; error: unknown; loading: boolean }>({
    key,
    data: undefined,
    error: null,
    loading: true,
  });
  const [tick, setTick] = useState(0);
  const newest = useRef(load);
  useEffect(() => {
    newest.current = load;
  });
  useEffect(() => {
    const abort = new AbortController();
    setState((s) => ({ key, data: s.key === key ? s.data : undefined, error: null, loading: true }));
    newest.current(client, abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ key, data, error: null, loading: false });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((s) => ({ ...s, error, loading: false }));
      },
    );
    return () => abort.abort();
    // A new line to the engine means the answer may have changed.
  }, [client, key, tick, generation]);
  const reload = useCallback(() => setTick((n) => n + 1), []);
  const set = useCallback((data: T) => setState({ key, data, error: null, loading: false }), [key]);
  const mine = state.key === key;
  return { data: mine ? state.data : undefined, error: mine ? state.error : null, loading: mine ? state.loading : true, reload, set };
}

/**
 * Follows an engine stream while the component is on screen and `deps` stay the same; opens it again after a break.
 * @param open opens the stream (may read a cursor from a ref) @param onEvent gets every event @param onError the engine's own error, once
 */
export function useStream<T>(
  open: (client: Client, signal: AbortSignal) => Promise<AsyncIterable<T>>,
  onEvent: (event: T) => void,
  deps: DependencyList,
  onError?: (error: unknown) => void,
): void {
  const engine = useEngine();
  const newest = useRef({ open, onEvent, onError });
  useEffect(() => {
    newest.current = { open, onEvent, onError };
  });
  const key = JSON.stringify(deps);
  useEffect(() => {
    const abort = new AbortController();
    void keepFollowing<T>({
      connection: engine.connection,
      open: (signal) => newest.current.open(engine.client, signal),
      onEvent: (event) => newest.current.onEvent(event),
      onError: (error) => newest.current.onError?.(error),
      signal: abort.signal,
    });
    return () => abort.abort();
  }, [engine, key]);
}
