import { expect } from '../../drivers/browser-mode.ts';
import { test as emptyTest } from '../../drivers/browser-mode.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { DEMO_RUN, demoTest } from '../../fixtures/browser-homes.ts';
import { callTool, gated, say, together } from '../../fakes/steps.ts';
import { chatTest, conversation, message, newChat, sendMessage, session } from '../../fixtures/chats.ts';
import { goTo, openNewRun, pickFile, runState, startDemoRun, trajectoryRows } from '../../fixtures/page.ts';
import { startFakeModel } from '../../fakes/fake-model.ts';

const MIXED_FILE = '{"prompt": "Good"}\n{"prompt": 1}\n{"question": "no"}\n';

// With motion, colours would be judged half way through a transition.
emptyTest.use({ contextOptions: { reducedMotion: 'reduce' } });
demoTest.use({ contextOptions: { reducedMotion: 'reduce' } });
chatTest.use({ contextOptions: { reducedMotion: 'reduce' } });

/** With a provider "Teacher" that refuses its key; the fixture is its id. */
const refusedTest = demoTest.extend<{ provider: string }>({
  provider: async ({ mode, page: _page }, use) => {
    const fake = await startFakeModel({ apiKey: 'sk-other' });
    const { providers } = await (await mode.client()).settings.saveProvider({ name: 'Teacher', baseUrl: fake.url, apiKey: 'sk-wrong' });
    await use(providers.find(({ name }) => name === 'Teacher')?.id ?? '');
    await fake.close();
  },
});

// Bug in all of these: something cannot be read or worked by people who do not see it as others do.
emptyTest('an empty Talaria and the new-run form', async ({ page }) => {
  await expect(page.getByText('No trajectories yet')).toBeVisible();
  await expectAccessible(page, 'Library, empty');
  await goTo(page, 'Batch');
  await expect(page.getByText('No runs yet')).toBeVisible();
  await expectAccessible(page, 'Batch, empty');
  await openNewRun(page);
  await expectAccessible(page, 'New run, empty');
  await pickFile(page, 'mixed.jsonl', MIXED_FILE);
  await expect(page.getByRole('tab', { name: 'Prompts 1' })).toBeVisible();
  await expectAccessible(page, 'New run with prompts');
  await page.getByRole('tab', { name: 'Refused lines 2' }).click();
  await page.getByLabel('Workers').fill('0');
  await expectAccessible(page, 'New run with refused lines and a mistake');
});

emptyTest('a run that goes on, and a cancelled one', async ({ page }) => {
  await startDemoRun(page, 1);
  await expect(page.getByRole('button', { name: /turn \d+ · / }).first()).toBeVisible();
  await expectAccessible(page, 'run, live');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(runState(page)).toHaveText('cancelled');
  await expectAccessible(page, 'run, cancelled');
});

demoTest('the Library: list, trajectory, raw JSON', async ({ page }) => {
  await expect(trajectoryRows(page)).toHaveCount(16);
  await expectAccessible(page, 'Library, full');
  await trajectoryRows(page).filter({ hasText: 'Write `slugify.py`' }).click();
  const view = page.getByRole('region', { name: 'Trajectory', exact: true });
  await view.getByRole('button', { name: /^Reasoning · / }).first().click();
  await expectAccessible(page, 'trajectory');
  await page.keyboard.press('r');
  await expect(view.getByRole('region', { name: 'Raw JSON' })).toContainText('"scripted"');
  await expectAccessible(page, 'raw JSON');
});

demoTest('trajectories that did not complete', async ({ page }) => {
  const view = page.getByRole('region', { name: 'Trajectory', exact: true });
  for (const row of ['failed', 'partial', 'discarded']) {
    await trajectoryRows(page).filter({ has: page.getByRole('img', { name: row }) }).first().click();
    await expect(view.getByText(row, { exact: true }).first()).toBeVisible();
    await expectAccessible(page, `a ${row} trajectory`);
  }
});

demoTest('the export, before and after', async ({ page }) => {
  await expect(trajectoryRows(page)).toHaveCount(16);
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('checkbox', { name: 'Also write scripted ones' }).click();
  await expect(dialog.getByRole('button', { name: /^Write [1-9]/ })).toBeEnabled();
  await expectAccessible(page, 'export');
  await dialog.getByRole('button', { name: /^Write [1-9]/ }).click();
  await expect(dialog.getByRole('link', { name: 'Download' })).toBeVisible();
  await expectAccessible(page, 'exported');
});

