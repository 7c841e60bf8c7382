import { expect, test } from '../../drivers/shell.ts';
import { engineClient } from './page.ts';

test('the window shows the page of the bundle, and the page reaches the engine through its port', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  await expect(page.locator('meta[name="talaria-host"]')).toHaveAttribute('content', 'desktop');
  const client = await engineClient(page);
  const info = await client.app.info();
  expect(info).toMatchObject({ host: 'desktop', home: shell.home });
  const versions = await shell.evaluate(({ app }) => ({ app: app.getVersion(), url: 'see below' }), null);
  expect(info.version).toBe(versions.app);
  const urls = await shell.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.webContents.getURL()), null);
  expect(urls).toEqual(['app://bundle/']);
});
