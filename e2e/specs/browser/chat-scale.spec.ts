import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { conversation } from '../../fixtures/chats.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MESSAGES = 5_000;
const BIG = 20 * 1024 * 1024;
const ids = new Map<string, string>();

/** A home with one chat of 5,000 messages, whose last tool result has 20 MB; the page shows it. */
const test = base.extend<{ talk: Page }>({
  prepareHome: async ({}, use) =>
    use(async (home: string) => {
      // A process of its own: the store's worker threads do not start under the test runner's loader.
      const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'e2e/fixtures/seed-home.ts'), home, String(MESSAGES), 'chat', String(BIG)], { cwd: ROOT });
      ids.set(home, stdout.trim());
    }),
  talk: async ({ page, home }, use) => {
    await page.waitForURL(/#\/chat\/./);
    await page.evaluate((id) => void (location.hash = `#/chat/${id}`), ids.get(home) ?? '');
    await expect(log(page).getByText('This is the newest message.')).toBeVisible();
    await use(page);
  },
});

const log = (page: Page) => conversation(page);
/** The talk with what lies over its messages. */
const talk = (page: Page) => page.getByRole('region', { name: 'Conversation', exact: true });

/** The text of the first row that can be seen whole, and where it is. */
function reading(page: Page): Promise<{ index: string; text: string; top: number }> {
  return log(page).evaluate((list) => {
    const box = list.getBoundingClientRect();
    const row = [...list.querySelectorAll<HTMLElement>('[data-index]')].find((el) => el.getBoundingClientRect().top >= box.top && el.innerText.trim() !== '');
    if (!row) throw new Error('Nothing to read');
    return { index: row.dataset.index ?? '', text: row.innerText, top: Math.round(row.getBoundingClientRect().top - box.top) };
  });
}

/** Where one reads once nothing moves any more: rows are put right after they were measured, over several frames. */
async function readingAtRest(page: Page): Promise<{ index: string; text: string; top: number }> {
  await log(page).evaluate((list) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let last = '';
    let same = 0;
    const look = (): void => {
      const now = `${list.scrollTop} ${list.scrollHeight} ${list.querySelector<HTMLElement>('[data-index]')?.dataset.index ?? ''}`;
      same = now === last ? same + 1 : 0;
      last = now;
      if (same >= 10) resolve();
      else requestAnimationFrame(look);
    };
    look();
    return promise;
  });
  return await reading(page);
}

// Bug: a long chat opens at its beginning, holds all its messages as elements, or its first message cannot be reached.
test('a chat of 5,000 messages opens at its end, and Home and End reach both ends', async ({ talk: page }) => {
  expect(await log(page).locator('[data-index]').count()).toBeLessThan(120);
  await log(page).focus();
  await page.keyboard.press('Home');
  await expect(log(page).getByText('1: why is the nightly export slow?')).toBeInViewport();
  expect(await log(page).locator('[data-index]').count()).toBeLessThan(120);
  await page.keyboard.press('End');
  await expect(log(page).getByText('This is the newest message.')).toBeInViewport();
});

// Bug: what is being read moves when older messages arrive above it.
test('what one reads stays where it is while older messages arrive', async ({ talk: page }) => {
  await log(page).hover();
  await page.mouse.wheel(0, -700);
  await expect(talk(page).getByRole('button', { name: 'To the end' })).toBeVisible();
  await expect.poll(() => log(page).evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop)).toBeGreaterThan(300);
  const before = await readingAtRest(page);
  await expect(talk(page).locator('[aria-busy="true"]')).toHaveCount(0);
  const after = await readingAtRest(page);
  expect(after.text).toBe(before.text);
  expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(1);
});

// Bug: j and k go by rows of the screen instead of messages, or lose their place.
test('j and k go from message to message', async ({ talk: page }) => {
  await expect(talk(page).locator('[aria-busy="true"]')).toHaveCount(0);
  await log(page).focus();
  await readingAtRest(page);
  const places: number[] = [];
  const press = async (key: string): Promise<void> => {
    await page.keyboard.press(key);
    const before = places.at(-1);
    let place = -1;
    await expect.poll(async () => (place = Number((await readingAtRest(page)).index))).not.toBe(before);
    places.push(place);
  };
  for (const key of ['k', 'k', 'k', 'k', 'j']) await press(key);
  const [, , third = 0, fourth = 0, back = 0] = places;
  // A message with a call has more than one row.
  expect(third - fourth).toBeGreaterThanOrEqual(1);
  expect(places.slice(0, 4)).toEqual(places.slice(0, 4).toSorted((a, b) => b - a));
  expect(back).toBe(third);
});

// Bug: a result of 20 MB freezes the page, or its end cannot be read.
test('a tool result of 20 MB is shown whole when asked for', async ({ talk: page }) => {
  const card = log(page).getByRole('button', { name: /^terminal cat export.log/ });
  await card.click();
  await log(page).getByRole('button', { name: /^Show all 20/ }).click();
  const viewer = log(page).getByRole('region', { name: 'Result of terminal' });
  await expect(viewer).toContainText('a line of a very long log');
  await expect(async () => {
    await viewer.evaluate((el) => el.scrollTo(0, el.scrollHeight));
    await expect(viewer).toContainText('the very last line', { timeout: 500 });
  }).toPass();
  expect(await viewer.locator('*').count()).toBeLessThan(1_000);
});
