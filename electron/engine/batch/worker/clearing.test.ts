import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Clearing } from './clearing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A removal that ends when it is told to. */
function removal() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = vi.fn(() => promise);
  return { begun, end: resolve };
}

async function settled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  void promise.then(() => {
    is = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  return is;
}

// Bug: the next attempt at a rollout makes its workspace while the one before is still being removed, and loses files to it.
test('an attempt waits for what the one before it left', async () => {
  const clearing = new Clearing(4);
  const { begun, end } = removal();
  clearing.later(7, begun);
  const again = clearing.room(7);
  expect(await settled(again)).toBe(false);
  expect(begun).toHaveBeenCalledOnce();
  expect(await settled(clearing.room(8))).toBe(true);
  end();
  expect(await settled(again)).toBe(true);
});

// Bug: removals that are slower than the rollouts pile up until the disk is full.
test('no more are left than may be', async () => {
  const clearing = new Clearing(2);
  const removals = [removal(), removal()];
  removals.forEach(({ begun }, index) => clearing.later(index, begun));
  const next = clearing.room(2);
  expect(await settled(next)).toBe(false);
  removals[1]!.end();
  expect(await settled(next)).toBe(true);
});

// Bug: a run is called ended while commands of its last rollouts still live.
test('is done when all is cleared', async () => {
  const clearing = new Clearing(2);
  const { begun, end } = removal();
  clearing.later(0, begun);
  const done = clearing.done();
  expect(await settled(done)).toBe(false);
  end();
  expect(await settled(done)).toBe(true);
});
