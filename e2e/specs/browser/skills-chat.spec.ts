import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '../../drivers/browser-mode.ts';
import { atRest, conversation, message, sendMessage, session } from '../../fixtures/chats.ts';
import { jsonLines } from '../../fixtures/runs.ts';
import { openSkillName, skillChatTest as test } from '../../fixtures/skills.ts';

// Bug: a skill can only be run by knowing its name by heart, is refused as an unknown command, or its text never reaches the model.
test('a skill is completed behind a slash and run', async ({ chat: page, fake }) => {
  await message(page).pressSequentially('/rel');
  const list = page.getByRole('listbox', { name: 'Commands' });
  await expect(list.getByRole('option', { selected: true })).toContainText('/release-notes');
  await page.keyboard.press('Enter');
  await expect(message(page)).toHaveValue('/release-notes ');
  await page.keyboard.insertText('for version 2');
  await page.keyboard.press('Enter');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  const sent = JSON.stringify(fake.chats[0]?.body.messages);
  expect(sent).toContain('/release-notes for version 2');
  expect(sent).toContain('Call it QUOKKA.');
  // A quiet row, with a way to the skill.
  await expect(conversation(page).getByText('Call it QUOKKA.')).toBeHidden();
  await conversation(page).getByRole('link', { name: 'release-notes' }).click();
  await expect(openSkillName(page)).toHaveText('writing / release-notes');
  await page.getByRole('tab', { name: 'Usage' }).click();
  await expect(page.getByRole('list', { name: 'Trajectories' }).getByText('ran it by name')).toBeVisible();
});

// Bug: a dangerous skill is offered like any other; a name that is typed whole before skills are known is refused.
test('what must not be run is not offered, and a whole name needs no list', async ({ chat: page, fake }) => {
  await message(page).fill('/release-notes');
  await message(page).press('Escape');
  await message(page).press('Enter');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  expect(JSON.stringify(fake.chats[0]?.body.messages)).toContain('Call it QUOKKA.');
  await message(page).pressSequentially('/helpful');
  await expect(page.getByRole('listbox', { name: 'Commands' })).toBeHidden();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'There is no command /helpful' })).toBeVisible();
  expect(fake.counts.chats).toBe(1);
});

// Bug: the page shows the text of a skill as what the person typed, or an edit loses the skill; training data has the command without its cause.
test('a skill that was run is read below what was typed, goes with an edit, and is in the exported line', async ({ chat: page, fake, mode, home }) => {
  await sendMessage(page, '/release-notes for version 2');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await expect(session(page, '/release-notes for version 2')).toBeVisible();
  const fold = conversation(page).getByRole('button', { name: 'Skill run by name' });
  await fold.click();
  await expect(conversation(page).getByText('Call it QUOKKA.')).toBeVisible();
  await fold.click();
  await atRest(mode);
  await conversation(page).getByText('/release-notes for version 2').hover();
  await conversation(page).getByRole('button', { name: 'Edit and send again' }).click();
  const edit = conversation(page).getByRole('textbox', { name: 'Edit and send again' });
  await expect(edit).toHaveValue('/release-notes for version 2');
  await edit.fill('/release-notes for version 3');
  await edit.press('Control+Enter');
  await expect(conversation(page).getByText('/release-notes for version 3')).toBeVisible();
  await fake.waitForChats(2);
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  const read = String(fake.chats[1]?.body.messages.at(-1)?.content);
  expect(read).toMatch(/^\/release-notes for version 3\n\n[^]*Call it QUOKKA\./);

  // at rest again: it can be exported
  await expect(conversation(page).getByRole('button', { name: 'Answer again' })).toBeVisible();
  const client = await mode.client();
  const { items } = await client.trajectories.list({ filter: {}, sort: 'newest' });
  const file = join(home, 'exports', 'skills.jsonl');
  for await (const event of await client.exports.run({ filter: { ids: [items[0]!.id] }, file: 'skills.jsonl' })) if (event.type === 'done') expect(event.summary.written).toBe(1);
  const [line] = jsonLines(readFileSync(file, 'utf8')) as unknown as { conversations: { from: string; value: string }[] }[];
  expect(line!.conversations.slice(1)).toEqual([{ from: 'human', value: read }, { from: 'gpt', value: expect.stringContaining('Done.') as unknown }]);

  await page.goto(`${new URL(page.url()).origin}/#/library/${items[0]!.id}`);
  await expect(page.getByRole('article', { name: 'Harness skill run by name' })).toContainText('Call it QUOKKA.');
  await expect(page.getByRole('article', { name: 'Task', exact: true })).toContainText('/release-notes for version 3');
  await expect(page.getByText('synthetic', { exact: true })).toBeHidden();
});
