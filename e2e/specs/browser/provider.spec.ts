import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { type FakeModel, startFakeModel } from '../../fakes/fake-model.ts';
import { callTool, fail, say, think, together } from '../../fakes/steps.ts';
import { goTo, openNewRun, pickFile, runState } from '../../fixtures/page.ts';
import { outputFiles, promptLines } from '../../fixtures/runs.ts';

const KEY = 'sk-planted-7c1f90e2b4aa';
const WRONG_KEY = 'sk-wrong-5510d9c8e7bb';

const test = base.extend<{ fake: FakeModel }>({
  fake: async ({}, use) => {
    const fake = await startFakeModel({ apiKey: KEY, models: ['teacher-small', 'teacher-large'], respond: () => together(think('Easy.'), say('Done.')) });
    await use(fake);
    await fake.close();
  },
});

async function addProvider(page: Page, baseUrl: string, key: string, test = false): Promise<void> {
  await goTo(page, 'Settings');
  await page.getByRole('button', { name: 'Add a provider' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a provider' });
  await dialog.getByLabel('Name').fill('Teacher');
  await dialog.getByLabel('Base URL').fill(baseUrl);
  await dialog.getByLabel('API key').fill(key);
  await dialog.getByLabel('Default model').fill('teacher-large');
  if (test) return;
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
}

/** Starts a run of so many prompts with the provider; ends on the run's screen. */
async function startRun(page: Page, name: string, prompts: number, workers = 1): Promise<void> {
  await openNewRun(page);
  await pickFile(page, 'prompts.jsonl', promptLines(prompts));
  await page.getByLabel('Name of the run').fill(name);
  await page.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: /^Teacher/ }).click();
  await expect(page.getByRole('combobox', { name: 'Model' })).toHaveValue('teacher-large');
  await page.getByLabel('Workers').fill(String(workers));
  await page.getByRole('button', { name: `Run ${prompts} prompts` }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
}

/** Listens on the first of these ports that is free: only they are looked at. */
async function listenOnOneOf(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    server.once('listening', () => resolve(true)).once('error', () => resolve(false));
    server.listen(port, '127.0.0.1');
    const isListening = await promise;
    server.removeAllListeners('listening').removeAllListeners('error');
    if (isListening) return port;
  }
  throw new Error(`None of the ports ${ports.join(', ')} is free.`);
}

/** The files of the home that contain a text, as paths inside it. One that is gone before it was read was on its way to another name. */
function filesWith(home: string, text: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && readFileSync(path).includes(text))
    .map((path) => path.slice(home.length + 1));
}

// Bug: a test that says "OK" for anything, or does not say what is wrong.
test('the test of a provider says OK with the latency, or what is wrong', async ({ page, fake }) => {
  await addProvider(page, fake.url, KEY, true);
  const dialog = page.getByRole('dialog', { name: 'Add a provider' });
  const check = dialog.getByRole('button', { name: 'Test', exact: true });
  await check.click();
  await expect(dialog.getByText('2 models', { exact: false }).first()).toBeVisible();
  await expect(dialog.getByText(/\d\s?m?s · 2 models/)).toBeVisible();

  await dialog.getByLabel('API key').fill(WRONG_KEY);
  await check.click();
  await expect(dialog.getByText(/refused the key \(401\)/)).toBeVisible();
  await expect(dialog.getByText('Check that the key is complete and still valid', { exact: false })).toBeVisible();

  await dialog.getByLabel('API key').fill('');
  await check.click();
  await expect(dialog.getByText(/wants an API key/)).toBeVisible();

  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await dialog.getByLabel('Base URL').fill(`http://127.0.0.1:${port}/v1`);
  await check.click();
  await expect(dialog.getByText(new RegExp(`Nothing listens.*${port}`))).toBeVisible();
  await dialog.getByLabel('Base URL').fill('no address');
  await expect(dialog.getByLabel('Base URL')).toHaveAttribute('aria-invalid', 'true');
  await expect(check).toBeDisabled();
});

