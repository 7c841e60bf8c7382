import type { Sleep } from './sleep.ts';

/** The gate stays closed for longer than a call wants to wait. */
export class GateClosedError extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`Closed for another ${waitMs} ms.`);
    this.name = 'GateClosedError';
    this.waitMs = waitMs;
  }
}

/** Shared by all calls to one endpoint, so that they slow down together. */
export interface RateGate {
  /**
   * Resolves when the endpoint may be asked. Rejects with the signal's reason when that is aborted, and with GateClosedError as
   * soon as it is closed for more than `longestWaitMs`.
   */
  pass(signal: AbortSignal, longestWaitMs?: number): Promise<void>;
  /** Nobody passes before `untilMs` (epoch milliseconds). A later time wins. */
  closeUntil(untilMs: number): void;
  /** Throws GateClosedError when it is closed for more than `longestWaitMs`. */
  check(longestWaitMs: number): void;
}

export interface RateGateOptions {
  now?: () => number;
  sleep: Sleep;
  /** After a pause, waiting calls leave one by one at this distance in ms, so that they do not hit the limit together again. */
  spacingMs?: number;
}

/**
 * An open gate lets everybody through at once. After `closeUntil` all wait; those that waited are then let out in the order
 * they came, `spacingMs` apart. If the gate closes again meanwhile, the rest goes on waiting without having asked.
 */
export function createRateGate(options: RateGateOptions): RateGate {
  const now = options.now ?? Date.now;
  const spacingMs = options.spacingMs ?? 50;
  let openAt = 0;
  let nextSlot = 0;

  return {
    async pass(signal, longestWaitMs = Infinity) {
      signal.throwIfAborted();
      check(longestWaitMs);
      let mine = claim();
      while (now() < mine) {
        await options.sleep(mine - now(), signal);
        signal.throwIfAborted();
        // Closed again while this call slept: queue up anew behind the new opening.
        if (mine < openAt) {
          check(longestWaitMs);
          mine = claim();
        }
      }
    },
    closeUntil(untilMs) {
      if (untilMs <= openAt) return;
      openAt = untilMs;
      nextSlot = Math.max(nextSlot, untilMs);
    },
    check,
  };

  function check(longestWaitMs: number): void {
    const waitMs = openAt - now();
    if (waitMs > longestWaitMs) throw new GateClosedError(waitMs);
  }

  function claim(): number {
    if (now() >= openAt && now() >= nextSlot) return now();
    const slot = Math.max(openAt, nextSlot);
    nextSlot = slot + spacingMs;
    return slot;
  }
}
