import { expect, test } from '../../drivers/browser-mode.ts';
import { type FakeModel, startFakeModel } from '../../fakes/fake-model.ts';
import { say, think, together } from '../../fakes/steps.ts';
import { runState, startDemoRun } from '../../fixtures/page.ts';
import { outputFiles } from '../../fixtures/runs.ts';

const withFake = test.extend<{ fake: FakeModel }>({
  fake: async ({}, use) => {
    const fake = await startFakeModel();
    await use(fake);
    await fake.close();
  },
});

// Bug: a crash in the middle of a run loses prompts, runs some twice, or leaves the page believing that the run goes on.
withFake('after kill -9 in a run, the page says so, leads back in, and Resume ends with one trajectory per prompt', async ({ page, mode, home, fake }) => {
  // The first half is answered at once, the rest not before the crash.
  let asked = 0;
  fake.respond(() => together(think('Hm.'), say('Done.'), ++asked > 8 ? { gate: { name: 'crash' } } : {}));
  const client = await mode.client();
  await client.settings.saveProvider({ name: 'Teacher', baseUrl: fake.url, defaultModel: 'fake-model' });
  const { providers } = await client.settings.get();
  const provider = providers.find(({ name }) => name === 'Teacher')?.id ?? '';
  const { demoDataset } = await client.runs.options();
  const { id } = await client.runs.start({ datasetFile: demoDataset, runName: 'crashed', provider, model: 'fake-model', numWorkers: 2 });
  await page.goto(`${mode.address}#/batch/${id}`);
  const numbers = page.getByRole('region', { name: 'Numbers' });
  await expect(numbers.getByText('completed 8', { exact: true })).toBeVisible();
  await fake.waitForChats(10);

  await mode.kill();
  await expect(page.getByRole('status').filter({ hasText: 'The engine is away. Reconnecting…' })).toBeVisible();
  await expect(page.getByRole('contentinfo', { name: 'Status' })).toContainText('Engine away');
  fake.release('crash');
  const link = await mode.start();
  const refused = page.getByRole('status').filter({ hasText: 'This page is no longer let in.' });
  await expect(refused).toBeVisible({ timeout: 20_000 });
  await expect(refused).toContainText('npm start');

  await page.goto(link);
  await page.goto(`${mode.address}#/batch/${id}`);
  await expect(runState(page)).toHaveText('interrupted');
  await expect(page.getByText('The engine stopped while this run was going on.')).toBeVisible();
  await expect(numbers.getByText('completed 8', { exact: true })).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Resume' }).first().click();
  await expect(runState(page)).toHaveText('completed', { timeout: 20_000 });
  await expect(numbers.getByText('completed 16', { exact: true })).toBeVisible();

  const indexes = Array.from({ length: 16 }, (_, i) => i);
  const byIndex = (rows: { prompt_index?: unknown }[]): unknown[] => rows.map((row) => row.prompt_index).toSorted((a, b) => Number(a) - Number(b));
  const files = outputFiles(home, 'crashed');
  expect(byIndex(files.trajectories)).toEqual(indexes);
  expect(byIndex(files.batches)).toEqual(indexes);
  const after = await (await mode.client()).trajectories.list({ filter: { runId: id }, limit: 100 });
  expect(after.items.map((item) => item.promptIndex).toSorted((a, b) => Number(a) - Number(b))).toEqual(indexes);
  // Eight before the crash, eight after it; the two that were open then had not been recorded.
  expect(fake.counts.chats).toBe(18);
});

// Bug: a page that was reloaded shows a run that stands still, or the reload stops it.
test('a reload in the middle of a run goes on watching', async ({ page }) => {
  await startDemoRun(page, 2);
  const numbers = page.getByRole('region', { name: 'Numbers' });
  await expect(numbers.getByText(/^completed [1-9]/)).toBeVisible();
  await page.reload();
  await expect(runState(page)).toHaveText('running');
  const done = numbers.getByText(/^completed \d+$/);
  const before = Number(/\d+/.exec(await done.innerText())?.[0]);
  await expect.poll(async () => Number(/\d+/.exec(await done.innerText())?.[0]), { timeout: 20_000 }).toBeGreaterThan(before);
  await expect(page.getByRole('button', { name: /turn \d+ · / }).first()).toBeVisible();
});

// Bug: leaving the screen of a run stops it, or what one was typing elsewhere is lost when the engine comes back.
test('what was typed in the form survives the loss of the engine', async ({ page, mode }) => {
  await page.goto(`${mode.address}#/batch/new?demo=1`);
  const name = page.getByLabel('Name of the run');
  await name.fill('typed-before');
  await mode.kill();
  await expect(page.getByRole('status').filter({ hasText: 'The engine is away.' })).toBeVisible();
  await expect(name).toHaveValue('typed-before');
  await name.fill('typed-while-away');
  await page.goto(await mode.start());
  await page.goto(`${mode.address}#/batch/new?demo=1`);
  await expect(name).toHaveValue('typed-while-away');
});
