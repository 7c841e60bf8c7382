import { createORPCClient, ORPCError, type ClientOptions } from '@orpc/client';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Client } from '#shared/contract/index.ts';
import { INITIAL_CONNECTION, nextConnection, type ConnectionEvent, type ConnectionState } from './connection-state.ts';
import type { EngineLink, Transport, TransportEvents } from './transports.ts';

/** How long a call made while the engine is away waits for it, ms. */
export const CALL_PATIENCE_MS = 20_000;

/** The engine is away: `offline` = never sent; `lost` = sent, and the line broke before the answer. */
export class EngineGoneError extends Error {
  readonly code: 'offline' | 'lost';
  constructor(code: 'offline' | 'lost') {
    super(code === 'offline' ? 'The engine is not running.' : 'The line to the engine broke before it answered.');
    this.name = 'EngineGoneError';
    this.code = code;
  }
}

export interface Engine {
  client: Client;
  connection: StoreApi<ConnectionState>;
  /** Tries again now (the banner's button). */
  retry(): void;
  dispose(): void;
}

/** Calls that only read: asked again without a word when the line broke under them. */
const READS = new Set([
  'app.info',
  'settings.get',
  'settings.models',
  'settings.testProvider',
  'datasets.inspect',
  'runs.list',
  'runs.get',
  'runs.prompts',
  'runs.options',
  'trajectories.list',
  'trajectories.counts',
  'trajectories.get',
  'trajectories.messages',
  'trajectories.content',
  'trajectories.raw',
  'exports.preview',
  'exports.folder',
  'skills.list',
  'skills.get',
  'skills.file',
  'skills.lint',
  'skills.trash',
  'skills.versions',
  'skills.diff',
  'skills.usage',
  'skillTexts.find',
  'skillImports.sources',
  'trials.list',
  'memory.get',
  'memory.history',
  'memory.settings',
  'reviews.list',
  'reviews.get',
  'reviews.settings',
  'delegations.get',
  'chats.list',
  'chats.get',
  'chats.picture',
  'chats.checkpoints',
  'chats.checkpointDiff',
  'tools.list',
  'tools.allowed',
  'tools.settings',
  'spend.summary',
  'spend.prices',
]);

/**
 * The one typed client of the page, over a line that may break and come back.
 * Calls made while it is down wait up to CALL_PATIENCE_MS, then fail with `EngineGoneError`; reads are repeated after a break.
 * Streams end with an error when the line breaks: see `follow` in stream.ts.
 */
export function createEngine(makeTransport: (events: TransportEvents) => Transport, patienceMs = CALL_PATIENCE_MS): Engine {
  const connection = createStore<ConnectionState>(() => INITIAL_CONNECTION);
  let link: EngineLink | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function apply(event: ConnectionEvent): void {
    clearTimeout(timer);
    const now = Date.now();
    const state = nextConnection(connection.getState(), event, now);
    connection.setState(state, true);
    if (state.retryAt !== null) {
      timer = setTimeout(retry, Math.max(0, state.retryAt - now));
    }
  }

  const transport = makeTransport({
    opened(opened) {
      link = opened;
      apply({ type: 'opened' });
    },
    closed(message) {
      link = null;
      apply({ type: 'closed', message });
    },
    gaveUp(message) {
      link = null;
      apply({ type: 'gave-up', message });
    },
  });

  function retry(): void {
    if (connection.getState().phase === 'up') return;
    apply({ type: 'retry' });
    transport.connect();
    // An unanswered attempt must not be the last one.
    const attempt = connection.getState();
    timer = setTimeout(() => {
      if (connection.getState() === attempt) apply({ type: 'closed', message: null });
    }, 12_000);
  }

  const reconnecting: EngineLink = {
    async call(path, input, options: ClientOptions<Record<never, never>>) {
      for (;;) {
        const line = link ?? (await whenUp(connection, () => link, patienceMs, options.signal));
        try {
          return await line.call(path, input, options);
        } catch (error) {
          if (error instanceof ORPCError || options.signal?.aborted || line === link) throw error;
          if (!READS.has(path.join('.'))) throw new EngineGoneError('lost');
        }
      }
    },
  };

  retry();
  return {
    client: createORPCClient<Client>(reconnecting),
    connection,
    retry,
    dispose() {
      clearTimeout(timer);
      transport.dispose();
    },
  };
}

function whenUp(
  connection: StoreApi<ConnectionState>,
  current: () => EngineLink | null,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<EngineLink> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      unsubscribe();
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const onAbort = (): void => settle(() => reject(new DOMException('Aborted', 'AbortError')));
    const timer = setTimeout(() => settle(() => reject(new EngineGoneError('offline'))), patienceMs);
    const check = (state: ConnectionState): void => {
      const line = current();
      if (line) settle(() => resolve(line));
      else if (state.phase === 'gave-up') settle(() => reject(new EngineGoneError('offline')));
    };
    const unsubscribe = connection.subscribe(check);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    else check(connection.getState());
  });
}
