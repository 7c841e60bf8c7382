import type { MessagePortMain } from 'electron';
import { NotModelledError, StrictEmitter } from './strict.ts';

/** Where the messages of a port go that was handed to another process. */
export interface Elsewhere {
  message(data: unknown): void;
  close(): void;
}

/** One end of a channel. Queues until `start`, as Electron's does; after a hand-over it only passes messages on. */
export class SubstitutePort extends StrictEmitter {
  peer: SubstitutePort | undefined;
  private queue: unknown[] | undefined = [];
  private elsewhere: Elsewhere | undefined;
  private closed = false;

  constructor() {
    super('MessagePortMain', ['message', 'close']);
  }

  postMessage(data: unknown, transfer: readonly unknown[] = []): void {
    if (transfer.length > 0) throw new NotModelledError('a port sent through a port');
    if (!this.closed) this.peer?.receive(structuredClone(data));
  }

  start(): void {
    const waiting = this.queue ?? [];
    this.queue = undefined;
    for (const data of waiting) this.emit('message', { data, ports: [] });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.peer?.ended();
  }

  private receive(data: unknown): void {
    if (this.elsewhere !== undefined) this.elsewhere.message(data);
    else if (this.queue !== undefined) this.queue.push(data);
    else queueMicrotask(() => this.emit('message', { data, ports: [] }));
  }

  private ended(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.elsewhere !== undefined) this.elsewhere.close();
    else queueMicrotask(() => this.emit('close'));
  }

  /** Hands the port over: what was or will be sent to it goes to `elsewhere`. The caller feeds what comes back into `postMessage`. */
  handOver(elsewhere: Elsewhere): void {
    if (this.elsewhere !== undefined) throw new Error('A port can be handed over only once');
    this.elsewhere = elsewhere;
    for (const data of this.queue ?? []) elsewhere.message(data);
    this.queue = undefined;
  }
}

export class SubstituteMessageChannel {
  readonly port1 = new SubstitutePort();
  readonly port2 = new SubstitutePort();

  constructor() {
    this.port1.peer = this.port2;
    this.port2.peer = this.port1;
  }
}

/** Ports that live in another process, by the number under which both sides know them. */
export class PortTable {
  private readonly ports = new Map<number, SubstitutePort>();

  private static lastId = 0;

  /** @param make given the port's number, says where its messages go now */
  handOver(ports: readonly MessagePortMain[], make: (id: number) => Elsewhere): number[] {
    return ports.map((port) => {
      if (!(port instanceof SubstitutePort)) throw new TypeError('Only a MessagePortMain can be handed over');
      PortTable.lastId += 1;
      const id = PortTable.lastId;
      this.ports.set(id, port);
      const elsewhere = make(id);
      port.handOver({
        message: (data) => elsewhere.message(data),
        close: () => {
          this.ports.delete(id);
          elsewhere.close();
        },
      });
      return id;
    });
  }

  message(id: number, data: unknown): void {
    this.ports.get(id)?.postMessage(data);
  }

  closed(id: number): void {
    const port = this.ports.get(id);
    this.ports.delete(id);
    port?.close();
  }

  /** The process that held them is gone. */
  closeAll(): void {
    for (const id of [...this.ports.keys()]) this.closed(id);
  }
}
