import { say } from '../../fakes/steps.ts';
import { chatTest as test, conversation, expect, give, message, PNG, sendMessage, sessions } from '../../fixtures/chats.ts';

// Bug: commands can only be known by heart, or the list is for the mouse.
test('commands are completed by the keyboard', async ({ chat: page }) => {
  await message(page).pressSequentially('/us');
  const list = page.getByRole('listbox', { name: 'Commands' });
  await expect(list.getByRole('option', { selected: true })).toContainText('/usage');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Usage of this chat' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(message(page)).toHaveValue('');
  await message(page).pressSequentially('/');
  await expect(list.getByRole('option', { selected: true })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(list.getByRole('option', { selected: true })).toContainText('/model');
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await message(page).fill('');
  await message(page).pressSequentially('/ti');
  await expect(list.getByRole('option', { selected: true })).toContainText('/title');
  await page.keyboard.press('Tab');
  await expect(message(page)).toHaveValue('/title ');
});

// Bug: a mistyped command is sent to the model, or a text with a slash can never be.
test('an unknown command is said to be one and not sent; a space sends it as it is', async ({ chat: page, fake }) => {
  await sendMessage(page, '/modle x');
  await expect(page.getByRole('alert').filter({ hasText: 'Did you mean /model?' })).toBeVisible();
  expect(fake.counts.chats).toBe(0);
  await sendMessage(page, '//help is what I mean');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  expect(fake.chats[0]?.body.messages.at(-1)?.content).toBe('/help is what I mean');
});

// Bug: a command exists by name only.
test('title, model, tools, new, help, export do what they say', async ({ chat: page, fake }) => {
  await sendMessage(page, 'Hello');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await sendMessage(page, '/title Greetings from Hermes');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Greetings from Hermes');
  await sendMessage(page, '/model teacher-large');
  await expect(page.getByRole('button', { name: 'Model: teacher-large' })).toBeVisible();
  await sendMessage(page, '/tools disable terminal');
  await expect(page.getByRole('heading', { name: /^Tools: / })).toBeVisible();
  await expect(page.getByRole('button', { name: /^Tools: / })).not.toHaveAccessibleName(/terminal/);
  await sendMessage(page, 'And now?');
  await expect.poll(() => fake.counts.chats).toBe(2);
  expect(fake.chats[1]?.body.model).toBe('teacher-large');
  expect(fake.chats[1]?.body.tools?.some((tool) => tool.function.name === 'terminal')).toBe(false);
  await sendMessage(page, '/export');
  await expect(page.getByRole('dialog', { name: 'Export 1 trajectory' }).getByLabel('File name')).toHaveValue(/^Greetings-from-Hermes-/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: /^Export/ })).toBeHidden();
  await sendMessage(page, '/help');
  await expect(page.getByRole('dialog', { name: 'Commands' })).toContainText('/rollback');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Commands' })).toBeHidden();
  await sendMessage(page, '/new and this is the draft');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('New chat');
  await expect(message(page)).toHaveValue('and this is the draft');
});

// Bug: the model can only be changed by knowing its name.
test('the model is found by searching in the picker', async ({ chat: page }) => {
  await page.getByRole('button', { name: 'Model: teacher-small' }).click();
  const search = page.getByPlaceholder('Search, or type any model id');
  await expect(search).toBeFocused();
  await expect(page.getByRole('option', { name: /teacher-large/ })).toBeVisible();
  await search.fill('my-own-model');
  await page.getByRole('option', { name: 'Use “my-own-model”' }).first().click();
  await expect(page.getByRole('button', { name: 'Model: my-own-model' })).toBeVisible();
});

// Bug: a file that is dropped opens in the browser, a picture that is pasted disappears, or neither reaches the model.
test('files are attached by dropping and pasting, shown by name, and sent', async ({ chat: page, fake }) => {
  const files = page.getByRole('list', { name: 'Attached files' });
  await give(page.getByText('What shall the agent do?'), 'drop', [{ name: 'notes.txt', type: 'text/plain', text: 'remember the milk' }]);
  await expect(files.getByText('notes.txt')).toBeVisible();
  await give(message(page), 'paste', [{ name: 'dot.png', type: 'image/png', text: PNG }]);
  await expect(files.getByRole('listitem')).toHaveCount(2);
  await expect(files.locator('img')).toHaveCount(1);
  await give(message(page), 'paste', [{ name: 'wrong.txt', type: 'text/plain', text: 'x' }]);
  await files.getByRole('button', { name: 'Remove wrong.txt' }).click();
  await expect(files.getByRole('listitem')).toHaveCount(2);
  await expect(files.getByRole('progressbar')).toHaveCount(0);
  await sendMessage(page, 'What is in these?');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await expect(files).toBeHidden();
  await expect(conversation(page).getByText('notes.txt')).toBeVisible();
  expect(JSON.stringify(fake.chats[0]?.body.messages)).toContain('notes.txt');
});

// Bug: a large paste freezes the page.
test('a pasted megabyte becomes a file at once, and can be text after all', async ({ chat: page }) => {
  const text = 'A line of a log that somebody wants to ask about.\n'.repeat(21_000);
  await give(message(page), 'paste', [], text);
  const files = page.getByRole('list', { name: 'Attached files' });
  await expect(files.getByText('pasted.txt')).toBeVisible();
  await expect(message(page)).toHaveValue('');
  await message(page).pressSequentially('still quick');
  await expect(message(page)).toHaveValue('still quick');
  await files.getByRole('button', { name: 'Insert as text' }).click();
  await expect(files).toBeHidden();
  await expect.poll(async () => (await message(page).inputValue()).length).toBeGreaterThan(1_000_000);
});

// Bug: Enter that chooses a word in a Chinese input method sends half a message.
test('Enter within a composition does not send', async ({ chat: page, fake }) => {
  const cdp = await page.context().newCDPSession(page);
  await message(page).focus();
  await cdp.send('Input.imeSetComposition', { text: 'ni hao', selectionStart: 6, selectionEnd: 6 });
  await message(page).dispatchEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: true, bubbles: true, cancelable: true });
  expect(fake.counts.chats).toBe(0);
  await cdp.send('Input.insertText', { text: '你好' });
  await expect(message(page)).toHaveValue('你好');
  fake.script(say('你好！'));
  await page.keyboard.press('Enter');
  await expect(conversation(page).getByText('你好！')).toBeVisible();
  expect(fake.chats[0]?.body.messages.at(-1)?.content).toBe('你好');
  await expect(sessions(page).getByRole('link', { name: /你好/ })).toBeVisible();
});
