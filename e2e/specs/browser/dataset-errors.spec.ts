import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../../drivers/browser-mode.ts';
import { dropFile, openNewRun, pickFile } from '../../fixtures/page.ts';

const BOM = '\ufeff';

const dataset = (page: Page): Locator => page.getByRole('region', { name: 'Dataset' });

/** Every line of it is one case; the numbers below count from 1 and include the blank lines. */
const HARD_FILE = [
  '{"prompt": "First"}',
  '',
  '{"prompt": "Second", "id": 2}',
  '{"prompt": broken}',
  '{"question": "No prompt here"}',
  '{"prompt": 5}',
  '   ',
  '{"prompt": "First"}',
  '["a list"]',
  '{"prompt": "  "}',
  '{"prompt": "第三个"}',
].join('\r\n');

// Bug: a bad line is dropped silently, has the wrong number, or takes good lines with it.
test('a file with BOM, CRLF, blank, broken and doubled lines shows its rows and every refused line', async ({ page }) => {
  await openNewRun(page);
  await pickFile(page, 'hard.jsonl', BOM + HARD_FILE);
  await expect(page.getByRole('heading', { name: 'hard.jsonl' })).toBeVisible();
  await expect(page.getByText('UTF-8 with BOM')).toBeVisible();
  await expect(page.getByText('1 duplicate, kept')).toBeVisible();
  await expect(page.getByText('2 blank lines')).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Prompts 4' })).toBeVisible();
  await expect(dataset(page).getByRole('listitem')).toHaveText([/^1First$/, /^3Second$/, /^8First$/, /^11第三个$/]);
  await expect(page.getByRole('button', { name: 'Run 4 prompts' })).toBeEnabled();

  await page.getByRole('tab', { name: 'Refused lines 5' }).click();
  await expect(dataset(page).getByRole('listitem')).toHaveText([
    /^4Not valid JSON at column 12: a value was expected, not "b"\..*broken/,
    /^5There is no "prompt" in this row; its columns are "question"\./,
    /^6"prompt" must be a text; here it is a number\./,
    /^9A row must be a JSON object like .* this one is a list\./,
    /^10"prompt" is empty\./,
  ]);
});

// Bug: files saved by Windows programs are refused or shown as garbage.
for (const [name, encode] of [
  ['UTF-16 LE', (text: string) => Buffer.from(BOM + text, 'utf16le')],
  ['UTF-16 BE', (text: string) => Buffer.from(BOM + text, 'utf16le').swap16()],
] as const) {
  test(`a file in ${name} works`, async ({ page }) => {
    await openNewRun(page);
    await pickFile(page, 'wide.jsonl', encode('{"prompt": "Grüße"}\r\n{"prompt": "统计日志"}\r\n'));
    await expect(page.getByText(name, { exact: true })).toBeVisible();
    await expect(dataset(page).getByRole('listitem')).toHaveText([/Grüße/, /统计日志/]);
    await expect(page.getByRole('button', { name: 'Run 2 prompts' })).toBeEnabled();
  });
}

