import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Limits } from './limits.ts';

const never = new AbortController().signal;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('silence counts from the last sign of life, longer within a tool, and not while a pause was announced', () => {
  // Bug: work that tells of itself all the time is ended as if it hung, or a long command and a provider's pause are.
  const limits = new Limits(never, { timeoutMs: null, stallMs: 300 });
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(250);
    limits.alive({ inTool: false });
  }
  expect(limits.cause).toBeNull();
  limits.alive({ inTool: true });
  vi.advanceTimersByTime(790);
  expect(limits.cause).toBeNull();
  limits.alive({ inTool: false, waitMs: 5_000 });
  vi.advanceTimersByTime(5_290);
  expect(limits.cause).toBeNull();
  // back from a long silence that was allowed to the short one
  limits.alive({ inTool: false });
  vi.advanceTimersByTime(610);
  expect(limits.cause).toBe('stalled');
  expect(limits.signal.aborted).toBe(true);
  limits.dispose();
});

test('what told it to end first counts; who does not end is overdue half a second later', async () => {
  // Bug: a child that is stopped after its time was up has two ends.
  const outer = new AbortController();
  const limits = new Limits(outer.signal, { timeoutMs: 1_000, stallMs: 0 });
  vi.advanceTimersByTime(1_000);
  outer.abort();
  expect(limits.cause).toBe('timeout');
  vi.advanceTimersByTime(500);
  expect(await limits.overdue).toBe('overdue');
  limits.dispose();
  expect(new Limits(outer.signal, { timeoutMs: null, stallMs: 0 }).cause).toBe('stopped');
  expect(vi.getTimerCount()).toBe(1);
});
