import type { ModelError } from './types.ts';

const MAX_RETRY_AFTER_MS = 10 * 60_000;
const MAX_BACKOFF_MS = 60_000;
/** Its gate lets one try at a time, so what waits there need not wait long before. */
const OUTAGE_WAIT_MS = 1_000;
const RETRIED = new Set(['rate_limit', 'server', 'network', 'timeout', 'bad_response']);

export interface RetryPolicy {
  /** Attempts in all, for every failure but a 429 that says how long to wait. */
  maxAttempts: number;
  /** Attempts in all when the server says how long to wait. */
  maxRateLimitAttempts: number;
  /** In [0, 1). */
  random: () => number;
  /** For work that nobody waits for: troubles of the provider are waited out and cost no attempt. */
  patience?: Patience | undefined;
}

export interface Patience {
  /** How long one call waits, in all. */
  ms: number;
  now: () => number;
  /** Since when (epoch ms) the provider answers nobody; null while it does. */
  downSince: () => number | null;
  /** How many times in a row it said 429 and nothing else. */
  storms: () => number;
}

/** Counts the failed attempts of one call and says how long to wait before the next, or null when the call has failed. */
export function createRetryPlan(policy: RetryPolicy): (error: ModelError) => number | null {
  let failures = 0;
  let toldToWait = 0;
  let patientSince: number | null = null;
  return (error) => {
    if (!RETRIED.has(error.code)) return null;
    const { patience } = policy;
    const down = patience?.downSince() ?? null;
    if (patience && (error.code === 'rate_limit' || down !== null)) {
      patientSince ??= patience.now();
      if (patience.now() - Math.min(patientSince, down ?? Infinity) >= patience.ms) return null;
      if (error.code !== 'rate_limit') return Math.round(OUTAGE_WAIT_MS * policy.random());
      // While others are answered, fewer requests at once help more than long pauses.
      return error.retryAfterMs !== null ? Math.min(error.retryAfterMs, MAX_RETRY_AFTER_MS) : backoff(Math.max(0, patience.storms() - 1));
    }
    if (error.code === 'rate_limit' && error.retryAfterMs !== null) {
      toldToWait += 1;
      if (toldToWait >= policy.maxRateLimitAttempts) return null;
    } else {
      failures += 1;
      if (failures >= policy.maxAttempts) return null;
    }
    if (error.retryAfterMs !== null) return Math.min(error.retryAfterMs, MAX_RETRY_AFTER_MS);
    return backoff(failures);
  };

  function backoff(count: number): number {
    return Math.round(Math.min(1000 * 2 ** count, MAX_BACKOFF_MS) * (0.75 + 0.25 * policy.random()));
  }
}

/**
 * Milliseconds to wait by the response headers `retry-after-ms`, or `retry-after` in seconds or as an HTTP date
 * (RFC 9110 §10.2.3); null when there is none that can be read.
 */
export function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const exact = numberOf(headers?.get('retry-after-ms'));
  if (exact !== null) return exact;
  const value = headers?.get('retry-after');
  const seconds = numberOf(value);
  if (seconds !== null) return Math.ceil(seconds * 1000);
  const date = value ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function numberOf(value: string | null | undefined): number | null {
  if (value === null || value === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
}
