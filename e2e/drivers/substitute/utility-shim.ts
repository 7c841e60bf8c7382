/** Loaded before the entry of a utility process: gives a plain Node the `process.parentPort` that Electron's has. */
import { EventEmitter } from 'node:events';
import { registerHooks } from 'node:module';
import type { FromUtility, ToUtility } from './utility-process.ts';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'electron' || specifier.startsWith('electron/')) throw new Error('The engine must not import electron');
    return next(specifier, context);
  },
});

// Main's end is this process's end, as in Electron.
process.on('disconnect', () => process.exit(0));

const send = (message: FromUtility): void => void (process.connected && process.send?.(message));
const ports = new Map<number, Port>();

class Port extends EventEmitter {
  private queue: unknown[] | undefined = [];
  private readonly id: number;

  constructor(id: number) {
    super();
    this.id = id;
    ports.set(id, this);
  }

  postMessage(data: unknown): void {
    if (ports.has(this.id)) send({ kind: 'port', id: this.id, data: structuredClone(data) });
  }

  start(): void {
    const waiting = this.queue ?? [];
    this.queue = undefined;
    for (const data of waiting) this.emit('message', { data, ports: [] });
  }

  close(): void {
    if (ports.delete(this.id)) send({ kind: 'port-close', id: this.id });
  }

  receive(data: unknown): void {
    if (this.queue !== undefined) this.queue.push(data);
    else this.emit('message', { data, ports: [] });
  }

  ended(): void {
    if (ports.delete(this.id)) this.emit('close');
  }
}

class ParentPort extends EventEmitter {
  private queue: unknown[] | undefined = [];

  constructor() {
    super();
    // Electron queues until somebody listens.
    this.on('newListener', (event) => {
      if (event !== 'message' || this.queue === undefined) return;
      const waiting = this.queue;
      this.queue = undefined;
      queueMicrotask(() => waiting.forEach((message) => this.emit('message', message)));
    });
  }

  postMessage(data: unknown): void {
    send({ kind: 'message', data: structuredClone(data) });
  }

  receive(message: { data: unknown; ports: Port[] }): void {
    if (this.queue !== undefined) this.queue.push(message);
    else this.emit('message', message);
  }
}

const parentPort = new ParentPort();
Object.defineProperty(process, 'parentPort', { value: parentPort });
Object.defineProperty(process, 'type', { value: 'utility' });

process.on('message', (raw) => {
  const message = raw as ToUtility;
  if (message.kind === 'message') parentPort.receive({ data: message.data, ports: message.ports.map((id) => new Port(id)) });
  else if (message.kind === 'port') ports.get(message.id)?.receive(message.data);
  else ports.get(message.id)?.ended();
});
