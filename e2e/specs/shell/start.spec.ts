import { expect, test } from '../../drivers/shell.ts';
import { engineClient, firstPage } from './page.ts';

test('the window shows the page of the bundle, and the page reaches the engine through its port', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  await expect(page.locator('meta[name="talaria-host"]')).toHaveAttribute('content', 'desktop');
  const client = await engineClient(page);
  const info = await client.app.info();
  expect(info).toMatchObject({ host: 'desktop', home: shell.home });
  expect(info.version).toBe(await shell.evaluate(({ app }) => app.getVersion(), null));
  const urls = await shell.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.webContents.getURL()), null);
  expect(urls.map((url) => url.split('#')[0])).toEqual(['app://bundle/']);
});

test('the real page asks for nothing but its own files and breaks no rule of its policy', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  await page.addInitScript(`
    globalThis.specViolations = [];
    document.addEventListener('securitypolicyviolation', (event) => specViolations.push(event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample));
  `);
  const errors: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.reload();
  for (const screen of ['library', 'batch', 'batch/new', 'settings']) {
    await page.evaluate(`location.hash = '#/${screen}'`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
  expect(await page.evaluate('specViolations')).toEqual([]);
  expect(errors).toEqual([]);
  expect(shell.requests().filter((url) => !/^(?:app:\/\/bundle\/|data:|blob:)/.test(url))).toEqual([]);
});
