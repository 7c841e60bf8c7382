import { createProviderHealth, type ProviderHealth } from './provider-health.ts';
import { createRateGate } from './rate-gate.ts';
import { realSleep, type Sleep } from './sleep.ts';

/** What a person allows a provider; absent = no limit. */
export interface Limits {
  /** Requests at the same time. */
  concurrency?: number | undefined;
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
}

/** One request that was let in. */
export interface Admission {
  /** The request is over. `tokens` as the provider counted them; null leaves the estimate. Safe to call twice. */
  end(tokens: number | null): void;
}

/** Shared by all calls to one provider: they keep its limits together, and slow down together after a 429. */
export interface ProviderGate {
  /**
   * Resolves when a request of about so many tokens may be made: in the order of asking, within the limits. Rejects with the
   * signal's reason as soon as that is aborted, and with GateClosedError when a 429 keeps it closed for more than `longestWaitMs`.
   * A request larger than the limit of a minute is let in when the minute is empty. While the provider is down, one request at a time
   * tries it and the `patient` ones wait for its answer; others try at once.
   */
  enter(tokens: number, signal: AbortSignal, wait?: { longestWaitMs?: number; patient?: boolean }): Promise<Admission>;
  /** Nobody enters before `untilMs` (epoch milliseconds). A later time wins. */
  closeUntil(untilMs: number): void;
  readonly health: ProviderHealth;
  /** Requests that are on their way. */
  readonly open: number;
}

export interface ProviderGateOptions {
  /** Asked at each entry, so that a change in Settings holds at once. */
  limits?: () => Limits;
  sleep?: Sleep;
  now?: () => number;
}

const MINUTE_MS = 60_000;

interface Entry {
  at: number;
  tokens: number;
}

/** A gate of its own for one provider. */
export function createProviderGate({ limits = () => ({}), sleep = realSleep, now = Date.now }: ProviderGateOptions = {}): ProviderGate {
  const rate = createRateGate({ sleep, now });
  const health = createProviderHealth(now);
  const queue: (() => void)[] = [];
  /** What was let in during the last minute. */
  const recent: Entry[] = [];
  let atTheHead = false;
  let open = 0;
  let freed: (() => void) | null = null;

  /** Only the first of the queue looks at the limits, so nobody overtakes. */
  async function turn(signal: AbortSignal): Promise<void> {
    if (!atTheHead) {
      atTheHead = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.push(resolve);
    const onAbort = (): void => {
      const at = queue.indexOf(resolve);
      if (at === -1) return;
      queue.splice(at, 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  function next(): void {
    const first = queue.shift();
    if (first === undefined) atTheHead = false;
    else first();
  }

  async function slot(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const isDown = health.downSince !== null;
      const atOnce = Math.min(limits().concurrency ?? Infinity, isDown ? 1 : Math.floor(health.ceiling));
      if (open < atOnce) {
        const waitMs = isDown ? health.nextProbeAt - now() : 0;
        if (waitMs <= 0) return;
        await sleep(waitMs, signal);
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      freed = resolve;
      const onAbort = (): void => resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', onAbort));
    }
  }

  function waitMs(tokens: number): number {
    const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = limits();
    const time = now();
    // most often one has just become too old, or none
    const young = recent.findIndex(({ at }) => at + MINUTE_MS > time);
    recent.splice(0, young === -1 ? recent.length : young);
    if (requestsPerMinute === Infinity && tokensPerMinute === Infinity) return 0;
    let sum = Math.min(tokens, tokensPerMinute);
    for (const entry of recent) sum += entry.tokens;
    let left = recent.length;
    for (const entry of recent) {
      if (left < requestsPerMinute && sum <= tokensPerMinute) return 0;
      left -= 1;
      sum -= entry.tokens;
      if (left < requestsPerMinute && sum <= tokensPerMinute) return entry.at + MINUTE_MS - time;
    }
    return 0;
  }

  function admit(tokens: number, signal: AbortSignal): Admission {
    const entry: Entry = { at: now(), tokens };
    recent.push(entry);
    open += 1;
    let ended = false;
    const end = (counted: number | null): void => {
      if (counted !== null) entry.tokens = counted;
      if (ended) return;
      ended = true;
      open -= 1;
      signal.removeEventListener('abort', onAbort);
      freed?.();
      freed = null;
    };
    // Also when nobody takes what an aborted call has to say.
    const onAbort = (): void => end(null);
    signal.addEventListener('abort', onAbort, { once: true });
    return { end };
  }

  return {
    health,
    get open() {
      return open;
    },
    async enter(tokens, signal, { longestWaitMs = Infinity, patient = false } = {}) {
      signal.throwIfAborted();
      rate.check(longestWaitMs);
      if (!patient && health.downSince !== null) return admit(tokens, signal);
      await turn(signal);
      try {
        await slot(signal);
        // What freed the place may have been a 429.
        rate.check(longestWaitMs);
        for (let wait = waitMs(tokens); wait > 0; wait = waitMs(tokens)) await sleep(wait, signal);
        await rate.pass(signal, longestWaitMs);
        signal.throwIfAborted();
        return admit(tokens, signal);
      } finally {
        next();
      }
    },
    closeUntil: (untilMs) => rate.closeUntil(untilMs),
  };
}
