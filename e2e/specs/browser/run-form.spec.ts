import { readFileSync } from 'node:fs';
import { expect, test } from '../../drivers/browser-mode.ts';
import { goTo, openNewRun, runState } from '../../fixtures/page.ts';
import { batchOptions, runValues } from '../../../electron/cli/batch-options.ts';
import { parseOptions } from '../../../electron/cli/options.ts';
import { readRunFile, runYaml } from '../../../electron/engine/batch/plan/run-file.ts';
import { problemText, readRunSpec } from '../../../shared/run-values.ts';

/** What the command line makes of these arguments. */
function commandLine(args: readonly string[], demo: string) {
  const values = parseOptions(batchOptions, args);
  if (values === 'help') throw new Error('--help');
  return readRunSpec(runValues(values, '/'), demo);
}

// Bug: the form, a run file and the command line start different runs from the same options.
test('the form, its run file and the command line are the same run', async ({ page, mode }) => {
  const client = await mode.client();
  const { demoDataset } = await client.runs.options();
  await openNewRun(page);
  await page.getByRole('button', { name: 'Use the demo dataset' }).click();
  await page.getByLabel('Name of the run').fill('same');
  await page.getByLabel('Only the first').fill('3');
  await page.getByLabel('Rollouts per prompt').fill('2');
  await page.getByLabel('Max turns').fill('4');
  await page.getByLabel('Budget, US$').fill('1.5');
  const tools = page.getByRole('region', { name: 'Tools and turns' });
  await tools.getByRole('button', { name: 'More options' }).click();
  await page.getByLabel('Seed').fill('7');
  await page.getByLabel('System prompt of this run').fill('Be brief: yes, "brief".');
  const results = page.getByRole('region', { name: 'Filters, scores and files' });
  await results.getByRole('button', { name: 'Remove no_reasoning' }).click();
  await page.getByLabel('Leave out of the files').last().fill('answer contains "a, b"');
  await page.keyboard.press('Enter');
  await page.getByLabel('Scores').last().fill('turns*0.5');
  await page.keyboard.press('Enter');
  await results.getByRole('button', { name: 'More options' }).click();
  await results.getByLabel('Format of the rows').click();
  await page.getByRole('option', { name: 'OpenAI messages' }).click();
  await expect(page.getByRole('button', { name: 'Run 3 prompts × 2' })).toBeEnabled();
  const check = page.getByRole('region', { name: 'Check' });
  await expect(check).toContainText('6 = 3 rows × 2');
  await expect(check).toContainText('Ready to start');

  await page.getByRole('button', { name: 'Run file' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save as run file' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('same.yaml');
  const text = readFileSync(await download.path(), 'utf8');
  const { spec } = commandLine(
    [`--dataset_file=${demoDataset}`, '--run_name=same', '--max_samples=3', '--rollouts=2', '--max_turns=4', '--budget_usd=1.5', '--seed=7', '--ephemeral_system_prompt=Be brief: yes, "brief".', '--filters=answer contains "a, b"', '--scoring=turns*0.5', '--trajectory_format=openai'],
    demoDataset,
  );
  expect(text).toBe(runYaml(spec!, demoDataset));

  // the same file under another name, started in the form
  await page.reload();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Run file' }).click();
  await page.getByRole('menuitem', { name: 'Load a run file…' }).click();
  await (await choosing).setFiles({ name: 'other.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text.replace('run_name: same', 'run_name: other')) });
  await expect(page.getByLabel('Name of the run')).toHaveValue('other');
  await page.getByRole('button', { name: 'Run 3 prompts × 2' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('other');
  await expect(runState(page)).toHaveText('completed', { timeout: 60_000 });
  const [run] = (await client.runs.list()).items;
  expect(run?.spec).toEqual({ ...spec!, runName: 'other' });
  const own = readRunSpec(readRunFile(readFileSync(`${run!.outputDir}/run.yaml`, 'utf8'), 'run.yaml', null).values, demoDataset);
  expect(own.spec).toEqual(run?.spec);
});

// Bug: the form lets through what the command line refuses, or says something else of it.
test('wrong options are told at their field in the words of the command line', async ({ page }) => {
  await openNewRun(page);
  await page.getByRole('button', { name: 'Use the demo dataset' }).click();
  await page.getByLabel('Name of the run').fill('../x');
  await page.getByLabel('Workers').fill('513');
  await page.getByLabel('Budget, US$').fill('0');
  const { problems } = commandLine(['--dataset_file=demo', '--run_name=../x', '--num_workers=513', '--budget_usd=0'], '/demo');
  for (const [label, key] of [['Name of the run', 'runName'], ['Workers', 'numWorkers'], ['Budget, US$', 'budgetUsd']] as const) {
    await expect(page.getByLabel(label)).toHaveAccessibleDescription(new RegExp(problemText(problems![key]!).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  }
  await page.getByLabel('Leave out of the files').last().fill('tool_errors >');
  await expect(page.getByRole('alert').filter({ hasText: /\S/ }).last()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add' }).first()).toBeDisabled();
  await expect(page.getByRole('region', { name: 'Check' })).toContainText('Complete the form');
});

// Bug: an own distribution cannot be made, used or brought back.
test('a distribution is duplicated, changed, saved, used, deleted and brought back', async ({ page, mode }) => {
  await openNewRun(page);
  await page.getByRole('button', { name: 'Use the demo dataset' }).click();
  await page.getByLabel('Max turns').fill('9');
  await page.getByRole('link', { name: 'Edit distributions' }).click();
  await page.getByRole('button', { name: 'terminal_only' }).click();
  await expect(page.getByText('Built-in distributions cannot be changed.')).toBeVisible();
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByLabel('Name', { exact: true }).fill('half');
  await page.getByLabel('Chance of file in percent').fill('0');
  await expect(page.getByRole('region', { name: 'What 1,000 draws look like' }).getByRole('listitem').filter({ hasText: 'terminal' }).first()).toContainText('1,000');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'half', exact: true })).toBeVisible();
  const client = await mode.client();
  const own = async () => (await client.distributions.list()).items.filter((one) => one.own).map(({ name, toolsets }) => ({ name, toolsets }));
  await expect.poll(own).toEqual([{ name: 'half', toolsets: { terminal: 100 } }]);

  await page.getByRole('button', { name: 'Delete' }).click();
  await expect.poll(own).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(own).toEqual([{ name: 'half', toolsets: { terminal: 100 } }]);
  await page.getByRole('button', { name: 'Use in the run' }).click();
  await expect(page.getByLabel('Tool distribution')).toHaveText('half');
  await expect(page.getByLabel('Max turns')).toHaveValue('9');
  await goTo(page, 'Batch');
});
