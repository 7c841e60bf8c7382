import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';

/** Larger than any request: a piece of an upload is 1 MiB in base64. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** A page that has fallen this far behind is cut off; it connects again and refetches. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
const HEARTBEAT_MS = 30_000;
const CLOSE_GRACE_MS = 1_000;
const GOING_AWAY = 1001;

/** The open WebSockets of the server. */
export class Sockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false, clientTracking: true });
  readonly #alive = new WeakSet<WebSocket>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor() {
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  /** Completes a handshake that has been found to be allowed and hands the socket on. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, serve: (ws: WebSocket) => void): void {
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      this.#alive.add(ws);
      ws.on('pong', () => this.#alive.add(ws));
      // Oversized frames and broken protocols; the close event follows.
      ws.on('error', () => ws.terminate());
      sendAtPaceOfReceiver(ws);
      serve(ws);
    });
  }

  /** Says goodbye with a reason that the page shows, and cuts off who does not answer. */
  async close(reason: string): Promise<void> {
    clearInterval(this.#heartbeat);
    const all = [...this.#server.clients];
    const gone = all.map((ws) => new Promise<void>((resolve) => (ws.readyState === WebSocket.CLOSED ? resolve() : ws.once('close', () => resolve()))));
    for (const ws of all) ws.close(GOING_AWAY, reason);
    const cut = setTimeout(() => all.forEach((ws) => ws.terminate()), CLOSE_GRACE_MS);
    await Promise.all(gone);
    clearTimeout(cut);
    this.#server.close();
  }

  #beat(): void {
    for (const ws of this.#server.clients) {
      if (!this.#alive.delete(ws)) ws.terminate();
      else ws.ping();
    }
  }
}

/**
 * Makes `send` answer with a promise that is settled when the data has left for the network. The RPC peer awaits it, so a
 * stream to a slow page waits in its source and not in our memory.
 */
function sendAtPaceOfReceiver(ws: WebSocket): void {
  const send = ws.send.bind(ws) as (data: RawData | string, done: (error?: Error | null) => void) => void;
  const paced = (data: RawData | string): Promise<void> =>
    new Promise((resolve) => {
      if (ws.bufferedAmount > MAX_BUFFERED_BYTES) ws.terminate();
      // A socket that fails is followed by the close event, which ends the streams. They must let the event loop go on to it.
      if (ws.readyState !== WebSocket.OPEN) return void setImmediate(resolve);
      send(data, (error) => (error ? setImmediate(resolve) : resolve()));
    });
  Object.defineProperty(ws, 'send', { value: paced });
}
