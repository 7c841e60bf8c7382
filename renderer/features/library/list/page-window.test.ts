import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { PageWindow, type FetchPage } from './page-window.ts';

interface Row {
  n: number;
  title?: string;
}

/** A list in the engine: rows by descending `n`, with a log of what was asked. */
function engine(count: number): { rows: Row[]; fetch: FetchPage<Row>; asked: Parameters<FetchPage<Row>>[0][] } {
  const rows: Row[] = Array.from({ length: count }, (_, i) => ({ n: (count - i) * 3 }));
  const asked: Parameters<FetchPage<Row>>[0][] = [];
  const fetch: FetchPage<Row> = async (page) => {
    asked.push(page);
    const { after, upTo = Infinity, limit } = page;
    const below = rows.filter((r) => r.n <= upTo && (after === undefined || r.n < after.n));
    return { items: below.slice(0, limit), more: below.length > limit, newest: Math.max(0, ...rows.map((r) => r.n)) };
  };
  return { rows, fetch, asked };
}

/** The same by reward: the highest first, none last, then by descending `n`. */
function engineByReward(rewards: readonly (number | null)[]) {
  const rows = rewards.map((reward, i) => ({ n: i + 1, reward }));
  const key = (r: { reward: number | null }): number => r.reward ?? -1;
  const fetch: FetchPage<(typeof rows)[number]> = async ({ after, upTo = Infinity, limit }) => {
    const sorted = rows.filter((r) => r.n <= upTo).toSorted((a, b) => key(b) - key(a) || b.n - a.n);
    const below = sorted.filter((r) => after === undefined || key(r) < key(after) || (key(r) === key(after) && r.n < after.n));
    return { items: below.slice(0, limit).map((r) => ({ ...r })), more: below.length > limit, newest: rows.length };
  };
  const window = new PageWindow(fetch, { pageSize: 10, prefetchPages: 0, placeOf: ({ n, reward }) => ({ n, reward }) });
  return { rows, window };
}

