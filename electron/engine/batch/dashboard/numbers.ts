import type { Percentiles } from '#shared/contract/dashboards.ts';

/** The value that so large a share of them does not exceed, by nearest rank. @param rising at least one, sorted @param share 0 to 1 */
export function quantile(rising: Float64Array, share: number): number {
  return rising[Math.max(0, Math.ceil(share * rising.length) - 1)]!;
}

/** Percentiles of lengths of time, ms; null without any. */
export function percentiles(values: ArrayLike<number>): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => quantile(sorted, share);
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

const HISTOGRAM_STEPS = 10;

/** How many values fall into each of ten equal steps from the least to the greatest; one step when they are all the same. */
export function histogram(values: Float64Array, min: number, max: number): number[] {
  if (values.length === 0) return [];
  if (max <= min) return [values.length];
  const steps = new Array<number>(HISTOGRAM_STEPS).fill(0);
  const scale = HISTOGRAM_STEPS / (max - min);
  for (const value of values) {
    const step = Math.min(HISTOGRAM_STEPS - 1, Math.floor((value - min) * scale));
    steps[step]! += 1;
  }
  return steps;
}

const SERIES_STEPS = 48;
/** A run that ends nothing for this long may only be slow; longer than that and than a few of its longest rollouts, it was paused. */
const PAUSE_MS = 600_000;
const LONGEST_ROLLOUTS = 5;

export interface SeriesStep {
  /** Epoch ms of its beginning. */
  at: number;
  seconds: number;
  count: number;
}

/**
 * Ends per equal step of active time: what lies between two passes is left out, as a run resumed a day later would be all gap.
 * @param ends epoch ms, in any order @param longestMs of a rollout: the 99th percentile
 */
export function series(ends: Float64Array, longestMs: number): SeriesStep[] {
  if (ends.length < 2) return [];
  const sorted = ends.slice().sort();
  const pause = Math.max(PAUSE_MS, LONGEST_ROLLOUTS * longestMs);
  let skipped = 0;
  const active = new Float64Array(sorted.length);
  for (let i = 1; i < sorted.length; i += 1) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (gap > pause) skipped += gap;
    active[i] = sorted[i]! - sorted[0]! - skipped;
  }
  const length = active[active.length - 1]!;
  if (length < 1000) return [];
  const step = Math.max(1000, Math.ceil(length / SERIES_STEPS / 1000) * 1000);
  const steps = Array.from({ length: Math.floor(length / step) + 1 }, (_, i): SeriesStep => ({ at: sorted[0]! + i * step, seconds: step / 1000, count: 0 }));
  let last = -1;
  for (let i = 0; i < active.length; i += 1) {
    const number = Math.floor(active[i]! / step);
    const s = steps[number]!;
    // the clock time of its first end: steps after a pause are later than their place says
    if (number !== last) s.at = sorted[i]!;
    last = number;
    s.count += 1;
  }
  // the last step is rarely whole: its rate would look like a fall
  const rest = (length - (steps.length - 1) * step) / 1000;
  if (steps.length > 1 && rest < step / 2000) {
    const tail = steps.pop()!;
    steps.at(-1)!.count += tail.count;
    steps.at(-1)!.seconds += rest;
  } else steps.at(-1)!.seconds = Math.max(1, rest);
  return steps;
}
