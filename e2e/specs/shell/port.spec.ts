import type { Frame, Page } from '@playwright/test';
import { expect, test } from '../../drivers/shell.ts';
import { firstPage, takePort } from './page.ts';

/** Puts a real frame into the page, of the page's own origin: others the policy refuses. */
async function addFrame(page: Page): Promise<Frame> {
  await page.evaluate(`{
    const frame = document.createElement('iframe');
    document.body.append(frame);
    frame.contentWindow.seen = [];
    frame.contentWindow.addEventListener('message', (event) => frame.contentWindow.seen.push(event.data.type));
  }`);
  const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
  if (frame === undefined) throw new Error('The frame did not come up');
  return frame;
}

test('a frame inside the page gets no port by asking itself or the page around it', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  // The page's own.
  await expect.poll(() => page.evaluate('specPortsSeen')).toBe(1);
  const frame = await addFrame(page);
  await frame.evaluate(`postMessage({ type: 'talaria:connect' }, '*')`);
  await frame.evaluate(`parent.postMessage({ type: 'talaria:connect' }, '*')`);
  // Asked for last: what the frame would have got has come before it.
  await takePort(page);
  expect(await page.evaluate('specPortsSeen')).toBe(2);
  expect(await frame.evaluate('seen')).toEqual(['talaria:connect']);
});

test('main refuses a port to a frame, even to one that can send to main', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'Electron gives frames no preload; only the substitute can be made to');
  const shell = await launch({ framePreload: `require('electron').ipcRenderer.send('talaria:connect');` });
  const page = await firstPage(shell);
  await takePort(page);
  expect(shell.output()).not.toContain('Refused a port');
  await addFrame(page);
  await expect.poll(() => shell.output()).toContain('Refused a port');
});

test('the preload leaves nothing in the page but its two message listeners', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  await takePort(page);
  const leaks = await page.evaluate<string[]>(
    `['require', 'module', 'process', 'electron', 'ipcRenderer', '__substitute', '__substituteDeliver', 'Buffer', 'global'].filter((name) => name in window)`,
  );
  expect(leaks).toEqual([]);
});

test('a reload gives the page a new port and closes the old one', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  await takePort(page);
  await page.reload();
  const port = await takePort(page);
  expect(port).toBe(0);
});