describe('PageWindow', () => {
  it('answers every index with the row of the whole list (catches off-by-one page borders)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), fc.array(fc.nat(399), { minLength: 1, maxLength: 8 }), async (count, jumps) => {
        const { rows, fetch } = engine(count);
        const window = new PageWindow<Row>(fetch, { pageSize: 10, maxPages: 5 });
        for (const jump of jumps) expect(await window.load(jump)).toEqual(rows[jump]);
      }),
      { numRuns: 60 },
    );
  });

  it('holds no more pages than allowed while everything is scrolled through (catches a page that keeps the whole list)', async () => {
    const { fetch } = engine(5000);
    const window = new PageWindow<Row>(fetch, { pageSize: 50, maxPages: 8 });
    for (let i = 0; i < 5000; i += 40) {
      await window.load(i);
      expect(window.loadedPages).toBeLessThanOrEqual(8);
    }
  });

  it('walks to a far index in wide steps (catches one request per page on a jump to the end)', async () => {
    const { fetch, asked } = engine(10_000);
    const window = new PageWindow<Row>(fetch, { pageSize: 100, walkPages: 5 });
    await window.load(9_999);
    expect(asked.length).toBeLessThan(30);
    expect(Math.max(...asked.map((a) => a.limit))).toBe(500);
  });

  it('jumps without a walk when the list has no gaps (catches seconds of waiting at the End key)', async () => {
    const { rows, fetch, asked } = engine(1_000);
    rows.forEach((row, i) => (row.n = 1_000 - i));
    const window = new PageWindow<Row>(fetch, { pageSize: 10, prefetchPages: 0 });
    await window.load(0);
    window.assumeDense();
    asked.length = 0;
    expect(await window.load(999)).toEqual({ n: 1 });
    expect(asked.length).toBe(1);
    expect(window.knownTotal).toBe(1_000);
  });

  it('reads on rightly when rows go after it was told that there are no gaps (catches rows shown twice or never)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 12, max: 200 }), fc.array(fc.integer({ min: 10, max: 199 }), { maxLength: 5 }), async (count, gone) => {
        const { rows, fetch } = engine(count);
        rows.forEach((row, i) => (row.n = count - i));
        const window = new PageWindow<Row>(fetch, { pageSize: 10, prefetchPages: 0 });
        await window.load(0);
        window.assumeDense();
        for (const i of gone) if (i < rows.length) rows.splice(i, 1);
        for (let i = 0; i < rows.length; i++) expect(await window.load(i)).toEqual(rows[i]);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps rows that arrive later out, so that nothing moves (catches a reload of page 0 without its border)', async () => {
    const { rows, fetch } = engine(30);
    const window = new PageWindow<Row>(fetch, { pageSize: 10 });
    const first = await window.load(0);
    rows.unshift({ n: 1_000 });
    await window.refresh();
    expect(window.get(0)).toEqual(first);
  });

  it('drops what follows when a row leaves a page (catches a row shown twice or never)', async () => {
    const { rows, fetch } = engine(35);
    const window = new PageWindow<Row>(fetch, { pageSize: 10 });
    await window.load(34);
    expect(window.knownTotal).toBe(35);
    window.want(0, 5);
    rows.splice(3, 1);
    await window.refresh();
    for (let i = 0; i < 34; i++) expect(await window.load(i)).toEqual(rows[i]);
    expect(window.knownTotal).toBe(34);
  });

  it('reads what changed off the screen again when it comes on (catches rows that run for ever in the list)', async () => {
    const { rows, fetch } = engine(30);
    const window = new PageWindow<Row>(async (page) => {
      const answer = await fetch(page);
      return { ...answer, items: answer.items.map((r) => ({ ...r })) };
    }, { pageSize: 10 });
    await window.load(25);
    window.want(0, 5);
    rows[25]!.title = 'ended';
    await window.refresh();
    window.want(20, 29);
    await expect.poll(() => window.get(25)?.title).toBe('ended');
  });

  it('reads a list by reward whole, also while rewards come in (catches a border that moved and is trusted)', async () => {
    const reward = fc.option(fc.constantFrom(0, 0.5, 1));
    await fc.assert(
      fc.asyncProperty(fc.array(reward, { minLength: 1, maxLength: 80 }), fc.array(fc.tuple(fc.nat(79), reward), { maxLength: 4 }), async (rewards, changes) => {
        const { rows, window } = engineByReward(rewards);
        const all = async (): Promise<number[]> => {
          const seen: number[] = [];
          for (let i = 0; i < rows.length; i++) seen.push((await window.load(i))!.n);
          return seen;
        };
        expect((await all()).toSorted((a, b) => a - b)).toEqual(rows.map((r) => r.n));
        for (const [at, value] of changes) if (at < rows.length) rows[at]!.reward = value;
        window.want(0, 9);
        await window.refresh();
        await all();
        const again = await all();
        expect(again).toEqual(rows.toSorted((a, b) => (b.reward ?? -1) - (a.reward ?? -1) || b.n - a.n).map((r) => r.n));
      }),
      { numRuns: 60 },
    );
  });

  it('knows an empty list (catches an endless request for a page that is not there)', async () => {
    const { fetch, asked } = engine(0);
    const window = new PageWindow<Row>(fetch);
    expect(await window.load(0)).toBeUndefined();
    expect(window.knownTotal).toBe(0);
    window.want(0, 20);
    expect(asked.length).toBe(1);
  });

  it('stops after an error and goes on after retry (catches a request storm against a failing engine)', async () => {
    const { rows, fetch } = engine(20);
    let broken = true;
    let calls = 0;
    const window = new PageWindow<Row>(async (page) => {
      calls++;
      if (broken) throw new Error('engine is gone');
      return fetch(page);
    });
    await window.load(0);
    window.want(0, 10);
    expect(calls).toBe(1);
    expect(window.error).toBeInstanceOf(Error);
    broken = false;
    window.retry();
    expect(await window.load(5)).toEqual(rows[5]);
  });
});
