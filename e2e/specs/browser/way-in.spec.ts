import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../../drivers/browser-mode.ts';

/** The status line's word for a connected engine; other states have more words. */
function engineUp(page: Page): Locator {
  return page.getByRole('status').filter({ hasText: /^Engine$/ });
}

// Bug: the real page does not load under the policy of browser mode, or does not reach the engine through its WebSocket.
test('the printed link leads to the page, and the page reaches the engine', async ({ page, mode }) => {
  await expect(page.locator('meta[name="talaria-host"]')).toHaveAttribute('content', 'browser');
  expect(page.url()).not.toContain('token');
  expect(page.url().startsWith(mode.address)).toBe(true);
  await expect(engineUp(page)).toBeVisible();
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  expect(await page.evaluate('document.cookie')).toBe('');
});

test.describe('without a session', () => {
  test.use({ allowedProblems: [/401/] });

  // Bug: an address without a token is a dead end; its page breaks its own policy.
  test('the page says how to get in, and a new link lets in', async ({ page, mode, context, problems }) => {
    await context.clearCookies();
    await page.goto(mode.address);
    await expect(page.getByText('npm start')).toBeVisible();
    expect(problems.filter((problem) => /Content Security Policy/.test(problem))).toEqual([]);
    await page.goto(await mode.newLink());
    await expect(engineUp(page)).toBeVisible();
  });
});

// Bug: after a crash and a restart, the old page goes on as if it was let in, or never tells why it cannot; data is lost.
test('a page that was open when browser mode was killed gets in again by the new link', async ({ page, mode }) => {
  await expect(engineUp(page)).toBeVisible();
  await (await mode.client()).settings.update({ theme: 'dark' });
  const link = await mode.restart('kill');
  await page.goto(link);
  await expect(engineUp(page)).toBeVisible();
  expect((await (await mode.client()).settings.get()).theme).toBe('dark');
});
