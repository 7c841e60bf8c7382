import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { goTo } from '../../fixtures/page.ts';

const KEY = 'BSA-planted-91c0d7e2a5';

/** A SearXNG that finds one thing, or refuses JSON as one with its first settings does. */
const test = base.extend<{ searx: { url: string; refuse: boolean } }>({
  searx: async ({}, use) => {
    const searx = { url: '', refuse: false };
    const server: Server = createServer((_, response) => {
      if (searx.refuse) response.writeHead(403).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results: [{ title: 'T', url: 'https://a.example/', content: 'C' }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    searx.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await use(searx);
    server.closeAllConnections();
    server.close();
  },
});

const config = (home: string): string => readFileSync(join(home, 'config.yaml'), 'utf8');

// Bug: a switch that shows what was clicked and not what is kept, or drops the comments of config.yaml.
test('toolsets are switched one by one and several at once', async ({ page, home }) => {
  writeFileSync(join(home, 'config.yaml'), 'toolsets:\n  - terminal # mine\n  - file\n');
  await goTo(page, 'Settings');
  const section = page.getByRole('region', { name: 'Tools' });
  await expect(section.getByRole('switch', { name: 'terminal' })).toBeChecked();
  const web = section.getByRole('switch', { name: 'web' });
  await expect(web).not.toBeChecked();
  await web.press('Space');
  await expect(web).toBeChecked();
  expect(config(home)).toContain('- terminal # mine\n  - file\n  - web\n');
  await expect(section.getByRole('button', { name: 'debugging' })).toHaveAttribute('aria-pressed', 'true');
  await section.getByRole('button', { name: 'all' }).click();
  await expect(section.getByRole('switch', { name: 'session_search' })).toBeChecked();
  // Each says in words what it is for (two had only their name).
  for (const words of ['Commands in the workspace', 'Remembering across chats', 'Using and writing skills', 'Giving tasks to sub-agents']) await expect(section.getByText(words)).toBeVisible();
  await section.getByRole('button', { name: 'debugging' }).click();
  await expect(section.getByRole('switch', { name: 'terminal' })).not.toBeChecked();
  await expect(section.getByRole('switch', { name: 'todo' })).toBeChecked();
  await page.reload();
  await expect(section.getByRole('switch', { name: 'terminal' })).not.toBeChecked();
});

// Bug: a tool is silently absent; or the search looks set up and is not.
test('web_search says what it misses until a service works', async ({ page, searx, home }) => {
  await goTo(page, 'Settings');
  const missing = page.getByText('web_search is not offered: set up a search service below.');
  await expect(missing).toBeVisible();
  const section = page.getByRole('region', { name: 'Web' });
  await section.getByRole('combobox', { name: 'Search service' }).click();
  await page.getByRole('option', { name: /SearXNG/ }).click();
  const address = section.getByLabel('Address of SearXNG');
  await address.fill('no address');
  await section.getByRole('button', { name: 'Save' }).click();
  await expect(section.getByText(/must begin with http/)).toBeVisible();
  searx.refuse = true;
  await address.fill(searx.url);
  await section.getByRole('button', { name: 'Test search' }).click();
  await expect(section.getByText(/Add "json" to search.formats/)).toBeVisible();
  searx.refuse = false;
  await section.getByRole('button', { name: 'Test search' }).click();
  await expect(section.getByText('The search works.')).toBeVisible();
  await expect(missing).toBeVisible();
  await address.press('Enter');
  await expect(missing).toBeHidden();
  expect(config(home)).toContain(`searxng_url: ${searx.url}`);
});

// Bug: the key of a search service comes back to the page or lands in config.yaml.
test('a key is kept, never shown, and can be forgotten', async ({ page, home }) => {
  const received: string[] = [];
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => received.push(payload.toString())));
  await page.reload();
  await goTo(page, 'Settings');
  const section = page.getByRole('region', { name: 'Web' });
  await section.getByRole('combobox', { name: 'Search service' }).click();
  await page.getByRole('option', { name: /Brave/ }).click();
  const field = section.getByLabel('Key of Brave Search');
  await field.fill(KEY);
  await section.getByRole('button', { name: 'Save' }).click();
  await expect(field).toHaveAttribute('placeholder', 'set; type to replace it');
  await expect(field).toHaveValue('');
  expect(readFileSync(join(home, '.env'), 'utf8')).toContain(`BRAVE_API_KEY=${KEY}`);
  expect(config(home)).not.toContain(KEY);
  expect(received.length).toBeGreaterThan(0);
  expect(received.filter((frame) => frame.includes(KEY))).toEqual([]);
  await section.getByRole('button', { name: 'Forget the key' }).click();
  await expect(field).toHaveAttribute('placeholder', 'paste a key');
  expect(readFileSync(join(home, '.env'), 'utf8')).not.toContain(KEY);
});

// Bug: what was allowed once can never be taken back, or an undo loses it.
test('what was allowed for good is listed, revoked and restored', async ({ page, home }) => {
  writeFileSync(join(home, 'config.yaml'), 'approvals:\n  allow:\n    - read:/srv/notes # mine\n    - write:/srv/work\n');
  await goTo(page, 'Settings');
  const section = page.getByRole('region', { name: 'Commands' });
  await expect(section.getByText('Read files in /srv/notes')).toBeVisible();
  await section.getByRole('button', { name: /^Revoke: .*\/srv\/work/ }).click();
  await expect(section.getByText('/srv/work')).toBeHidden();
  expect(config(home)).toBe('approvals:\n  allow:\n    - read:/srv/notes # mine\n');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(section.getByText(/\/srv\/work/)).toBeVisible();
  expect(config(home)).toContain('- write:/srv/work');
  await section.getByRole('switch', { name: 'Ask before dangerous commands' }).click();
  await expect(section.getByText('Chats run dangerous commands without asking.')).toBeVisible();
  expect(config(home)).toContain('mode: off');
});
