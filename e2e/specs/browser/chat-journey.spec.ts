import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, gated, say, think, together } from '../../fakes/steps.ts';
import { test } from '../../drivers/browser-mode.ts';
import { atRest, atWork, chatTest, conversation, expect, message, sendMessage, session, sessions } from '../../fixtures/chats.ts';

// Bug: without any key there is nothing one can do, or what was said is not in the Library from its first message.
test('a first chat needs no key, and is a trajectory in the Library', async ({ page }) => {
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Chat' }).click();
  await expect(page.getByText('You talk to the offline demo')).toBeVisible();
  await page.getByRole('button', { name: /^What does HTTP status 418 mean/ }).click();
  await expect(message(page)).toHaveValue(/^What does HTTP status 418 mean/);
  await message(page).press('Enter');
  await expect(conversation(page).getByText('says:')).toBeVisible();
  await expect(session(page, 'What does HTTP status 418')).toHaveAttribute('aria-current', 'page');
  await page.getByRole('link', { name: 'Open in Library' }).click();
  await expect(page.getByRole('region', { name: 'Trajectory', exact: true }).getByRole('heading', { level: 2 })).toContainText('HTTP status 418');
});

// Bug: what streams is not shown until it is whole, a tool hides what it did, or the list does not say what goes on.
chatTest('an answer streams, a tool shows what it did, and the list says what goes on', async ({ chat: page, fake }) => {
  fake.script(together(think('First look.'), callTool('terminal', { command: 'echo "hello from the shell"' })), together(say(['One moment. ', 'And ', 'the end.']), gated('rest', 1)));
  await sendMessage(page, 'Say hello from the shell');
  await expect(conversation(page).getByText('One moment.')).toBeVisible();
  await expect(conversation(page).getByText('And the end.')).toBeHidden();
  await expect(session(page, 'Say hello').getByRole('img', { name: 'running' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  fake.release('rest');
  await expect(conversation(page).getByText('One moment. And the end.')).toBeVisible();
  await expect(conversation(page).getByText('echo "hello from the shell"').first()).toBeVisible();
  await expect(conversation(page).getByText(/exit 0/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
  await expect(page.getByRole('complementary', { name: 'About this chat' }).getByText(/system [\d.]+/)).toBeVisible();
});

// Bug: a dangerous command runs without being asked for, or the person's yes does not reach it.
chatTest('a dangerous command asks, in the talk and in the list, and runs once it may', async ({ chat: page, fake, mode }) => {
  fake.script(callTool('terminal', { command: 'git push --force origin main; touch cleaned' }), say('Pushed.'));
  await sendMessage(page, 'Push it again');
  const ask = conversation(page).getByRole('group', { name: 'The agent asks for permission' });
  await expect(ask).toContainText('git push --force');
  await expect(session(page, 'Push it').getByRole('img', { name: 'waits for your answer' })).toBeVisible();
  const id = (await (await mode.client()).chats.list({})).items[0]?.id ?? '';
  const { settings } = await (await mode.client()).chats.get({ id });
  expect(existsSync(join(settings.workspace, 'cleaned'))).toBe(false);
  await ask.getByRole('button', { name: 'Once' }).click();
  await expect(conversation(page).getByText('Pushed.')).toBeVisible();
  expect(existsSync(join(settings.workspace, 'cleaned'))).toBe(true);
});

// Bug: Esc does nothing while the model writes, or the chat is broken afterwards.
chatTest('Esc stops an answer, what was written stays, and the chat goes on', async ({ chat: page, fake }) => {
  fake.script(together(say(['The beginning', ' and never the end']), gated('never', 1)), say('Here again.'));
  await sendMessage(page, 'Tell me a long story');
  await expect(conversation(page).getByText('The beginning')).toBeVisible();
  await atWork(page);
  await page.keyboard.press('Escape');
  await expect(conversation(page).getByText('Stopped.')).toBeVisible();
  await sendMessage(page, 'Still there?');
  await expect(conversation(page).getByText('Here again.')).toBeVisible();
});

// Bug: a message sent while the agent works is lost, comes twice, or cannot be taken back.
chatTest('messages wait while the agent works; they can be taken back, changed, or steer it', async ({ chat: page, fake }) => {
  fake.script(together(callTool('terminal', { command: 'echo one' }), gated('first')), say('First answer.'), say('Second answer.'));
  await sendMessage(page, 'Begin');
  await fake.waitForChats(1);
  await sendMessage(page, 'then the second thing');
  await sendMessage(page, 'and a third');
  const queue = page.getByRole('list', { name: 'Waiting messages' });
  await expect(queue.getByRole('listitem')).toHaveCount(2);
  await queue.getByRole('listitem').filter({ hasText: 'and a third' }).getByRole('button', { name: 'Remove this message' }).click();
  await expect(queue.getByRole('listitem')).toHaveCount(1);
  await message(page).fill('watch the logs too');
  await message(page).press('Alt+Enter');
  await expect(queue.getByRole('listitem').filter({ hasText: 'watch the logs' })).toContainText('before the next step');
  fake.release('first');
  await expect(conversation(page).getByText('Second answer.')).toBeVisible();
  await expect(queue).toBeHidden();
  const asked = fake.chats.map(({ body }) => JSON.stringify(body.messages));
  expect(asked).toHaveLength(3);
  expect(asked[1]).toContain('watch the logs too');
  expect(asked[1]).not.toContain('then the second thing');
  expect(asked[2]).toContain('then the second thing');
  expect(asked[2]).not.toContain('and a third');
});

// Bug: editing overwrites what was said, or one cannot get back to it.
chatTest('a message said anew makes a branch, and both can be read', async ({ chat: page, fake, mode }) => {
  fake.respond(({ lastUser }) => say(`You said: ${lastUser}`));
  await sendMessage(page, 'apples');
  await expect(conversation(page).getByText('You said: apples')).toBeVisible();
  await atRest(mode);
  await conversation(page).getByText('apples', { exact: true }).hover();
  await conversation(page).getByRole('button', { name: 'Edit and send again' }).click();
  const edit = conversation(page).getByRole('textbox', { name: 'Edit and send again' });
  await edit.fill('pears');
  await edit.press('Control+Enter');
  await expect(conversation(page).getByText('You said: pears')).toBeVisible();
  await expect(conversation(page).getByText('You said: apples')).toBeHidden();
  await atRest(mode);
  await conversation(page).getByRole('button', { name: 'Previous version' }).click();
  await expect(conversation(page).getByText('You said: apples')).toBeVisible();
});

// Bug: a retry takes the old model, a fork changes the original, or undo loses the text.
chatTest('answered again by another model, forked, and taken back', async ({ chat: page, fake, mode }) => {
  fake.respond(({ body, lastUser }) => say(`${body.model} on ${lastUser}`));
  await sendMessage(page, 'tea');
  await expect(conversation(page).getByText('teacher-small on tea')).toBeVisible();
  await atRest(mode);
  await sendMessage(page, '/retry teacher-large');
  await expect(conversation(page).getByText('teacher-large on tea')).toBeVisible();
  await atRest(mode);

  const original = page.url();
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page).not.toHaveURL(original);
  await expect(sessions(page).getByRole('link')).toHaveCount(2);
  await expect(conversation(page).getByText('teacher-large on tea')).toBeVisible();
  await sendMessage(page, 'coffee');
  await expect(conversation(page).getByText(/on coffee$/)).toBeVisible();
  await atRest(mode);
  await sendMessage(page, '/undo');
  await expect(message(page)).toHaveValue('coffee');
  await expect(conversation(page).getByText(/on coffee$/)).toBeHidden();
  await expect(conversation(page).getByText('teacher-large on tea')).toBeVisible();
});

// Bug: a crash in the middle of an answer loses the chat, or leaves it running for ever.
chatTest('after kill -9 in the middle of an answer the chat is there and goes on', async ({ chat: page, fake, mode }) => {
  fake.script(together(say(['Half of', ' the answer']), gated('crash', 1)));
  await sendMessage(page, 'What is the whole?');
  await expect(conversation(page).getByText('Half of')).toBeVisible();
  await mode.kill();
  await message(page).fill('typed while it was away');
  await expect(page.getByRole('status').filter({ hasText: 'The engine is away.' })).toBeVisible();
  fake.release('crash');
  await page.goto(await mode.start());
  await expect(conversation(page).getByText('What is the whole?')).toBeVisible();
  await expect(session(page, 'What is the whole?').getByRole('img', { name: 'running' })).toBeHidden();
  await expect(message(page)).toHaveValue('typed while it was away');
  fake.script(say('The whole answer.'));
  await message(page).press('Enter');
  await expect(conversation(page).getByText('The whole answer.')).toBeVisible();
});

// Bug: a failing provider shows nothing, or the chat cannot be gone on with.
chatTest('a failing provider is told in the talk and in the list, and the answer can be asked for again', async ({ chat: page, fake }) => {
  fake.respond(() => ({ fault: { kind: 'status', status: 401 } }));
  await sendMessage(page, 'Hello?');
  await expect(conversation(page).getByText(/wants an API key/).first()).toBeVisible();
  await expect(session(page, 'Hello?').getByRole('img', { name: 'failed' })).toBeVisible();
  fake.respond(() => say('Here I am.'));
  await conversation(page).getByRole('button', { name: 'Answer again' }).first().click();
  await expect(conversation(page).getByText('Here I am.')).toBeVisible();
  await expect(session(page, 'Hello?').getByRole('img', { name: 'failed' })).toBeHidden();
});
