import { expect, test } from '../../drivers/browser-mode.ts';
import { dropFile, openNewRun, pickFile } from '../../fixtures/page.ts';

const BOM = '\ufeff';

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
  await expect(page.getByRole('listitem')).toHaveText([/^1First$/, /^3Second$/, /^8First$/, /^11第三个$/]);
  await expect(page.getByRole('button', { name: 'Run 4 prompts' })).toBeEnabled();

  await page.getByRole('tab', { name: 'Refused lines 5' }).click();
  await expect(page.getByRole('listitem')).toHaveText([
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
    await expect(page.getByRole('listitem')).toHaveText([/Grüße/, /统计日志/]);
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
  for (const [file, content, says] of [
    ['rows.jsonl', '\n{"question": "a"}\n{"question": "b"}\n', 'rows.jsonl holds no valid row. Line 2: There is no "prompt" in this row; its columns are "question".'],
    ['table.csv', 'id,prompt\n1,hello\n', 'table.csv looks like a CSV table.'],
    ['array.json', '[{"prompt": "a"}]\n', 'array.json is a JSON array.'],
    ['empty.jsonl', '', 'empty.jsonl is empty.'],
  ] as const) {
    await pickFile(page, file, content);
    await expect(page.getByRole('status').filter({ hasText: says })).toBeVisible();
    await expect(page.getByRole('button', { name: /^Run/ })).toBeDisabled();
  }
  await pickFile(page, 'good.jsonl', '{"prompt": "Good"}\n');
  await expect(page.getByRole('button', { name: 'Run 1 prompt', exact: true })).toBeEnabled();
});

// Bug: a mistake in the form is told far from its field, or only after the run has started.
test('mistakes in the form are told at their fields, also those that only the engine knows', async ({ page, mode }) => {
  await openNewRun(page);
  await pickFile(page, 'one.jsonl', '{"prompt": "One"}\n');
  const name = page.getByLabel('Name of the run');
  await name.fill('with a space');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/Letters, digits, dot, dash and underscore/);
  const workers = page.getByLabel('Workers');
  await workers.fill('0');
  await expect(workers).toHaveAccessibleDescription('From 1 to 512.');
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