// Bug: limits that were set are not kept, a wrong one is refused without a word, or the fallback is never asked.
test('limits and a fallback: wrong ones are said by their field, right ones hold', async ({ page, fake, home }) => {
  const spare = await startFakeModel({ models: ['spare-1'], respond: () => say('From the spare.') });
  try {
    writeFileSync(join(home, 'config.yaml'), `providers:\n  spare:\n    name: Spare\n    base_url: ${spare.url}\n`);
    await page.reload();
    await addProvider(page, fake.url, KEY, true);
    const dialog = page.getByRole('dialog', { name: 'Add a provider' });
    await dialog.getByRole('button', { name: 'Limits and fallback' }).click();
    await dialog.getByLabel('Requests at the same time').fill('0');
    await expect(dialog.getByText('At least 1, or nothing for no limit.')).toBeVisible();
    await dialog.getByLabel('Requests at the same time').fill('1');
    await dialog.getByLabel('Fallback').fill('nowhere/x');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByText(/no provider "nowhere"/)).toBeVisible();
    await dialog.getByLabel('Fallback').fill('spare/');
    await page.getByRole('option', { name: 'spare/spare-1' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toBeHidden();
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toMatch(/teacher:[\s\S]*concurrency: 1\n\s+fallback: spare\/spare-1/);

    fake.respond(() => fail(429, { retryAfter: 300 }));
    await startRun(page, 'saved', 3, 3);
    await expect(runState(page)).toHaveText('completed', { timeout: 20_000 });
    expect(spare.counts.chats).toBe(3);
    expect(fake.counts).toMatchObject({ chats: 1, mostOpen: 1 });

    await goTo(page, 'Settings');
    await page.getByRole('button', { name: 'Change Teacher' }).click();
    const change = page.getByRole('dialog', { name: 'Change Teacher' });
    await expect(change.getByLabel('Fallback')).toHaveValue('spare/spare-1');
    await expect(change.getByLabel('Requests at the same time')).toHaveValue('1');
  } finally {
    await spare.close();
  }
});

// Bug: routing is offered for servers that refuse it, or lost on saving.
test('OpenRouter has a routing of its own', async ({ page, home }) => {
  await goTo(page, 'Settings');
  await page.getByRole('button', { name: 'Change OpenAI' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Limits and fallback' }).click();
  await expect(page.getByRole('dialog').getByText('OpenRouter routing')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Change OpenRouter' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change OpenRouter' });
  await dialog.getByRole('button', { name: 'Limits and fallback' }).click();
  await dialog.getByLabel('First try').fill('anthropic, deepinfra');
  await dialog.getByRole('combobox', { name: 'Prefer' }).click();
  await page.getByRole('option', { name: 'the cheapest' }).click();
  await dialog.getByText('Only providers that keep no prompts').click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  const yaml = readFileSync(join(home, 'config.yaml'), 'utf8');
  expect(yaml).toContain('data_collection: deny');
  expect(yaml).toMatch(/order:\s+- anthropic\s+- deepinfra/);
  await page.getByRole('button', { name: 'Change OpenRouter' }).click();
  await dialog.getByRole('button', { name: 'Reset to the defaults' }).click();
  await expect(dialog).toBeHidden();
  expect(readFileSync(join(home, 'config.yaml'), 'utf8')).not.toContain('anthropic');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => readFileSync(join(home, 'config.yaml'), 'utf8')).toContain('anthropic');
});

// Bug: a server that runs on this machine has to be typed in by hand, or is added twice.
test('local servers are found and added', async ({ page }) => {
  const local = createHttpServer((request, response) => {
    const known = request.url === '/v1/models' ? { data: [{ id: 'tiny-1', owned_by: 'vllm', max_model_len: 32_768 }] } : null;
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(known ?? {}));
  });
  const port = await listenOnOneOf(local, [8081, 8001, 5001, 4891]);
  try {
    await goTo(page, 'Settings');
    await page.getByRole('button', { name: 'Find local servers' }).click();
    const row = page.getByRole('list', { name: 'Servers on this machine' }).getByRole('listitem').filter({ hasText: `127.0.0.1:${port}` });
    await expect(row).toContainText('tiny-1 (32.8k)');
    await row.getByRole('button', { name: 'Add vLLM' }).click();
    await expect(row.getByText('in the list')).toBeVisible();
    await row.getByRole('button', { name: /^Change vLLM/ }).click();
    const dialog = page.getByRole('dialog', { name: /^Change vLLM/ });
    await expect(dialog.getByLabel('Base URL')).toHaveValue(`http://127.0.0.1:${port}/v1`);
    await expect(dialog.getByLabel('Default model')).toHaveValue('tiny-1');
  } finally {
    local.closeAllConnections();
    local.close();
  }
});

