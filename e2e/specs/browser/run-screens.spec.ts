import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Client } from '#shared/contract/index.ts';
import type { RunSpecInput } from '#shared/contract/runs.ts';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { DEMO_RUN, demoTest, seededRunTest, SEEDED_RUN } from '../../fixtures/browser-homes.ts';
import { type FakeModel, startFakeModel } from '../../fakes/fake-model.ts';
import { fail, say, think, together } from '../../fakes/steps.ts';
import { goTo, runState, trajectoryRows } from '../../fixtures/page.ts';
import { outputFiles, runUntilEnd } from '../../fixtures/runs.ts';

const test = base.extend<{ fake: FakeModel }>({
  fake: async ({}, use) => {
    const fake = await startFakeModel();
    await use(fake);
    await fake.close();
  },
});

const promptOf = (messages: readonly { role: string; content?: unknown }[]): string => String(messages.findLast((m) => m.role === 'user')?.content ?? '');

function dataset(home: string, rows: readonly Record<string, unknown>[]): string {
  const path = join(home, 'rows.jsonl');
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

async function run(client: Client, fake: FakeModel, spec: Omit<RunSpecInput, 'baseUrl'>): Promise<string> {
  return (await runUntilEnd(client, { baseUrl: fake.url, numWorkers: 1, ...spec })).id;
}

const causes = (page: Page) => page.getByRole('region', { name: 'Why they did not complete' });

// Bug: a person sees that something failed and neither why nor which; a retry runs everything, or nothing; what was kept by hand is not in the files.
test('failures are told by cause with an example, shown, run again; a discarded one is kept', async ({ page, mode, home, fake }) => {
  let refuses = true;
  fake.respond(({ body }) => {
    const prompt = promptOf(body.messages);
    if (prompt.includes('Refuse') && refuses) return fail(400, { message: 'this model does not take tools' });
    return prompt.includes('Blurt') ? say('No thought went into this.') : together(think('Let me see.'), say('Done.'));
  });
  const datasetFile = dataset(home, [{ prompt: 'Fine one' }, { prompt: 'Refuse me' }, { prompt: 'Blurt it out' }, { prompt: 'Refuse me too' }]);
  await run(await mode.client(), fake, { datasetFile, runName: 'causes', model: 'm' });
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: 'causes' }).click();
  await expect(causes(page).getByText('request refused', { exact: false }).first()).toBeVisible();
  await expect(causes(page).getByRole('button', { name: /^#1 Refuse me/ })).toBeVisible();
  await expect(causes(page).getByRole('button', { name: /^#2 Blurt it out/ })).toBeVisible();

  await causes(page).getByRole('button', { name: 'Show these (request refused)' }).click();
  const list = page.getByRole('listbox', { name: 'Prompts' });
  await expect(list.getByRole('option')).toHaveCount(2);
  await expect(list.getByRole('option').filter({ hasText: 'Refuse me too' })).toBeVisible();
  await page.getByRole('button', { name: 'Show every cause, not only request refused' }).click();

  refuses = false;
  const before = fake.counts.chats;
  await causes(page).getByRole('button', { name: 'Retry 2 (request refused)' }).click();
  const numbers = page.getByRole('region', { name: 'Numbers' });
  await expect(numbers.getByText('completed 3', { exact: true })).toBeVisible();
  await expect(runState(page)).toHaveText('completed');
  expect(fake.counts.chats).toBe(before + 2);
  await expect(causes(page).getByText('request refused')).toHaveCount(0, { timeout: 15_000 });

  await causes(page).getByRole('button', { name: 'Keep anyway (no reasoning)' }).click();
  await expect(numbers.getByText('completed 4', { exact: true })).toBeVisible();
  await expect.poll(() => outputFiles(home, 'causes').trajectories.length).toBe(4);
});

// Bug: the counts that the dialog promises are not what the run becomes, or a change cannot be taken back.
test('filters of a finished run are changed with their counts in sight', async ({ page, mode, home, fake }) => {
  fake.respond(({ body }) => together(think('Let me see.'), say(promptOf(body.messages).includes('short') ? 'No.' : 'A whole sentence that says what was found.')));
  const datasetFile = dataset(home, [{ prompt: 'short' }, { prompt: 'long' }, { prompt: 'short, too' }]);
  await run(await mode.client(), fake, { datasetFile, runName: 'filtered', model: 'm' });
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: 'filtered' }).click();
  await page.getByRole('button', { name: 'Actions for filtered' }).click();
  await page.getByRole('menuitem', { name: 'Edit filters…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Filters of the run' });
  await expect(dialog.getByText('Of 3 rollouts 3 are kept, 0 discarded.')).toBeVisible();
  await dialog.getByRole('combobox').fill('too_short:20');
  await dialog.getByRole('combobox').press('Enter');
  await expect(dialog.getByText('Of 3 rollouts 1 are kept, 2 discarded.')).toBeVisible();
  await dialog.getByRole('button', { name: 'Apply: 2 out, 0 back' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('region', { name: 'Numbers' }).getByText('discarded 2', { exact: true })).toBeVisible();
  await expect.poll(() => outputFiles(home, 'filtered').trajectories.length).toBe(1);
  expect(fake.counts.chats).toBe(3);
});

// Bug: rows are compared by their place, a quadrant lists other rows than it counts, or its links lead nowhere.
test('two runs are picked in the list and compared: who solved what', async ({ page, mode, home, fake }) => {
  const solves: Record<string, string[]> = { alpha: ['one', 'two'], beta: ['two', 'three'] };
  fake.respond(({ body }) => {
    const prompt = promptOf(body.messages);
    return together(think('Let me see.'), say(solves[body.model]?.some((word) => prompt.includes(word)) ? 'yes' : 'no'));
  });
  const client = await mode.client();
  const rows = ['one', 'two', 'three', 'four'].map((word) => ({ prompt: `Is it ${word}?`, answer: 'yes' }));
  await run(client, fake, { datasetFile: dataset(home, rows), runName: 'run-alpha', model: 'alpha', scoring: ['exact'] });
  await run(client, fake, { datasetFile: dataset(home, rows.toReversed()), runName: 'run-beta', model: 'beta', scoring: ['exact'] });
  await goTo(page, 'Batch');
  await page.getByRole('checkbox', { name: 'Select run-alpha to compare' }).click();
  await page.getByRole('checkbox', { name: 'Select run-beta to compare' }).click();
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  const who = page.getByRole('group', { name: 'Who solved what' });
  for (const name of ['solved by both', 'only run-alpha', 'only run-beta', 'solved by neither']) {
    await expect(who.getByRole('button', { name: new RegExp(`^1 .*${name}$`) })).toBeVisible();
  }
  await who.getByRole('button', { name: /only run-alpha/ }).click();
  const table = page.getByRole('table', { name: 'only run-alpha' });
  await expect(table.getByRole('row')).toHaveCount(2);
  await expect(table.getByRole('cell', { name: 'Is it one?' })).toBeVisible();
  await table.getByRole('link', { name: /run-beta: not solved$/ }).click();
  await expect(page.getByRole('region', { name: 'Trajectory', exact: true }).getByRole('heading', { level: 2 })).toContainText('Is it one?');
  await expect(trajectoryRows(page)).toHaveCount(4);
});

// Bug: a report on paper has the rail beside it, is cut after the first page, or is white on black.
demoTest('a report prints whole, black on white, without the rest of the page', async ({ page, mode }) => {
  const client = await mode.client();
  const [demo] = (await client.runs.list()).items;
  await page.emulateMedia({ colorScheme: 'dark' });
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: DEMO_RUN }).click();
  await page.getByRole('button', { name: `Actions for ${DEMO_RUN}` }).click();
  await page.getByRole('menuitem', { name: 'Report' }).click();
  const report = page.getByRole('article', { name: `${DEMO_RUN}, report` });
  await expect(report.getByRole('region', { name: 'Definition (run.yaml)' })).toContainText(`run_name: ${DEMO_RUN}`);
  for (const name of ['Outcomes', 'Dataset', 'Filters', 'Why they did not complete', 'Tools', 'Tokens and cost', 'Speed and latency']) {
    await expect(report.getByRole('region', { name, exact: true })).toBeVisible();
  }
  await expect(report.getByRole('region', { name: 'Outcomes' })).toContainText(`completed${demo?.states.completed}`);
  await expect(page.getByRole('button', { name: /Print/ })).toBeVisible();

  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeHidden();
  await expect(page.getByRole('contentinfo')).toBeHidden();
  await expect(page.getByRole('button', { name: /Print/ })).toBeHidden();
  const paper = await report.evaluate((element) => ({
    ink: getComputedStyle(element).color,
    paper: getComputedStyle(element).backgroundColor,
    whole: document.documentElement.scrollHeight >= element.getBoundingClientRect().bottom + window.scrollY - 1,
    cut: element.closest('main')?.scrollHeight !== element.closest('main')?.clientHeight,
  }));
  expect(paper).toEqual({ ink: 'rgb(0, 0, 0)', paper: 'rgb(255, 255, 255)', whole: true, cut: false });
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
  expect(pdf.length).toBeGreaterThan(20_000);
});

// Bug: a run of very many rollouts draws all of them, or its list, its grid and its causes stop where the first page ends.
seededRunTest('a run of many thousand rollouts: grid, list, causes', async ({ page }) => {
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: SEEDED_RUN }).click();
  const grid = page.locator('[data-grid]');
  await expect(page.getByRole('img', { name: '20000 prompts by state; the list below has the same' })).toBeVisible();
  await expect.poll(() => grid.evaluate((el) => [el.scrollHeight > el.clientHeight, (el.querySelector('canvas')?.clientHeight ?? 0) <= 220])).toEqual([true, true]);
  await grid.evaluate((el) => el.scrollTo({ top: el.scrollHeight }));
  await page.getByRole('img', { name: /^20000 prompts/ }).hover({ position: { x: 4, y: 4 } });
  await expect(page.getByText(/^#[34]\d{3}\.0 · /)).toBeVisible();

  await expect(page.getByRole('region', { name: 'Groups' }).getByText(/^mixed /)).toBeVisible();
  await causes(page).getByRole('button', { name: 'Show these (provider limit (429))' }).click();
  const list = page.getByRole('listbox', { name: 'Prompts' });
  await expect(list.getByRole('option').first()).toContainText('provider limit (429)');
  expect(await list.getByRole('option').count()).toBeLessThan(60);
  for (const size of [400, 600]) {
    await list.evaluate((el) => el.scrollTo({ top: el.scrollHeight }));
    await expect.poll(async () => Number(await list.getByRole('option').last().getAttribute('aria-setsize'))).toBeGreaterThanOrEqual(size);
  }
  await expect(list.getByRole('option').last()).toContainText('provider limit (429)');
});
