import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from '../../drivers/browser-mode.ts';
import { type FakeModel, startFakeModel } from '../../fakes/fake-model.ts';
import { say, think, together } from '../../fakes/steps.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { command, goTo, runState } from '../../fixtures/page.ts';
import { outputFiles } from '../../fixtures/runs.ts';

const test = base.extend<{ fake: FakeModel }>({
  fake: async ({ mode, page: _page }, use) => {
    const fake = await startFakeModel();
    fake.respond(() => together(think('New.'), say('A new answer.')));
    await (await mode.client()).settings.saveProvider({ name: 'Teacher', baseUrl: fake.url, defaultModel: 'teacher-1' });
    await use(fake);
    await fake.close();
  },
});
test.use({ contextOptions: { reducedMotion: 'reduce' } });

/** A row as Hermes Agent's batch runner writes it. */
function row(index: number, prompt: string): string {
  const conversations = [{ from: 'system', value: 'You are a function calling AI model.\n<tools>\n[]\n</tools>' }, { from: 'human', value: prompt }, { from: 'gpt', value: `<think>\nI know.\n</think>\nAnswer to ${prompt}` }];
  return `${JSON.stringify({ prompt_index: index, conversations, metadata: { batch_num: 0, timestamp: '2026-03-30T14:22:31.456789', model: 'old-model' }, completed: true, partial: false, api_calls: 1, toolsets_used: ['terminal'], tool_stats: {}, tool_error_counts: {} })}\n`;
}

// Bug: paid rows are not shown before they are taken, a wrong folder is not told, the old folder is changed, or what was done is paid again.
test('a run of Hermes Agent is looked at, taken over and finished', async ({ page, home, fake }) => {
  await page.setViewportSize({ width: 1024, height: 640 });
  const old = join(home, 'old-run');
  mkdirSync(old);
  writeFileSync(join(old, 'batch_0.jsonl'), `${row(0, 'one')}${row(1, 'two')}${row(7, 'a stranger')}${row(2, 'torn').slice(0, 40)}`);
  writeFileSync(join(old, 'checkpoint.json'), JSON.stringify({ run_name: 'old-name', completed_prompts: [0, 1, 1, 7] }));
  const before = readdirSync(old).map((name) => readFileSync(join(old, name), 'utf8'));
  const datasetFile = join(home, 'prompts.jsonl');
  writeFileSync(datasetFile, ['one', 'two', 'three'].map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));

  await goTo(page, 'Batch');
  await command(page, 'take over');
  const dialog = page.getByRole('dialog', { name: 'Take over a Hermes run' });
  const found = dialog.getByRole('region', { name: 'What would be taken over' });
  await dialog.getByLabel('Folder of the run').fill(join(home, 'nowhere'));
  await expect(found.getByRole('alert')).toContainText('nowhere');
  await dialog.getByLabel('Folder of the run').fill(old);
  await expect(found).toContainText('Rows in 1 file3');
  await expect(found).toContainText('1 line is torn or broken and is left out.');
  await expect(dialog.getByLabel('Name of the run')).toHaveValue('old-name');
  await expect(dialog.getByLabel('Model')).toHaveValue('old-model');
  await expect(dialog.getByRole('button', { name: 'Take over', exact: true })).toBeDisabled();
  await dialog.getByLabel('Dataset of the run').fill(datasetFile);
  await expect(found).toContainText('Prompts taken over2');
  await expect(found).toContainText('Left to run1');
  await expect(found).toContainText('1 row whose prompt is not in the dataset is left out.');
  await dialog.getByLabel('Model').fill('teacher-1');
  const start = dialog.getByRole('button', { name: 'Take over 2, run 1' });
  await expect(start).toBeInViewport({ ratio: 1 });
  await expectAccessible(page, 'take over a Hermes run');
  await start.click();

  await expect(page.getByRole('heading', { level: 1 })).toHaveText('old-name');
  await expect(runState(page)).toHaveText('completed');
  await expect(page.getByRole('region', { name: 'Numbers' }).getByText('completed 3', { exact: true })).toBeVisible();
  expect(fake.counts.chats).toBe(1);
  await expect.poll(() => outputFiles(home, 'old-name').trajectories.length).toBe(3);
  expect(readdirSync(old).map((name) => readFileSync(join(old, name), 'utf8'))).toEqual(before);
});
