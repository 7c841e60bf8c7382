import { abortedError } from './faults.ts';
import { ModelError } from './types.ts';

export interface WatchdogOptions {
  /** From the request to the first byte of the answer, ms. */
  firstByteTimeoutMs: number;
  /** Between two pieces of the answer, ms. Keep-alive comments count as pieces. */
  idleTimeoutMs: number;
  /** Keep-alive comments alone are believed for so long, ms. */
  stallTimeoutMs: number;
  /** Named in the error. */
  place: string;
}

export interface Watchdog {
  /** Settles as the promise does, or rejects as soon as a limit is passed or the signal is aborted. */
  guard<T>(promise: PromiseLike<T>): Promise<T>;
  sawBytes(): void;
  sawChunk(): void;
  dispose(): void;
}

/** Watches over one attempt: it ends within its time limits, and at once when `signal` is aborted. */
export function createWatchdog(options: WatchdogOptions, signal: AbortSignal): Watchdog {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => undefined);
  const onAbort = (): void => reject(abortedError());
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });

  const timer = (ms: number, sentence: string): NodeJS.Timeout =>
    setTimeout(() => reject(new ModelError('timeout', `${options.place} ${sentence} for ${Math.round(ms / 1000)} s.`)), ms);
  let first: NodeJS.Timeout | null = timer(options.firstByteTimeoutMs, 'has not begun to answer');
  let idle: NodeJS.Timeout | null = null;
  const stall = timer(options.stallTimeoutMs, 'has kept the connection open without an answer');

  return {
    guard: (promise) => Promise.race([promise, failure]),
    sawBytes() {
      if (first !== null) clearTimeout(first);
      first = null;
      if (idle === null) idle = timer(options.idleTimeoutMs, 'stopped in the middle of the answer and has been silent');
      else idle.refresh();
    },
    sawChunk() {
      stall.refresh();
    },
    dispose() {
      signal.removeEventListener('abort', onAbort);
      if (first !== null) clearTimeout(first);
      if (idle !== null) clearTimeout(idle);
      clearTimeout(stall);
    },
  };
}
