import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { openStore } from '#engine/store/store.ts';
import { openBrowser } from './browser.ts';
import { type Ground, ROOT } from './ground.ts';
import { seed } from './seed.ts';
import type { Row } from './table.ts';

const ROW = '[role="option"], [role="row"]';
const RUNS = 7;

/**
 * The Library in a real browser over a home of `count` trajectories: from the click on its rail entry to painted rows, how many frames of
 * a fast scroll showed a gap, and from a finished search to painted results. Times are medians in ms, network and engine included.
 */
export async function benchPage(ground: Ground, count: number): Promise<Row[]> {
  const home = ground.folder();
  const store = openStore(home, { resources: join(ROOT, 'resources'), reader: join(ROOT, 'electron/engine/store/reader.ts') });
  await seed(store, count).finally(() => store.close());
  const link = await ground.serve('electron/serve/main.ts', ['--home', home, '--port', '0', '--no-open'], /http:\/\/\S+token=\S+/);
  const { origin } = new URL(link);
  const page = await openBrowser(ground);
  await page.goto(link);
  await page.locator(ROW).first().waitFor();
  const open = await median(async () => {
    await page.goto(`${origin}/#/settings`);
    await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
    return timed(page, () => page.evaluate(() => void (location.hash = '#/library')));
  });
  const scroll = await scrolling(page);
  const search = await median(async (i) => {
    const box = page.getByRole('searchbox').first();
    await box.fill('');
    await page.locator(ROW).first().waitFor();
    return timed(page, () => box.fill(['staging', '日志', 'tokenizer ledger', 'gradient'][i % 4]!), true);
  });
  return [
    { name: 'Library opened to painted rows', value: open, unit: 'ms' },
    { name: 'fast scroll through all rows: frames with a blank gap', value: scroll.blankPercent, unit: '%' },
    { name: 'rows in the page at most', value: scroll.mostRows, unit: 'rows' },
    { name: 'search typed to painted results (with the typing pause)', value: search, unit: 'ms' },
  ];
}

/** From the action to the first frame in which real rows are shown (and, when `changed`, other rows than before). */
async function timed(page: Page, act: () => Promise<unknown>, changed = false): Promise<number> {
  const before = changed ? await page.locator(ROW).allTextContents() : [];
  const shown = page.evaluate(
    ([row, old]) =>
      new Promise<number>((done) => {
        const started = performance.now();
        const look = (): void => {
          const texts = [...document.querySelectorAll(row)].map((r) => r.textContent ?? '');
          if (texts.some((t) => t.trim() !== '') && texts.join() !== old) requestAnimationFrame(() => done(performance.now() - started));
          else requestAnimationFrame(look);
        };
        look();
      }),
    [ROW, before.join()] as const,
  );
  await act();
  return shown;
}

/** Scrolls the list from top to bottom in 120 frames and looks at each for rows whose text is missing. */
async function scrolling(page: Page): Promise<{ blankPercent: number; mostRows: number }> {
  return page.evaluate(async (row) => {
    let list = document.querySelector(row)?.parentElement ?? null;
    while (list && list.scrollHeight <= list.clientHeight + 10) list = list.parentElement;
    if (!list) throw new Error('There is nothing to scroll');
    const frames = 120;
    let blank = 0;
    let mostRows = 0;
    for (let i = 1; i <= frames; i++) {
      list.scrollTop = ((list.scrollHeight - list.clientHeight) * i) / frames;
      await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
      const box = list.getBoundingClientRect();
      const rows = [...list.querySelectorAll(row)];
      mostRows = Math.max(mostRows, rows.length);
      const filled = rows.filter((r) => (r.textContent ?? '').trim() !== '').map((r) => r.getBoundingClientRect());
      const covered = filled.reduce((sum, r) => sum + Math.max(0, Math.min(r.bottom, box.bottom) - Math.max(r.top, box.top)), 0);
      if (covered < box.height * 0.9) blank++;
    }
    return { blankPercent: (blank / frames) * 100, mostRows };
  }, ROW);
}

async function median(measure: (i: number) => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) times.push(await measure(i));
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!;
}
