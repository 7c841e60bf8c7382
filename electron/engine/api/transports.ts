import { RPCHandler as PortHandler } from '@orpc/server/message-port';
import { RPCHandler as SocketHandler } from '@orpc/server/ws';
import type { Engine } from '../engine.ts';

type Port = Parameters<PortHandler<Record<never, never>>['upgrade']>[0];
type Socket = Parameters<SocketHandler<Record<never, never>>['upgrade']>[0];

/** Answers the page at the other end of a message port (desktop). */
export function servePort(engine: Engine, port: Port & { start?(): void }): void {
  new PortHandler(engine.router).upgrade(port);
  port.start?.();
}

/** Answers the page at the other end of an authorised WebSocket (browser mode). */
export function serveWebSocket(engine: Engine, socket: Socket): void {
  void new SocketHandler(engine.router).upgrade(socket);
}
