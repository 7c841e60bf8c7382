import { expect, test } from '../../drivers/shell.ts';
import type { Shell } from '../../drivers/shell.ts';

/** From here on main's calls to the system's browser are noted instead of made. */
async function noteOpened(shell: Shell): Promise<() => Promise<string[]>> {
  await shell.evaluate(({ shell: system }) => {
    const opened: string[] = [];
    Object.assign(globalThis, { openedBySpec: opened });
    system.openExternal = (url) => {
      opened.push(url);
      return Promise.resolve();
    };
  }, null);
  return () => shell.evaluate(() => (globalThis as unknown as { openedBySpec: string[] }).openedBySpec, null);
}

const link = (href: string, target = ''): string => `{
  const a = document.createElement('a');
  a.href = ${JSON.stringify(href)}; a.target = ${JSON.stringify(target)}; a.textContent = 'link';
  document.body.append(a); a.click(); a.remove();
}`;

test('the page stays where it is, and only honest web and mail links reach the system', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const opened = await noteOpened(shell);
  // The screen is in the hash, and the page chooses one when it has started.
  const address = (): string => page.url().split('#')[0] ?? '';
  const url = address();

  await page.evaluate(link('https://example.com/plain'));
  await expect.poll(opened).toEqual(['https://example.com/plain']);
  await page.evaluate(link('https://example.com/new', '_blank'));
  await expect.poll(opened).toHaveLength(2);
  await page.evaluate(`void window.open('https://example.com/script')`);
  await expect.poll(opened).toHaveLength(3);

  for (const href of ['https://user@example.com/', 'http://example.com/', 'file:///etc/passwd', 'data:text/html,x', 'app://elsewhere/']) {
    await page.evaluate(`void window.open(${JSON.stringify(href)})`).catch(() => undefined);
    await page.evaluate(link(href)).catch(() => undefined);
  }
  // A last honest one: what came before it has been decided by then.
  await page.evaluate(`void window.open('mailto:someone@example.com')`);
  await expect.poll(opened).toEqual([
    'https://example.com/plain',
    'https://example.com/new',
    'https://example.com/script',
    'mailto:someone@example.com',
  ]);
  expect(address()).toBe(url);
  expect(await shell.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length, null)).toBe(1);
});

test('the developer tools and reload are in the menu only while the app is not packaged', async ({ launch }) => {
  const shell = await launch();
  await shell.firstWindow();
  const items = await shell.evaluate(({ Menu }) => {
    const roles = (menu: Electron.Menu | null | undefined): string[] => (menu?.items ?? []).flatMap((item) => [String(item.role ?? item.id).toLowerCase(), ...roles(item.submenu)]);
    return roles(Menu.getApplicationMenu());
  }, null);
  expect(items).toEqual(expect.arrayContaining(['toggledevtools', 'reload', 'restart-engine']));
});

test('redirects to elsewhere and webviews are refused', async ({ launch }) => {
  const shell = await launch();
  await shell.firstWindow();
  // Sent by hand: the page's policy leaves no way to cause them.
  const prevented = await shell.evaluate(({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents;
    const send = (event: string, url: string): boolean => {
      let stopped = false;
      contents?.emit(event, { url, isMainFrame: true, preventDefault: () => (stopped = true) });
      return stopped;
    };
    return {
      redirectAway: send('will-redirect', 'https://example.com/'),
      redirectToLookalike: send('will-redirect', 'app://bundle.example.com/'),
      redirectHome: send('will-redirect', 'app://bundle/'),
      innerFrame: send('will-frame-navigate', 'https://example.com/'),
      webview: send('will-attach-webview', ''),
    };
  }, null);
  expect(prevented).toEqual({ redirectAway: true, redirectToLookalike: true, redirectHome: false, innerFrame: true, webview: true });
});
