import { SHELL_CONNECT, SHELL_ENGINE, SHELL_PORT } from '#shared/shell.ts';
import type { ClientLink } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';

type NoContext = Record<never, never>;
export type EngineLink = ClientLink<NoContext>;

export interface TransportEvents {
  opened(link: EngineLink): void;
  closed(message: string | null): void;
  gaveUp(message: string | null): void;
}

/** One way to reach the engine. `connect` starts an attempt (dropping the previous line); `dispose` ends everything. */
export interface Transport {
  connect(): void;
  dispose(): void;
}

/** Which host put this page up, by its `<meta name="talaria-host">`. */
export function hostKind(doc: Document): 'desktop' | 'browser' {
  return doc.querySelector('meta[name="talaria-host"]')?.getAttribute('content') === 'desktop' ? 'desktop' : 'browser';
}

/** A port that can be told it is closed: the host knows of a dead engine before the port does. */
class ClosablePort extends EventTarget {
  private readonly port: MessagePort;

  constructor(port: MessagePort) {
    super();
    this.port = port;
    port.addEventListener('message', (event) => this.dispatchEvent(new MessageEvent('message', { data: event.data })));
    port.addEventListener('close', () => this.dispatchEvent(new Event('close')));
  }

  postMessage(data: unknown): void {
    this.port.postMessage(data);
  }

  start(): void {
    this.port.start();
  }

  end(): void {
    this.port.close();
    this.dispatchEvent(new Event('close'));
  }
}

interface HostMessage {
  type?: unknown;
  state?: unknown;
  message?: unknown;
}

/** Desktop: the preload hands over a MessagePort after `talaria:connect`, and tells of the engine's death and return. */
export function desktopTransport(page: Window, events: TransportEvents): Transport {
  let current: ClosablePort | null = null;

  function drop(): void {
    const old = current;
    current = null;
    old?.end();
  }

  function onMessage(event: MessageEvent<HostMessage | null>): void {
    if (event.source !== page || typeof event.data !== 'object' || event.data === null) return;
    const { type, state } = event.data;
    const message = typeof event.data.message === 'string' ? event.data.message : null;
    if (type === SHELL_PORT && event.ports[0]) {
      drop();
      const port = new ClosablePort(event.ports[0]);
      current = port;
      port.addEventListener('close', () => {
        if (current !== port) return;
        current = null;
        events.closed(null);
      });
      const link: EngineLink = new PortLink<NoContext>({ port: port as unknown as MessagePort });
      port.start();
      events.opened(link);
    } else if (type === SHELL_ENGINE && state === 'down') {
      const had = current !== null;
      drop();
      if (had) events.closed(message);
    } else if (type === SHELL_ENGINE && state === 'gave-up') {
      drop();
      events.gaveUp(message);
    } else if (type === SHELL_ENGINE && state === 'up' && current === null) {
      connect();
    }
  }

  function connect(): void {
    page.postMessage({ type: SHELL_CONNECT }, page.location.origin);
  }

  page.addEventListener('message', onMessage);
  return {
    connect,
    dispose() {
      page.removeEventListener('message', onMessage);
      drop();
    },
  };
}

/** How long an attempt may stay unanswered, ms. */
const OPEN_TIMEOUT_MS = 10_000;

/** Browser mode: a WebSocket to `/rpc` of the same origin; the cookie set by the start page lets it in. */
export function browserTransport(page: Window, events: TransportEvents): Transport {
  let current: WebSocket | null = null;

  /** A refused handshake looks like a dead server to a WebSocket; a plain request can tell them apart. */
  async function reasonOfFailure(): Promise<'refused' | 'unreachable'> {
    try {
      const answer = await page.fetch(page.location.pathname, { method: 'HEAD', cache: 'no-store' });
      return answer.status === 401 || answer.status === 403 ? 'refused' : 'unreachable';
    } catch {
      return 'unreachable';
    }
  }

  function connect(): void {
    const old = current;
    current = null;
    old?.close();
    const url = new URL('/rpc', page.location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    current = socket;
    let opened = false;
    const timer = setTimeout(() => socket.close(), OPEN_TIMEOUT_MS);
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      if (current !== socket) return;
      opened = true;
      events.opened(new SocketLink<NoContext>({ websocket: socket }));
    });
    socket.addEventListener('close', (event) => {
      clearTimeout(timer);
      if (current !== socket) return;
      current = null;
      if (opened) events.closed(event.reason || null);
      else {
        void reasonOfFailure().then((reason) => {
          if (current !== null) return;
          if (reason === 'refused') events.gaveUp('refused');
          else events.closed(null);
        });
      }
    });
  }

  return {
    connect,
    dispose() {
      const old = current;
      current = null;
      old?.close();
    },
  };
}
