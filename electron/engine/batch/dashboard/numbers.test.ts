import { expect, test } from 'vitest';
import { histogram, percentiles, series } from './numbers.ts';

// Bug: the percentile of few values lies beyond the last one, or an empty list gives NaN.
test('percentiles are values that occurred', () => {
  expect(percentiles([])).toBeNull();
  expect(percentiles([7])).toEqual({ count: 1, p50: 7, p90: 7, p99: 7 });
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(percentiles(hundred)).toEqual({ count: 100, p50: 50, p90: 90, p99: 99 });
});

// Bug: the greatest value falls out of the last step, or equal values divide by zero.
test('every value is in one step of the histogram', () => {
  expect(histogram(Float64Array.of(0, 0.05, 0.5, 1), 0, 1)).toEqual([2, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  expect(histogram(Float64Array.of(3, 3), 3, 3)).toEqual([2]);
  expect(histogram(new Float64Array(0), Infinity, -Infinity)).toEqual([]);
});

// Bug: a run resumed the next day shows one spike, a long nothing, one spike; or ends are lost at the borders of steps.
test('the series leaves pauses out and counts every end once', () => {
  const evening = Array.from({ length: 600 }, (_, i) => i * 100);
  const day = 24 * 3_600_000;
  const all = series(Float64Array.from([...evening, ...evening.map((t) => t + day)]), 500);
  expect(all.reduce((sum, s) => sum + s.count, 0)).toBe(1_200);
  expect(all.reduce((sum, s) => sum + s.seconds, 0)).toBeLessThan(130);
  expect(all.filter((s) => s.count === 0)).toEqual([]);
  expect(all.at(-1)!.at).toBeGreaterThan(day);
  for (const s of all) expect(s.count / s.seconds).toBeCloseTo(10, -0.5);
  expect(series(Float64Array.of(5), 10)).toEqual([]);
});