// Bug: dropping does nothing, or the page goes away to show the file.
test('a dropped file is read as a picked one', async ({ page }) => {
  await openNewRun(page);
  await dropFile(page, 'dropped.jsonl', '{"prompt": "Dropped"}\n');
  await expect(page.getByRole('heading', { name: 'dropped.jsonl' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run 1 prompt', exact: true })).toBeEnabled();
  await page.getByRole('button', { name: 'Other file' }).click();
  await expect(page.getByText('Drop a file of prompts')).toBeVisible();
});

// Bug: a run without prompts can be started, or a useless file is answered with silence.
test('a file without one valid row says so, and cannot be run', async ({ page }) => {
  await openNewRun(page);
  const run = page.getByRole('button', { name: /^Run (?:prompts|\d)/ });
  await pickFile(page, 'empty.jsonl', '');
  await expect(page.getByRole('status').filter({ hasText: 'empty.jsonl is empty.' })).toBeVisible();
  await expect(run).toBeDisabled();
  await pickFile(page, 'sheet.xlsx', 'PK\u0003\u0004 and so on');
  await expect(page.getByRole('status').filter({ hasText: 'sheet.xlsx is a ZIP archive or spreadsheet' })).toBeVisible();
  await pickFile(page, 'broken.jsonl', '\n{"prompt": }\n');
  await expect(page.getByRole('tab', { name: 'Refused lines 1' })).toHaveAttribute('aria-selected', 'true');
  await expect(dataset(page).getByRole('listitem')).toHaveText([/^2Not valid JSON at column 12/]);
  await expect(run).toBeDisabled();
  await page.getByRole('button', { name: 'Other file' }).click();
  await pickFile(page, 'good.jsonl', '{"prompt": "Good"}\n');
  await expect(page.getByRole('button', { name: 'Run 1 prompt', exact: true })).toBeEnabled();
});

// Bug: a table with columns of other names cannot be used without a script, or what was said of one file is kept for the next.
test('columns of other names are mapped, and the rows follow', async ({ page, mode }) => {
  await openNewRun(page);
  await pickFile(page, 'table.csv', 'nr,ask,gold\n1,"What, is 2+2?",4\n2,What is 3+3?,6\n');
  await expect(page.getByRole('status').filter({ hasText: 'table.csv has no column that prompts could be taken from: its columns are "nr", "ask", "gold".' })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Columns 3' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('button', { name: /^Run (?:prompts|\d)/ })).toBeDisabled();
  await page.getByRole('combobox', { name: 'Column for prompt' }).click();
  await page.getByRole('option', { name: /^ask/ }).click();
  const first = page.getByRole('region', { name: 'The first row as it will run' });
  await expect(first).toContainText('What, is 2+2?');
  await page.getByRole('combobox', { name: 'Column for answer' }).click();
  await page.getByRole('option', { name: /^gold/ }).click();
  await expect(first.getByText('answer')).toBeVisible();
  await page.getByRole('tab', { name: 'Prompts 2' }).click();
  await expect(dataset(page).getByRole('listitem')).toHaveText([/^2What, is 2\+2\?4$/, /^3What is 3\+3\?6$/]);
  await expect(page.getByRole('button', { name: 'Run 2 prompts' })).toBeEnabled();

  // the run has them as they were seen
  await page.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: /^Offline demo/ }).click();
  await page.getByRole('button', { name: 'Run 2 prompts' }).click();
  await expect(page.getByRole('region', { name: 'Numbers' })).toBeVisible();
  const client = await mode.client();
  const { items } = await client.runs.list();
  expect(items[0]!.spec).toMatchObject({ columns: { prompt: 'ask', answer: 'gold' } });
  const prompts = await client.runs.prompts({ id: items[0]!.id });
  expect(prompts.items.map((p) => p.prompt)).toEqual(['What, is 2+2?', 'What is 3+3?']);
});

// Bug: a published benchmark is taken for a plain file, or its shape cannot be changed.
test('a published shape is found and can be changed', async ({ page }) => {
  await openNewRun(page);
  const row = { question: 'Ann has 2 pears and buys 3. How many has she?', answer: 'She has 2 and buys 3.\n#### 5' };
  await pickFile(page, 'grade.json', JSON.stringify([row, row], null, 1));
  const shape = page.getByRole('combobox', { name: 'Shape of the rows' });
  await expect(shape).toHaveText('GSM8K (found)');
  await expect(page.getByText('JSON list', { exact: true })).toBeVisible();
  await expect(dataset(page).getByRole('listitem')).toHaveText([/^1Ann has 2 pears[^]*####[^]*5$/, /^2Ann/]);
  await shape.click();
  await page.getByRole('option', { name: /^HumanEval/ }).click();
  await expect(page.getByRole('status').filter({ hasText: 'is not shaped like HumanEval: it lacks "prompt", "test", "entry_point".' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^Run (?:prompts|\d)/ })).toBeDisabled();
  await shape.click();
  await page.getByRole('option', { name: /^Plain/ }).click();
  await expect(page.getByRole('button', { name: 'Run 2 prompts' })).toBeEnabled();
  await page.getByRole('button', { name: 'Other file' }).click();
  await pickFile(page, 'other.jsonl', '{"prompt": "One"}\n');
  await expect(shape).toHaveText('Plain (found)');
});

// Bug: a mistake in the form is told far from its field, or only after the run has started.
test('mistakes in the form are told at their fields, also those that only the engine knows', async ({ page, mode }) => {
  await openNewRun(page);
  await pickFile(page, 'one.jsonl', '{"prompt": "One"}\n');
  const name = page.getByLabel('Name of the run');
  await name.fill('with a space');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/letters, digits, dot, dash and underscore/);
  const workers = page.getByLabel('Workers');
  await workers.fill('0');
  await expect(workers).toHaveAccessibleDescription('Must be a whole number from 1 to 512, not "0".');
  await workers.fill('2');
  await expect(workers).not.toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Run 1 prompt', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('New run');
  await expect(name).toBeFocused();

  // Prompts of one's own are never sent to the scripted model unasked.
  const run = page.getByRole('button', { name: 'Run 1 prompt', exact: true });
  const provider = page.getByRole('combobox', { name: 'Provider' });
  await name.fill('taken');
  await run.click();
  await expect(provider).toBeFocused();
  await expect(provider).toHaveText('Choose a provider');
  await provider.click();
  await page.getByRole('option', { name: /^Offline demo/ }).click();

  const client = await mode.client();
  const { demoDataset } = await client.runs.options();
  await client.runs.start({ datasetFile: demoDataset, runName: 'taken', maxSamples: 1 });
  await run.click();
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/taken/);
});

// Bug: a path that is not there is answered with a stack trace or with nothing.
test('a path on the engine’s machine is read, and a wrong one is told', async ({ page, mode }) => {
  await openNewRun(page);
  const path = page.getByLabel('Or a path on the engine\'s machine');
  await path.fill('/nowhere/at-all.jsonl');
  await page.getByRole('button', { name: 'Read' }).click();
  await expect(page.getByRole('status').filter({ hasText: '/nowhere/at-all.jsonl' })).toBeVisible();
  await path.fill((await (await mode.client()).runs.options()).demoDataset);
  await path.press('Enter');
  await expect(page.getByRole('button', { name: 'Run 16 prompts' })).toBeEnabled();
});
