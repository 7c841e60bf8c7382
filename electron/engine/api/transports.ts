import { RPCHandler as PortHandler } from '@orpc/server/message-port';
import { RPCHandler as SocketHandler } from '@orpc/server/ws';
import type { Engine } from '../engine.ts';
import { isRequestFrame } from './frames.ts';

type Port = Parameters<PortHandler<Record<never, never>>['upgrade']>[0];
type Socket = Parameters<SocketHandler<Record<never, never>>['upgrade']>[0];

/** Answers the page at the other end of a message port (desktop). */
export function servePort(engine: Engine, port: Port & { start?(): void }): void {
  new PortHandler(engine.router).upgrade(port);
  port.start?.();
}

/** Policy violation, RFC 6455 §7.4.1. */
const NOT_A_REQUEST = 1008;

/**
 * Answers the page at the other end of an authorised WebSocket (browser mode). What sends anything but requests is no page of ours: its
 * socket is closed, before the RPC library stumbles over it with a stack trace on the terminal.
 */
export function serveWebSocket(engine: Engine, socket: Socket & { close(code: number, reason: string): void }): void {
  const checked = {
    send: socket.send.bind(socket),
    addEventListener(type: string, listener: (event: { data?: unknown }) => void) {
      if (type !== 'message') return socket.addEventListener(type as never, listener as never);
      socket.addEventListener('message', (event) => {
        if (isRequestFrame(event.data)) listener(event);
        else socket.close(NOT_A_REQUEST, 'not a request');
      });
    },
  };
  void new SocketHandler(engine.router).upgrade(checked as unknown as Socket);
}
