import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { PageWindow, type FetchPage } from './page-window.ts';

interface Row {
  n: number;
}

/** A list in the engine: rows by descending `n`, with a log of what was asked. */
function engine(count: number): { rows: Row[]; fetch: FetchPage<Row>; asked: { before: number | undefined; limit: number }[] } {
  const rows = Array.from({ length: count }, (_, i) => ({ n: (count - i) * 3 }));
  const asked: { before: number | undefined; limit: number }[] = [];
  const fetch: FetchPage<Row> = async (before, limit) => {
    asked.push({ before, limit });
    const below = rows.filter((r) => before === undefined || r.n < before);
    const items = below.slice(0, limit);
    return { items, nextBefore: below.length > limit ? (items.at(-1)?.n ?? null) : null };
  };
  return { rows, fetch, asked };
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
    const window = new PageWindow<Row>(async (before, limit) => {
      calls++;
      if (broken) throw new Error('engine is gone');
      return fetch(before, limit);
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
