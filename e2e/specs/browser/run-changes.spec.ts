import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { type FakeModel, startFakeModel } from '../../fakes/fake-model.ts';
import { say, think, together } from '../../fakes/steps.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { command, goTo, runState } from '../../fixtures/page.ts';
import { outputFiles, runUntilEnd } from '../../fixtures/runs.ts';

const test = base.extend<{ fake: FakeModel; datasetFile: string }>({
  fake: async ({}, use) => {
    const fake = await startFakeModel();
    fake.respond(() => together(think('Let me count.'), say('The answer is 4.')));
    await use(fake);
    await fake.close();
  },
  datasetFile: async ({ home }, use) => {
    const path = join(home, 'rows.jsonl');
    writeFileSync(path, [4, 5, 4, 6].map((answer, i) => `${JSON.stringify({ prompt: `Count ${i}`, answer: String(answer) })}\n`).join(''));
    await use(path);
  },
});
test.use({ contextOptions: { reducedMotion: 'reduce' } });

// Bug: other rules are not applied, ask the model again, or the numbers on the screen stay the old ones; a wrong rule is only told by the engine.
test('a finished run is scored again by other rules, without a model call', async ({ page, mode, home, fake, datasetFile }) => {
  await page.setViewportSize({ width: 1024, height: 640 });
  await runUntilEnd(await mode.client(), { datasetFile, runName: 'scored', model: 'm', baseUrl: fake.url, scoring: ['numeric'] });
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: 'scored', exact: true }).click();
  const rewards = page.getByRole('region', { name: 'Rewards' });
  await expect(rewards.getByText('mean 0.5')).toBeVisible();
  await command(page, 'score again');
  const dialog = page.getByRole('dialog', { name: 'Score again' });
  await dialog.getByRole('combobox').fill('no such rule');
  await dialog.getByRole('combobox').press('Enter');
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByRole('combobox').fill('turns*2');
  await dialog.getByRole('combobox').press('Enter');
  await expectAccessible(page, 'score again');
  const before = fake.counts.chats;
  await dialog.getByRole('button', { name: 'Score again' }).click();
  await expect(dialog).toBeHidden();
  await expect(rewards.getByText('mean 2.5')).toBeVisible();
  await expect(rewards.getByText('turns', { exact: true })).toBeVisible();
  expect(fake.counts.chats).toBe(before);
  await expect.poll(() => outputFiles(home, 'scored').trajectories.length).toBe(4);
});

// Bug: a run that has spent its budget cannot go on from the page, goes on without being asked, or proposes a budget that is spent already.
test('a run that has spent its budget goes on with a larger one', async ({ page, mode, fake, datasetFile }) => {
  const client = await mode.client();
  await client.spend.setPrice({ model: 'dear', price: { input: 1000, output: 1000 } });
  const stopped = await runUntilEnd(client, { datasetFile, runName: 'dear-run', model: 'dear', baseUrl: fake.url, numWorkers: 1, budgetUsd: 0.000001 });
  expect(stopped).toMatchObject({ state: 'paused', states: { completed: 1, pending: 3 } });
  await goTo(page, 'Batch');
  await expect(page.getByRole('row').filter({ hasText: 'dear-run' }).getByText(/^The budget of this run is used up/)).toBeVisible();
  await page.getByRole('link', { name: 'dear-run', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Raise the budget…' })).toBeVisible();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await expect(dialog.getByRole('button', { name: /^Resume up to \$/ })).toBeEnabled();
  await dialog.getByRole('textbox').fill('0.0001');
  await expect(dialog.getByRole('button', { name: 'Resume', exact: true })).toBeDisabled();
  await expectAccessible(page, 'raise the budget');
  await dialog.getByRole('textbox').fill(String(stopped.costUsd * 20));
  await dialog.getByRole('textbox').press('Enter');
  await expect(dialog).toBeHidden();
  await expect(runState(page)).toHaveText('completed');
  await expect(page.getByRole('region', { name: 'Numbers' }).getByText('completed 4', { exact: true })).toBeVisible();
  expect(fake.counts.chats).toBe(4);
});
