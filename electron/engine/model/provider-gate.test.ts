import { describe, expect, it } from 'vitest';
import { createProviderGate, type Limits } from './provider-gate.ts';
import { GateClosedError } from './rate-gate.ts';

/** A clock whose sleepers wake in order when it is moved, or when their signal is aborted. */
function clock() {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
  };
  return {
    now: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ at: now + ms, wake: resolve });
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
    settle,
    async to(time: number): Promise<void> {
      for (;;) {
        await settle();
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > time) break;
        now = Math.max(now, next.at);
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        next.wake();
      }
      now = time;
    },
  };
}

function open(limits: Limits) {
  const time = clock();
  const gate = createProviderGate({ ...time, limits: () => limits });
  const entered: [name: string, at: number][] = [];
  const enter = async (name: string, tokens = 1, signal = new AbortController().signal) => {
    const admission = await gate.enter(tokens, signal);
    entered.push([name, time.now()]);
    return admission;
  };
  return { time, gate, entered, enter };
}

describe('createProviderGate', () => {
  // Bug: a local server that can serve two gets twenty requests at once, or they overtake each other.
  it('lets in so many at once, in the order they came', async () => {
    const { time, entered, enter } = open({ concurrency: 2 });
    const all = ['a', 'b', 'c', 'd'].map((name) => enter(name));
    await time.settle();
    expect(entered.map(([name]) => name)).toEqual(['a', 'b']);
    (await all[1])?.end(null);
    await time.settle();
    expect(entered.map(([name]) => name)).toEqual(['a', 'b', 'c']);
    const a = await all[0];
    a?.end(null);
    // Ending twice frees one place, not two.
    a?.end(null);
    const e = enter('e');
    await time.settle();
    expect(entered.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd']);
    (await all[2])?.end(null);
    await e;
  });

  // Bug: the limit per minute of a free account is run into although it is known.
  it('lets in so many a minute', async () => {
    const { time, entered, enter } = open({ requestsPerMinute: 2 });
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(name));
    await time.to(30_000);
    expect(entered).toEqual([['a', 0], ['b', 0]]);
    await time.to(200_000);
    await Promise.all(all);
    expect(entered.slice(2)).toEqual([['c', 60_000], ['d', 60_000], ['e', 120_000]]);
  });

  // Bug: estimates are never corrected, so that half of the allowance stays unused or is overdrawn; a large request waits for ever.
  it('counts tokens by the estimate and then by what the provider says', async () => {
    const { time, entered, enter } = open({ tokensPerMinute: 100 });
    const a = await enter('a', 60);
    const b = enter('b', 60);
    await time.settle();
    expect(entered.length).toBe(1);
    await time.to(10_000);
    a.end(10);
    await time.to(70_000);
    await b;
    expect(entered[1]).toEqual(['b', 60_000]);
    const c = enter('c', 5000);
    await time.to(119_000);
    expect(entered.length).toBe(2);
    await time.to(121_000);
    await c;
    expect(entered[2]).toEqual(['c', 120_000]);
  });

  it('lets more in when less was used than thought', async () => {
    const { time, entered, enter } = open({ tokensPerMinute: 100 });
    (await enter('a', 90)).end(20);
    await time.to(1000);
    await enter('b', 70);
    expect(entered).toEqual([['a', 0], ['b', 1000]]);
  });

  // Bug: a stopped chat stays in the queue, or keeps its place for ever, and the others wait.
  it('lets go of those who are stopped: waiting in the queue, at its head, and inside', async () => {
    const { time, entered, enter } = open({ concurrency: 1, requestsPerMinute: 100 });
    const inside = new AbortController();
    await enter('inside', 1, inside.signal);
    const head = new AbortController();
    const queued = new AbortController();
    const stopped = [enter('head', 1, head.signal), enter('queued', 1, queued.signal)].map((one) => expect(one).rejects.toThrow());
    const last = enter('last');
    await time.settle();
    queued.abort();
    head.abort();
    await Promise.all(stopped);
    expect(entered.map(([name]) => name)).toEqual(['inside']);
    inside.abort();
    await last;
    expect(entered.map(([name]) => name)).toEqual(['inside', 'last']);
  });

  it('lets go of those who wait for the minute', async () => {
    const { time, enter } = open({ requestsPerMinute: 1 });
    await enter('a');
    const stop = new AbortController();
    const stopped = expect(enter('b', 1, stop.signal)).rejects.toThrow();
    await time.settle();
    stop.abort();
    await stopped;
    const c = enter('c');
    await time.to(60_000);
    await c;
  });

  // Bug: a 429 of one call does not hold up the others.
  it('waits while it is closed, and then lets in one by one', async () => {
    const { time, gate, entered, enter } = open({});
    gate.closeUntil(1000);
    const all = ['a', 'b'].map((name) => enter(name));
    await time.to(5000);
    await Promise.all(all);
    expect(entered).toEqual([['a', 1000], ['b', 1050]]);
  });

  // Bug: calls that waited for their turn sit out a pause of minutes although a fallback could answer them.
  it('turns away who does not want to wait so long: who comes, who waits for a place, and who waits for the opening', async () => {
    const { time, gate } = open({ concurrency: 1 });
    const { signal } = new AbortController();
    const inside = await gate.enter(1, signal, { longestWaitMs: 15_000 });
    const waiting = [gate.enter(1, signal, { longestWaitMs: 15_000 }), gate.enter(1, signal, { longestWaitMs: 15_000 })].map((one) => expect(one).rejects.toThrow(GateClosedError));
    await time.settle();
    gate.closeUntil(300_000);
    inside.end(null);
    await Promise.all(waiting);
    await expect(gate.enter(1, signal, { longestWaitMs: 15_000 })).rejects.toMatchObject({ waitMs: 300_000 });
    const other = open({});
    other.gate.closeUntil(5000);
    const short = expect(other.gate.enter(1, signal, { longestWaitMs: 15_000 })).rejects.toThrow(GateClosedError);
    await other.time.settle();
    other.gate.closeUntil(300_000);
    await other.time.to(5000);
    await short;
  });
});