refusedTest('runs: list, finished, stopped', async ({ page, mode, provider }) => {
  const client = await mode.client();
  const { demoDataset } = await client.runs.options();
  await client.runs.start({ datasetFile: demoDataset, runName: 'stopped-run', provider, model: 'fake-model' });
  await goTo(page, 'Batch');
  await expect(page.getByRole('row').filter({ hasText: 'stopped-run' }).getByText('stopped', { exact: true })).toBeVisible();
  await expectAccessible(page, 'Batch, full');
  await page.getByRole('link', { name: DEMO_RUN }).click();
  await expect(runState(page)).toHaveText('completed');
  await expect(page.getByRole('heading', { name: 'Why they did not complete' })).toBeVisible();
  await expectAccessible(page, 'run, finished');
  const [one, other] = (await client.runs.list()).items.map(({ id }) => id);
  await page.goto(`${mode.address}#/batch/${other}/report`);
  await expect(page.getByRole('region', { name: 'Definition (run.yaml)' })).toBeVisible();
  await expectAccessible(page, 'report of a run');
  await page.goto(`${mode.address}#/batch/compare?a=${other}&b=${one}`);
  await expect(page.getByRole('group', { name: 'Who solved what' })).toBeVisible();
  await expectAccessible(page, 'two runs compared');
  await goTo(page, 'Batch');
  await page.getByRole('link', { name: 'stopped-run' }).click();
  await expect(runState(page)).toHaveText('stopped');
  await expectAccessible(page, 'run, failed');
});

refusedTest('settings and the dialog of a provider', async ({ page, provider }) => {
  expect(provider).not.toBe('');
  await goTo(page, 'Settings');
  await page.getByRole('button', { name: 'Test Teacher' }).click();
  await expect(page.getByText(/refused the key/)).toBeVisible();
  await expectAccessible(page, 'Settings');
  await page.getByRole('button', { name: 'Add a provider' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog').getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page, 'provider dialog');
});

chatTest('chats: new, running, asking, failed, with commands and dialogs', async ({ chat: page, fake }) => {
  await expectAccessible(page, 'new chat');
  await message(page).fill('/');
  await expect(page.getByRole('listbox', { name: 'Commands' })).toBeVisible();
  await expectAccessible(page, 'commands');
  fake.script(together(callTool('terminal', { command: 'echo one' })), together(say(['Half of it', ' and the rest']), gated('rest', 1)));
  await sendMessage(page, 'Work on it');
  await expect(conversation(page).getByText('Half of it')).toBeVisible();
  await message(page).fill('and then');
  await message(page).press('Enter');
  await expect(page.getByRole('list', { name: 'Waiting messages' })).toBeVisible();
  await expectAccessible(page, 'chat, running');
  await newChat(page);
  fake.script(callTool('clarify', { question: 'Which one?', choices: ['left', 'right'] }));
  await sendMessage(page, 'Ask me');
  await expect(session(page, 'Ask me').getByRole('img', { name: 'waits for your answer' })).toBeVisible();
  await expectAccessible(page, 'chat, asking');
  await newChat(page);
  fake.script({ fault: { kind: 'status', status: 401 } });
  await sendMessage(page, 'Fail');
  await expect(session(page, 'Fail').getByRole('img', { name: 'failed' })).toBeVisible();
  await expectAccessible(page, 'chat, failed');
  await page.getByRole('button', { name: /^Model: / }).click();
  await expect(page.getByRole('option', { name: /teacher-large/ })).toBeVisible();
  await expectAccessible(page, 'model picker');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Tools: / }).click();
  await expect(page.getByRole('checkbox', { name: /terminal/ })).toBeVisible();
  await expectAccessible(page, 'tools');
});

demoTest('the palette and the sheet of keys', async ({ page }) => {
  await expect(trajectoryRows(page)).toHaveCount(16);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog', { name: 'Commands' }).getByRole('option', { name: DEMO_RUN })).toBeVisible();
  await expectAccessible(page, 'palette');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await expectAccessible(page, 'keys');
});

// Bug: the Chinese page has labels that are missing, or colours and names that only fit English.
demoTest('once in Chinese', async ({ page, mode }) => {
  await (await mode.client()).settings.update({ language: 'zh-CN' });
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await page.getByRole('option').filter({ hasText: 'slugify' }).click();
  await expect(page.getByRole('heading', { level: 2 })).toContainText('slugify');
  await expectAccessible(page, 'Library');
  for (const hash of ['#/batch', '#/batch/new?demo=1', '#/settings']) {
    await page.goto(`${mode.address}${hash}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByRole('main').getByRole(hash === '#/batch' ? 'row' : 'button').nth(1)).toBeVisible();
    await expectAccessible(page, hash);
  }
});
