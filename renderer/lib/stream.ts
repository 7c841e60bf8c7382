import { ORPCError } from '@orpc/client';
import type { StoreApi } from 'zustand/vanilla';
import type { ConnectionState } from './connection-state.ts';
import { EngineGoneError } from './client.ts';

export interface FollowOptions<T> {
  connection: StoreApi<ConnectionState>;
  /** Opens the stream; called again after each break, so a cursor read here is the newest one. */
  open: (signal: AbortSignal) => Promise<AsyncIterable<T>>;
  onEvent: (event: T) => void;
  signal: AbortSignal;
}

/**
 * Follows an engine stream across breaks of the line: when the line breaks it waits for the next one and opens the stream again.
 * Resolves when the stream ends by itself or `signal` aborts; rejects with the engine's own error (e.g. NOT_FOUND).
 */
export async function follow<T>({ connection, open, onEvent, signal }: FollowOptions<T>): Promise<void> {
  while (!signal.aborted) {
    const generation = connection.getState().generation;
    try {
      const events = await open(signal);
      for await (const event of events) {
        if (signal.aborted) return;
        onEvent(event);
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ORPCError) throw error;
      const { phase, generation: now } = connection.getState();
      // The line stands and is the same one: not a break, so a real fault.
      if (phase === 'up' && now === generation && !(error instanceof EngineGoneError)) throw error;
      await nextGeneration(connection, generation, signal);
    }
  }
}

/**
 * Follows a stream for as long as `signal` allows: also one that ended by itself or failed is opened again on the next line,
 * because an engine that shuts down in order ends its streams in order.
 * @param onError the engine's own error, once for each time
 */
export async function keepFollowing<T>(options: FollowOptions<T> & { onError: (error: unknown) => void }): Promise<void> {
  const { connection, signal, onError } = options;
  while (!signal.aborted) {
    try {
      await follow(options);
    } catch (error) {
      onError(error);
    }
    if (!signal.aborted) await nextGeneration(connection, connection.getState().generation, signal);
  }
}

function nextGeneration(connection: StoreApi<ConnectionState>, seen: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      unsubscribe();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const check = (state: ConnectionState): void => {
      if (state.phase === 'up' && state.generation > seen) done();
    };
    const unsubscribe = connection.subscribe(check);
    signal.addEventListener('abort', done);
    check(connection.getState());
  });
}
