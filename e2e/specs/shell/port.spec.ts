import type { Frame, Page } from '@playwright/test';
import { expect, test } from '../../drivers/shell.ts';
import { takePort } from './page.ts';

/** Puts a real frame into the page (of the page's own origin: others the policy refuses) that notes every port it sees. */
async function addFrame(page: Page): Promise<Frame> {
  await page.evaluate(`{
    globalThis.seenBySpec = [];
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const take = (event) => { if (String(event.data?.type).startsWith('talaria:')) seenBySpec.push(event.data.type); };
    frame.contentWindow.addEventListener('message', take, true);
    addEventListener('message', take, true);
  }`);
  const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
  if (frame === undefined) throw new Error('The frame did not come up');
  return frame;
}

test('a frame inside the page gets no port by asking itself or the page around it', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const frame = await addFrame(page);
  await frame.evaluate(`postMessage({ type: 'talaria:connect' }, '*')`);
  await frame.evaluate(`parent.postMessage({ type: 'talaria:connect' }, '*')`);
  // The page's own request comes last, so what the frame would have got is there with its port.
  await takePort(page);
  const seen = await page.evaluate<string[]>('seenBySpec');
  expect(seen.filter((type) => type === 'talaria:port')).toHaveLength(1);
});

test('main refuses a port to a frame, even to one that can send to main', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'Electron gives frames no preload; only the substitute can be made to');
  const shell = await launch({ framePreload: `require('electron').ipcRenderer.send('talaria:connect');` });
  const page = await shell.firstWindow();
  await takePort(page);
  expect(shell.output()).not.toContain('Refused a port');
  await addFrame(page);
  await expect.poll(() => shell.output()).toContain('Refused a port');
});

test('the preload leaves nothing in the page but its two message listeners', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  await takePort(page);
  const leaks = await page.evaluate<string[]>(
    `['require', 'module', 'process', 'electron', 'ipcRenderer', '__substitute', '__substituteDeliver', 'Buffer', 'global'].filter((name) => name in window)`,
  );
  expect(leaks).toEqual([]);
});

test('a reload gives the page a new port and closes the old one', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  await takePort(page);
  await page.reload();
  const port = await takePort(page);
  expect(port).toBe(0);
});
