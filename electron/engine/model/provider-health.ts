/** A share of this is kept of the requests at once after a 429. */
const CUT = 0.7;
/** The answers to requests that were on their way together are one 429. */
const SAME_STORM_MS = 1_000;
/** Failures in a row, with no answer between them, that mean that a provider is down. */
const DOWN_AFTER = 3;
const FIRST_PROBE_MS = 1_000;
const LAST_PROBE_MS = 5_000;

/** What the calls to one provider have met lately. */
export interface ProviderHealth {
  /**
   * How many requests at once it seems to take: Infinity before its first 429. Each storm of 429s cuts it, each answer raises it a
   * little, as TCP does with its window (additive increase, multiplicative decrease; RFC 5681).
   */
  readonly ceiling: number;
  /** Storms of 429s since the last answer. */
  readonly storms: number;
  /** Since when (epoch ms) nothing but failures came; null while it answers. */
  readonly downSince: number | null;
  /** While it is down: when (epoch ms) the next single request may try. */
  readonly nextProbeAt: number;
  /** @param open requests at once at that time */
  limited(open: number): void;
  /**
   * The provider could not be reached or failed.
   * @param call the same for all attempts of one call: one request that a server cannot take is no outage
   * @param certain it cannot be the fault of the request (no connection, 502, 503, 504)
   */
  failed(call: symbol, certain: boolean): void;
  answered(): void;
}

export function createProviderHealth(now: () => number): ProviderHealth {
  let ceiling = Infinity;
  let lastCutAt = -Infinity;
  let storms = 0;
  let failures = 0;
  let certainly = false;
  let firstFailureAt = 0;
  const callers = new Set<symbol>();
  let downSince: number | null = null;
  let probeMs = FIRST_PROBE_MS;
  let nextProbeAt = 0;

  return {
    get ceiling() {
      return ceiling;
    },
    get storms() {
      return storms;
    },
    get downSince() {
      return downSince;
    },
    get nextProbeAt() {
      return nextProbeAt;
    },
    limited(open) {
      const time = now();
      if (time - lastCutAt < SAME_STORM_MS) return;
      lastCutAt = time;
      storms += 1;
      ceiling = Math.max(1, Math.floor(Math.min(ceiling, Math.max(open, 1)) * CUT));
    },
    failed(call, certain) {
      const time = now();
      if (failures === 0) firstFailureAt = time;
      failures += 1;
      certainly ||= certain;
      callers.add(call);
      if (downSince !== null) {
        probeMs = Math.min(probeMs * 2, LAST_PROBE_MS);
        nextProbeAt = time + probeMs;
      } else if (failures >= DOWN_AFTER && (certainly || callers.size > 1)) {
        downSince = firstFailureAt;
        probeMs = FIRST_PROBE_MS;
        nextProbeAt = time + probeMs;
      }
    },
    answered() {
      storms = 0;
      failures = 0;
      certainly = false;
      callers.clear();
      downSince = null;
      if (ceiling !== Infinity) ceiling += 1 / ceiling;
    },
  };
}
