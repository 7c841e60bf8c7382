import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect } from '../../drivers/browser-mode.ts';
import { type FakeModel, type ModelRequest, startFakeModel } from '../../fakes/fake-model.ts';
import { callTool, say, type Step } from '../../fakes/steps.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { skillRow, skillsTest } from '../../fixtures/skills.ts';

/** Reads the skill where it is offered, and follows it. */
function respond({ body }: ModelRequest): Step {
  const text = JSON.stringify(body.messages);
  if (text.includes('QUOKKA')) return say('QUOKKA: faster start, fewer crashes.');
  return text.includes('- release-notes:') ? callTool('skill_view', { name: 'release-notes' }) : say('Version 2 is faster.');
}

const test = skillsTest.extend<{ fake: FakeModel }>({
  fake: async ({ mode, page: _page }, use) => {
    const fake = await startFakeModel({ respond });
    const client = await mode.client();
    await client.settings.saveProvider({ name: 'Fake', baseUrl: fake.url, defaultModel: 'fake-model' });
    await use(fake);
    await fake.close();
  },
});

async function tryIt(page: Page): Promise<Locator> {
  await skillRow(page, 'release-notes').click();
  await page.getByRole('button', { name: 'Actions for release-notes' }).click();
  await page.getByRole('menuitem', { name: 'Try with and without…' }).click();
  return page.getByRole('dialog', { name: 'Try this skill' });
}

// Bug: nobody can tell whether a skill helps: one side is missing, three prompts are called proof, the trajectories cannot be opened, or the decision does nothing.
test('a skill is tried with and without, shown side by side, and switched off again', async ({ fake, skills: page, mode }) => {
  const dialog = await tryIt(page);
  const run = dialog.getByRole('button', { name: 'Run both' });
  // it looks disabled, and answers with what is missing
  await run.press('Enter');
  await expect(dialog.getByRole('alert')).toHaveText('This is needed.');
  expect(fake.counts.chats).toBe(0);
  await dialog.getByLabel('Prompts').fill('Write release notes for version 2\nWrite release notes for version 3');
  await dialog.getByText('More options').click();
  await dialog.getByLabel('Scoring, one rule a line').fill('regex:/QUOKKA/');
  await dialog.getByLabel('Seed').fill('7');
  await expect(dialog.getByText('4 attempts')).toBeVisible();
  await expectAccessible(page, 'form of a trial');
  await run.click();
  await expect(dialog.getByText('2 prompts: no more than a hint. Better in 2, worse in 0, the same in 0.')).toBeVisible();
  const prompts = dialog.getByRole('list', { name: 'Prompts' }).getByRole('listitem');
  await expect(prompts).toHaveCount(2);
  await expect(prompts.first().getByRole('region', { name: 'With the skill' })).toContainText('QUOKKA');
  await expect(prompts.first().getByRole('region', { name: 'With the skill' })).toContainText('read the skill');
  await expect(prompts.first().getByRole('region', { name: 'Without' })).toContainText('Version 2 is faster.');
  await expect(dialog.getByRole('row', { name: /^Score, mean 1 0 \+1$/ })).toBeVisible();
  await expect(dialog.getByRole('row', { name: /^Turns 4 2 \+2$/ })).toBeVisible();
  expect(fake.chats.every(({ body }) => body['seed'] === 7)).toBe(true);
  await expectAccessible(page, 'result of a trial');

  const client = await mode.client();
  const enabled = async (): Promise<boolean | undefined> => (await client.skills.list()).items.find((skill) => skill.name === 'release-notes')?.enabled;
  await dialog.getByRole('button', { name: 'Switch off' }).click();
  await expect(dialog.getByText('Discarded: agents are not offered the skill any more.')).toBeVisible();
  expect(await enabled()).toBe(false);
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await expect(dialog.getByRole('button', { name: 'Keep the skill' })).toBeVisible();
  expect(await enabled()).toBe(true);
  await prompts.first().getByRole('link', { name: 'Open the trajectory: With the skill' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Library');
  await expect(page.getByRole('main')).toContainText('QUOKKA');
});

// Bug: a trial ends with its dialog, is lost with the engine, or pays again for what had ended; a file's answers do not score.
test('a trial outlives its dialog and a crash, and goes on with what is missing', async ({ fake, skills: page, home, mode }) => {
  fake.respond((request) => (request.prompt.includes('slow') ? { ...say('QUOKKA'), gate: { name: 'slow' } } : say('QUOKKA')));
  let dialog = await tryIt(page);
  const file = join(home, 'rows.jsonl');
  writeFileSync(file, ['quick', 'slow'].map((prompt) => `${JSON.stringify({ prompt, answer: 'QUOKKA' })}\n`).join(''));
  const choosing = page.waitForEvent('filechooser');
  await dialog.getByRole('button', { name: 'From a dataset file' }).click();
  await (await choosing).setFiles({ name: 'rows.jsonl', mimeType: 'application/json', buffer: readFileSync(file) });
  await expect(dialog.getByText('The first 2 prompts of 2 rows in rows.jsonl')).toBeVisible();
  await dialog.getByRole('button', { name: 'Run both' }).click();
  await expect(dialog.getByText('2 of 4 attempts')).toBeVisible();
  await fake.waitForChats(4);
  await dialog.getByRole('button', { name: 'Close, let it run' }).click();
  await page.goto(await mode.restart('kill'));
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Skills' }).click();
  dialog = await tryIt(page);
  await expect(dialog.getByText('interrupted', { exact: true })).toBeVisible();
  fake.release('slow');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await expect(dialog.getByText('4 of 4 attempts')).toBeVisible();
  expect(fake.counts.chats).toBe(6);
});

// Bug: what a row brings besides its prompt is passed over in silence, or a row that cannot be run is begun; a long prompt widens the form.
test('the form says what rows bring along, and which of them cannot be run', async ({ fake, skills: page }) => {
  const dialog = await tryIt(page);
  const take = (second: object) => dialog.locator('input[data-pick=prompts]').setInputFiles({ name: 'rows.jsonl', mimeType: 'application/json', buffer: Buffer.from([{ prompt: `Write release notes ${'at length '.repeat(30)}`, prompts: ['Shorter'], system: 'Be kind.', tools: ['terminal'] }, { prompt: 'Again', ...second }].map((row) => JSON.stringify(row)).join('\n')) });
  await take({ image: 'python:3.12' });
  await expect(dialog.getByText('1 further turn · own system prompt · own tools')).toBeInViewport({ ratio: 1 });
  await expect(dialog.getByText(/^Prompt 2 cannot be run\. Its row runs in the container image python:3\.12/)).toBeVisible();
  await expectAccessible(page, 'form of a trial with rows');
  await dialog.getByRole('button', { name: 'Run both' }).click();
  await expect(dialog.getByText(/^Prompt 2 cannot be run/)).toHaveCount(2);
  expect(fake.counts.chats).toBe(0);
  await dialog.getByRole('button', { name: 'Type them instead' }).click();
  await take({});
  await dialog.getByRole('button', { name: 'Run both' }).click();
  await expect(dialog.getByText('4 of 4 attempts')).toBeVisible();
  await expect(dialog.getByRole('list', { name: 'Prompts' }).getByRole('listitem').first()).toContainText('1 further turn · own system prompt · own tools');
});
