import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../../shared/contract/index.ts';
import { callTool, fail, gated, say, think, together } from '../../fakes/steps.ts';
import { atRest, atWork, chatTest as test, conversation, expect, message, sendMessage, session } from '../../fixtures/chats.ts';

async function openSession(client: Client): Promise<{ id: string; workspace: string }> {
  const id = (await client.chats.list({})).items[0]?.id ?? '';
  return { id, workspace: (await client.chats.get({ id })).settings.workspace };
}

// Bug: one cannot see what going back takes away, or cannot get it again.
test('files are put back after a look at the diff, and the going back is undone', async ({ chat: page, fake, mode }) => {
  fake.script(callTool('write_file', { path: 'notes.txt', content: 'a line that the agent wrote\n' }), say('Written.'));
  await sendMessage(page, 'Write a note');
  await expect(conversation(page).getByText('Written.')).toBeVisible();
  const { workspace } = await openSession(await mode.client());
  const file = join(workspace, 'notes.txt');
  expect(readFileSync(file, 'utf8')).toContain('a line');
  await atRest(mode);
  await sendMessage(page, '/rollback');
  const dialog = page.getByRole('dialog', { name: 'Put files back' });
  await expect(dialog.getByText('notes.txt').first()).toBeVisible();
  await expect(dialog.getByText('a line that the agent wrote')).toBeVisible();
  await dialog.getByRole('button', { name: 'Go back' }).click();
  await expect(dialog).toBeHidden();
  await expect.poll(() => existsSync(file)).toBe(false);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe('a line that the agent wrote\n');
});

// Bug: a copy leaves out who spoke or what tools did, or has the thoughts as if they were the answer.
test('a chat is copied as Markdown', async ({ chat: page, fake }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  fake.script(together(think('secret thought'), callTool('terminal', { command: 'echo copied' })), say('The **end**.'));
  await sendMessage(page, 'Say it');
  await expect(conversation(page).getByText('The end.')).toBeVisible();
  await page.getByRole('button', { name: 'Copy as Markdown' }).first().click();
  await expect(page.getByRole('heading', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const part of ['Say it', 'echo copied', 'The **end**.']) expect(copied).toContain(part);
  expect(copied.indexOf('Say it')).toBeLessThan(copied.indexOf('The **end**.'));
});

// Bug: after a summary one does not know what the model still reads, or the older messages are gone.
test('a summary is marked where it was made, can be read, and the context is counted with it', async ({ chat: page, fake, mode }) => {
  fake.respond(() => say('An answer of some length. '.repeat(40)));
  const client = await mode.client();
  for (let turn = 1; turn <= 8; turn += 1) {
    await sendMessage(page, `Question ${turn}`);
    await expect.poll(async () => (await client.chats.list({})).items[0]).toMatchObject({ state: 'idle', messageCount: 1 + turn * 2 });
  }
  await sendMessage(page, '/compress');
  const marker = conversation(page).getByRole('button', { name: /earlier messages? summarised/ });
  await marker.click();
  await expect(marker).toHaveAttribute('aria-expanded', 'true');
  await expect(page.getByRole('complementary', { name: 'About this chat' }).getByText(/^≈ .*tokens$/)).toBeVisible();
  await page.keyboard.press('Home');
  await expect(conversation(page).getByText('Question 1', { exact: true })).toBeVisible();
});

// Bug: what was said in between looks as if it had been said at first.
test('a message that steered the agent is marked as such', async ({ chat: page, fake }) => {
  fake.script(together(callTool('terminal', { command: 'echo one' }), gated('step')), say('Both done.'));
  await sendMessage(page, 'Begin');
  await fake.waitForChats(1);
  await atWork(page);
  await message(page).fill('and mind the logs');
  await message(page).press('Alt+Enter');
  await expect(page.getByRole('list', { name: 'Waiting messages' })).toContainText('before the next step');
  fake.release('step');
  await expect(conversation(page).getByText('Both done.')).toBeVisible();
  await expect(conversation(page).getByText('and mind the logs')).toBeVisible();
  await expect(conversation(page).getByText('Sent while the agent worked')).toBeVisible();
});

// Bug: a provider that asks for patience looks like one that hangs; or stopping has to wait for it too.
test('a retry says when it comes and why, and is stopped at once', async ({ chat: page, fake }) => {
  fake.script(fail(429, { retryAfter: 600 }));
  await sendMessage(page, 'Hello');
  await expect(conversation(page).getByText(/^Next try in \d+:\d\d/)).toBeVisible();
  await expect(session(page, 'Hello')).toContainText('waiting to try again');
  await page.keyboard.press('Escape');
  await expect(conversation(page).getByText('Stopped.')).toBeVisible();
  await expect(session(page, 'Hello').getByRole('img', { name: 'failed' })).toBeHidden();
});

// Bug: at its spend limit a chat stops without a word, or for ever.
test('a spend limit stops a chat, leads to Settings, and the chat goes on once it is raised', async ({ chat: page, mode, fake }) => {
  const client = await mode.client();
  await client.spend.setPrice({ model: 'teacher-small', price: { input: 1_000, output: 1_000 } });
  await client.spend.setCaps({ sessionUsd: 0.000_001 });
  fake.respond(() => say('Paid for.'));
  await sendMessage(page, 'First');
  await expect(conversation(page).getByText('Paid for.')).toBeVisible();
  await sendMessage(page, 'Second');
  await expect(conversation(page).getByText('The spend limit is reached.')).toBeVisible();
  await expect(conversation(page).getByRole('link', { name: 'Settings' })).toHaveAttribute('href', '#/settings');
  await client.spend.setCaps({ sessionUsd: null });
  await conversation(page).getByRole('button', { name: 'Answer again' }).click();
  await expect(conversation(page).getByText('The spend limit is reached.')).toBeHidden();
  await expect(conversation(page).getByText('Paid for.')).toHaveCount(2);
});
