import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { openStore } from '#engine/store/store.ts';
import { seed } from './seed.ts';
import type { Row } from './table.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ROW = '[role="option"], [role="row"]';
const RUNS = 7;

/**
 * The Library in a real browser over a home of `count` trajectories: from the click on its rail entry to painted rows, how many frames of
 * a fast scroll showed a gap, and from a finished search to painted results. Times are medians in ms, network and engine included.
 */
export async function benchPage(count: number): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'talaria-bench-'));
  const store = openStore(home, { resources: join(ROOT, 'resources'), reader: join(ROOT, 'electron/engine/store/reader.ts') });
  seed(store, count);
  await store.close();
  const server = await startServer(home);
  const executablePath = process.env['CHROMIUM'];
  const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.link);
    await page.locator(ROW).first().waitFor();
    const open = await median(async () => {
      await page.goto(`${server.origin}/#/settings`);
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
  } finally {
    await browser.close();
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
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

function startServer(home: string): Promise<{ link: string; origin: string; stop(): void }> {
  const child = spawn(process.execPath, [join(ROOT, 'electron/serve/main.ts'), '--home', home, '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
      const link = /http:\/\/\S+token=\S+/.exec(text)?.[0];
      if (link) done({ link, origin: new URL(link).origin, stop: () => void child.kill() });
    });
    child.once('exit', (code) => fail(new Error(`Browser mode ended with ${code}`)));
  });
}
