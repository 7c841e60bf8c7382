import type { Page } from '@playwright/test';
import { callTool, gated, say, together } from '../../fakes/steps.ts';
import { watch } from '../../drivers/browser-mode.ts';
import { chatTest as test, conversation, expect, message, newChat, sendMessage, session, sessions } from '../../fixtures/chats.ts';

/** Opens a chat by its row and goes back to the row: the chat takes the focus once it is there. */
async function openAndStay(page: Page, title: string): Promise<void> {
  await session(page, title).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  await expect(message(page)).toBeFocused();
  await session(page, title).focus();
}

// Bug: what was typed and not sent is gone after looking elsewhere, a reload, or a restart.
test('a draft survives another chat, a reload, and a restart', async ({ chat: page, mode }) => {
  await message(page).fill('a thought that is not finished');
  await expect(sessions(page).getByRole('img', { name: 'has a draft' })).toBeVisible();
  await newChat(page);
  await page.goBack();
  await expect(message(page)).toHaveValue('a thought that is not finished');
  await page.reload();
  await expect(message(page)).toHaveValue('a thought that is not finished');
  await message(page).fill('and more of it');
  await page.goto(await mode.restart());
  await expect(message(page)).toHaveValue('and more of it');
});

// Bug: two windows overwrite each other's drafts, or show different things.
test('another window shows the same chat and takes over its draft', async ({ chat: page, mode, problems }) => {
  await message(page).fill('written in the first window');
  await expect(sessions(page).getByRole('img', { name: 'has a draft' })).toBeVisible();
  const other = await page.context().newPage();
  watch(other, mode, problems);
  await other.goto(page.url());
  await expect(message(other)).toHaveValue('written in the first window');
  await message(other).press('Enter');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await expect(message(page)).toHaveValue('');
});

// Bug: only one chat runs at a time, or the list does not tell them apart.
test('several chats run at once, each with its own state, and the one in the background tells of itself', async ({ chat: page, fake }) => {
  fake.respond(({ lastUser, turnsSinceUser }) => {
    if (lastUser.startsWith('Slow')) return together(say('Slow answer.'), gated('slow'));
    if (lastUser.startsWith('Ask') && turnsSinceUser === 0) return callTool('clarify', { question: 'Which one?', choices: ['left', 'right'] });
    return say('Quick answer.');
  });
  await sendMessage(page, 'Slow work');
  await newChat(page);
  await sendMessage(page, 'Ask me something');
  await expect(session(page, 'Ask me').getByRole('img', { name: 'waits for your answer' })).toBeVisible();
  await newChat(page);
  await sendMessage(page, 'Quick question');
  await expect(conversation(page).getByText('Quick answer.')).toBeVisible();
  await expect(session(page, 'Slow work').getByRole('img', { name: 'running' })).toBeVisible();
  await expect(session(page, 'Slow work')).toContainText('thinking');
  await expect(page.getByRole('navigation', { name: 'Screens' }).getByLabel('1 chat waits for you')).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\) /);
  fake.release('slow');
  await expect(session(page, 'Slow work').getByRole('img', { name: 'unread' })).toBeVisible();
  const toast = page.getByRole('dialog').filter({ hasText: 'The agent has answered.' }).or(page.getByRole('alertdialog').filter({ hasText: 'The agent has answered.' }));
  await toast.getByRole('button', { name: 'Open' }).click();
  await expect(conversation(page).getByText('Slow answer.')).toBeVisible();
  await expect(session(page, 'Slow work').getByRole('img', { name: 'unread' })).toBeHidden();
  await session(page, 'Ask me').click();
  await conversation(page).getByRole('button', { name: 'left' }).click();
  await expect(conversation(page).getByText('Quick answer.')).toBeVisible();
});

// Bug: a chat that was deleted or archived by mistake is lost, or its row stays.
test('chats are renamed, pinned, archived, deleted, and brought back', async ({ chat: page }) => {
  await sendMessage(page, 'First chat');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await newChat(page);
  await sendMessage(page, 'Second chat');
  await expect(conversation(page).getByText('Done.')).toBeVisible();

  await session(page, 'First chat').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Title of the chat' }).fill('Renamed chat');
  await page.keyboard.press('Enter');
  await expect(session(page, 'Renamed chat')).toBeVisible();

  await openAndStay(page, 'Renamed chat');
  await page.keyboard.press('p');
  await expect(sessions(page).getByRole('heading', { name: 'Pinned' })).toBeVisible();
  await page.keyboard.press('p');
  await expect(sessions(page).getByRole('heading', { name: 'Pinned' })).toBeHidden();

  await session(page, 'Renamed chat').focus();
  await page.keyboard.press('Delete');
  await expect(session(page, 'Renamed chat')).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Second chat');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(session(page, 'Renamed chat')).toBeVisible();

  await openAndStay(page, 'Renamed chat');
  await page.keyboard.press('e');
  await expect(session(page, 'Renamed chat')).toBeHidden();
  await sessions(page).getByRole('button', { name: 'Show archived chats' }).click();
  await expect(session(page, 'Renamed chat')).toBeVisible();
  await sessions(page).getByRole('button', { name: 'Back to the chats' }).click();
  await expect(session(page, 'Second chat')).toBeVisible();
});

// Bug: chats are found by their titles only, or a search hides what is typed next.
test('the search finds chats by what was said in them, and j and k walk through the list', async ({ chat: page, fake }) => {
  fake.respond(({ lastUser }) => say(lastUser.includes('whales') ? 'The blue one is the largest.' : 'Done.'));
  for (const text of ['About whales', 'About rivers', 'About roads']) {
    if (text !== 'About whales') await newChat(page);
    await sendMessage(page, text);
    await expect(conversation(page).getByText(/^(Done\.|The blue one)/)).toBeVisible();
  }
  const search = sessions(page).getByRole('searchbox');
  await search.fill('largest');
  await expect(sessions(page).getByRole('link')).toHaveCount(1);
  await expect(session(page, 'About whales')).toBeVisible();
  await search.fill('');
  await expect(sessions(page).getByRole('link')).toHaveCount(3);
  await session(page, 'About roads').focus();
  await page.keyboard.press('j');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('About rivers');
  await page.keyboard.press('j');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('About whales');
  await page.keyboard.press('k');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('About rivers');
});

// Bug: who switched notifications off is told all the same.
test('with notifications off a chat in the background only shows it in the list', async ({ chat: page, fake, mode }) => {
  await (await mode.client()).preferences.update({ notify: false });
  fake.script(together(say('Quietly done.'), gated('quiet')));
  await sendMessage(page, 'Work quietly');
  await fake.waitForChats(1);
  await newChat(page);
  fake.release('quiet');
  await expect(session(page, 'Work quietly').getByRole('img', { name: 'unread' })).toBeVisible();
  await expect(page.getByText('The agent has answered.')).toBeHidden();
});

// Bug: a server that the agent left running can only be ended by asking the agent.
test('a background process is shown beside the talk and can be ended there', async ({ chat: page, fake }) => {
  fake.script(callTool('terminal', { command: 'sleep 600', background: true }), say('It runs.'));
  await sendMessage(page, 'Start the server');
  await expect(conversation(page).getByText('It runs.')).toBeVisible();
  const side = page.getByRole('complementary', { name: 'About this chat' });
  await side.getByRole('button', { name: 'End sleep 600' }).click();
  await expect(side.getByText(/^(ended|exit \d+)$/)).toBeVisible();
  await expect(side.getByRole('button', { name: 'End sleep 600' })).toBeHidden();
});