// Bug: a key comes back to the page, or lands in a file that people share.
test('a saved key works, and is nowhere but in .env', async ({ page, mode, home, fake }) => {
  const received: string[] = [];
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => received.push(payload.toString())));
  await page.reload();
  await addProvider(page, fake.url, KEY);
  const row = page.getByRole('listitem').filter({ hasText: 'Teacher' });
  await expect(row.getByText('key set')).toBeVisible();
  await row.getByRole('button', { name: 'Test Teacher' }).click();
  await expect(row.getByText(/2 models$/)).toBeVisible();
  await startRun(page, 'keyed', 2);
  await expect(runState(page)).toHaveText('completed', { timeout: 20_000 });
  expect(fake.chats.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);

  await goTo(page, 'Settings');
  await row.getByRole('button', { name: 'Change Teacher' }).click();
  await expect(page.getByRole('dialog').getByLabel('API key')).toHaveValue('');
  expect(await page.content()).not.toContain(KEY);
  expect(received.length).toBeGreaterThan(0);
  expect(received.filter((frame) => frame.includes(KEY))).toEqual([]);
  expect(mode.output).not.toContain(KEY);
  expect(filesWith(home, KEY)).toEqual(['.env']);
  await mode.stop();
  expect(filesWith(home, KEY)).toEqual(['.env']);
});

// Bug: a refused key burns through the whole dataset, or the reason is only in a log.
test('a 401 stops the run at once and shows why', async ({ page, fake, home }) => {
  await addProvider(page, fake.url, WRONG_KEY);
  await startRun(page, 'refused', 20, 2);
  await expect(runState(page)).toHaveText('stopped');
  await expect(page.getByText(/401|key/).first()).toBeVisible();
  await expect(page.getByRole('main').getByRole('status').filter({ hasText: /refused|Incorrect|invalid/i })).toBeVisible();
  expect(fake.requests.filter(({ path }) => path.endsWith('/chat/completions')).length).toBeLessThanOrEqual(2);
  await expect(page.getByRole('region', { name: 'Numbers' }).getByText(/^waiting \d+/)).toBeVisible();
  expect(outputFiles(home, 'refused').trajectories).toEqual([]);
  await goTo(page, 'Batch');
  await expect(page.getByRole('row').filter({ hasText: 'refused' }).getByText('stopped')).toBeVisible();
});

// Bug: a busy provider costs prompts instead of time.
test('a 429 with Retry-After waits and goes on', async ({ page, fake, home }) => {
  fake.script(fail(429, { retryAfter: 1 }));
  await addProvider(page, fake.url, KEY);
  await startRun(page, 'busy', 3);
  await expect(runState(page)).toHaveText('completed', { timeout: 20_000 });
  await expect(page.getByRole('region', { name: 'Numbers' }).getByText('completed 3', { exact: true })).toBeVisible();
  expect(fake.counts.chats).toBe(4);
  expect(outputFiles(home, 'busy').trajectories).toHaveLength(3);
});

// Bug: a button that says it has stopped the work while the work goes on, or loses what was done.
test('pause, resume and cancel do what they say, and the state shown is the true one', async ({ page, fake, home }) => {
  fake.respond(({ turnsSinceUser }) => (turnsSinceUser === 0 ? together(think('Look.'), callTool('terminal', { command: 'echo here' }), { gate: { name: 'first' } }) : together(think('Seen.'), say('Done.'))));
  await addProvider(page, fake.url, KEY);
  await startRun(page, 'steered', 6);
  await fake.waitForChats(1);
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(runState(page)).toHaveText('pausing');
  await expect(page.getByText('Pausing: 1 running prompt comes to its end first, no new one starts.')).toBeVisible();
  fake.release('first');
  await expect(runState(page)).toHaveText('paused');
  const numbers = page.getByRole('region', { name: 'Numbers' });
  await expect(numbers.getByText('completed 1', { exact: true })).toBeVisible();
  await expect(numbers.getByText('waiting 5', { exact: true })).toBeVisible();
  await expect.poll(() => fake.counts).toMatchObject({ chats: 2, open: 0 });

  fake.respond(() => together(think('Hm.'), say('Never.'), { gate: { name: 'second' } }));
  await page.getByRole('button', { name: 'Resume' }).first().click();
  await expect(runState(page)).toHaveText('running');
  await fake.waitForChats(3);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(runState(page)).toHaveText('cancelled');
  await expect.poll(() => fake.counts.open).toBe(0);
  expect(fake.counts.chats).toBe(3);

  fake.respond(() => together(think('Go on.'), say('Done.')));
  await page.getByRole('main').getByRole('button', { name: 'Resume' }).first().click();
  await expect(runState(page)).toHaveText('completed', { timeout: 20_000 });
  await expect(numbers.getByText('completed 6', { exact: true })).toBeVisible();
  expect(outputFiles(home, 'steered').trajectories.map((row) => row.prompt_index).toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
});
