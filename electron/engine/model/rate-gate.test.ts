import { describe, expect, it } from 'vitest';
import { createRateGate } from './rate-gate.ts';

/** A clock whose sleepers wake in order when it is moved. */
function clock() {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number) => new Promise<void>((resolve) => sleepers.push({ at: now + ms, wake: resolve })),
    async to(time: number): Promise<void> {
      for (;;) {
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > time) break;
        now = Math.max(now, next.at);
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        next.wake();
        await new Promise(setImmediate);
      }
      now = time;
    },
  };
}

const signal = new AbortController().signal;

describe('createRateGate', () => {
  // Bug: waiting calls pass too early, or all in the same moment and hit the limit again.
  it('lets those that waited out one by one, in order', async () => {
    const time = clock();
    const gate = createRateGate({ ...time, spacingMs: 10 });
    const passed: [string, number][] = [];
    gate.closeUntil(100);
    const all = ['a', 'b', 'c'].map((name) => gate.pass(signal).then(() => passed.push([name, time.now()])));
    await time.to(99);
    expect(passed).toEqual([]);
    await time.to(1000);
    await Promise.all(all);
    expect(passed).toEqual([['a', 100], ['b', 110], ['c', 120]]);
    await gate.pass(signal);
    await gate.pass(signal);
    expect(time.now()).toBe(1000);
  });

  // Bug: a second 429 while others wait does not reach them; a shorter pause cuts a longer one.
  it('a later closing reaches those who already wait, an earlier one changes nothing', async () => {
    const time = clock();
    const gate = createRateGate({ ...time, spacingMs: 10 });
    const passed: number[] = [];
    gate.closeUntil(100);
    const all = [1, 2].map(() => gate.pass(signal).then(() => passed.push(time.now())));
    gate.closeUntil(50);
    await time.to(90);
    gate.closeUntil(300);
    await time.to(299);
    expect(passed).toEqual([]);
    await time.to(1000);
    await Promise.all(all);
    expect(passed).toEqual([300, 310]);
  });
});
