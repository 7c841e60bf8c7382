import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Wire } from './steps.ts';

/** One response being written. Once the client has gone, every wait ends at once and every write is dropped. */
export class Connection {
  readonly response: ServerResponse;
  closed: boolean;
  private wakers: (() => void)[] = [];
  private text = '';
  private rest: Buffer = Buffer.alloc(0);
  private readonly wire: Wire;

  constructor(response: ServerResponse, wire: Wire = {}) {
    this.response = response;
    this.wire = wire;
    this.closed = response.destroyed;
    response.once('close', () => {
      this.closed = true;
      const wakers = this.wakers;
      this.wakers = [];
      for (const wake of wakers) wake();
    });
  }

  /** Waits so many milliseconds, or until the connection is closed. */
  async pause(ms: number): Promise<void> {
    if (this.closed || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wakers = [
        () => {
          clearTimeout(timer);
          resolve();
        },
      ];
    });
    this.wakers = [];
  }

  /** Waits until that moment of `performance.now()`, neither shorter nor, as timers do, up to a millisecond longer. */
  async pauseUntil(moment: number): Promise<void> {
    await this.pause(Math.floor(moment - performance.now()));
    while (!this.closed && performance.now() < moment) await setImmediate();
  }

  /** Waits for a promise, or until the connection is closed. */
  async until(promise: Promise<void>): Promise<void> {
    if (this.closed) return;
    const left = new Promise<void>((resolve) => this.wakers.push(resolve));
    await Promise.race([promise, left]);
  }

  /** Waits until somebody closes the connection. */
  async untilClosed(): Promise<void> {
    if (this.closed) return;
    await new Promise<void>((resolve) => this.wakers.push(resolve));
  }

  /** @param alone goes out now, and not with what follows. */
  head(status: number, headers: Record<string, string>, alone = true): void {
    if (this.closed) return;
    this.response.writeHead(status, headers);
    if (alone) this.response.flushHeaders();
  }

  /** Collects text; nothing goes out before `flush` or `end`. */
  add(text: string): void {
    this.text += text;
  }

  /** Sends what was added, in slices when the wire says so. `all` also sends what fills no whole slice. */
  async flush(all: boolean): Promise<void> {
    const { sliceBytes, sliceDelayMs = 0 } = this.wire;
    const text = this.text;
    this.text = '';
    if (!sliceBytes) {
      if (text && !this.closed) await this.write(text);
      return;
    }
    const bytes = Buffer.concat([this.rest, Buffer.from(text)]);
    let from = 0;
    while (from < bytes.length && (all || bytes.length - from >= sliceBytes) && !this.closed) {
      const to = Math.min(bytes.length, from + sliceBytes);
      await this.write(bytes.subarray(from, to));
      from = to;
      // fetch joins slices that arrive together; a turn of the event loop in between keeps most borders for it too.
      if (sliceDelayMs > 0) await this.pause(sliceDelayMs);
      else await setImmediate();
    }
    this.rest = bytes.subarray(from);
  }

  async end(): Promise<void> {
    if (!this.wire.sliceBytes && !this.closed) {
      const text = this.text;
      this.text = '';
      this.response.end(text);
      return;
    }
    await this.flush(true);
    if (!this.closed) this.response.end();
  }

  /** Sends what was added and closes the socket in the middle of the response. */
  async destroy(): Promise<void> {
    await this.flush(true);
    // The last write must have left this process, or closing would take it along.
    if (!this.closed && this.response.headersSent) await new Promise<void>((resolve) => this.response.write('', () => resolve()));
    this.response.socket?.destroy();
  }

  private async write(data: string | Uint8Array): Promise<void> {
    if (this.response.write(data)) return;
    const drained = new Promise<void>((resolve) => this.response.once('drain', resolve));
    await this.until(drained);
  }
}
