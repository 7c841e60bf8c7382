import { expect } from '../../drivers/browser-mode.ts';
import { conversation, message } from '../../fixtures/chats.ts';
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
