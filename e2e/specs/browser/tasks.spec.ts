import type { Locator, Page } from '@playwright/test';
import { callTool, gated, say, together } from '../../fakes/steps.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { command } from '../../fixtures/page.ts';
import { chatTest as test, conversation, expect, message, sendMessage, sessions } from '../../fixtures/chats.ts';

const statusLine = (page: Page): Locator => page.getByRole('contentinfo', { name: 'Status' });
const tray = (page: Page): Locator => page.getByRole('dialog', { name: 'Tasks' });
const task = (page: Page, title: string): Locator => tray(page).getByRole('listitem').filter({ hasText: title });

async function openTray(page: Page): Promise<void> {
  await statusLine(page).getByRole('button', { name: /task/i }).click();
  await expect(tray(page)).toBeVisible();
}

// Bug: the task takes over the chat it was asked in, or works where nobody sees it.
test('/background gives a task away: the chat goes on, the status line shows it, its end is told and leads to it', async ({ chat: page, fake }) => {
  fake.script(say('Hello back.'), together(callTool('todo', { todos: [{ id: '1', content: 'dig', status: 'in_progress' }] }), gated('dig')), say('Found **three** of them.'));
  await sendMessage(page, 'Hello');
  await expect(conversation(page).getByText('Hello back.')).toBeVisible();
  await message(page).pressSequentially('/bac');
  await page.keyboard.press('Tab');
  await expect(message(page)).toHaveValue('/background ');
  await message(page).pressSequentially('find the lost files');
  await page.keyboard.press('Enter');
  await expect(message(page)).toHaveValue('');
  await expect(statusLine(page).getByRole('button', { name: '1 task', exact: true })).toBeVisible();
  await fake.waitForChats(2);
  expect(JSON.stringify(fake.chats[1]?.body)).not.toContain('Hello back.');
  await expect(sessions(page).getByRole('link')).toHaveCount(1);

  await openTray(page);
  await expect(task(page, 'find the lost files')).toContainText('step 0/');
  await page.keyboard.press('Escape');
  fake.release('dig');
  const toast = page.getByText('The task is done.');
  await expect(toast).toBeVisible();
  await expect(statusLine(page).getByRole('button', { name: /1 task ended/ })).toBeVisible();
  await openTray(page);
  await expect(task(page, 'find the lost files')).toContainText('Found three of them.');
  await task(page, 'find the lost files').getByRole('link').click();
  await expect(conversation(page).getByText('Found three of them.')).toBeVisible();
  await expect(statusLine(page).getByRole('button', { name: 'Tasks', exact: true })).toBeVisible();
});

// Bug: stopping from the tray stops nothing, or what was stopped or removed cannot be had back.
test('by the keyboard: a task is started, stopped, gone on with, removed and brought back', async ({ chat: page, fake }) => {
  fake.script(together(say(['half ', 'an answer']), gated('never', 1)), say('the whole answer'));
  await command(page, 'show tasks');
  await expect(tray(page)).toContainText('No tasks');
  await tray(page).getByRole('textbox', { name: 'A task for the background' }).fill('count the stones');
  await page.keyboard.press('Enter');
  await expect(task(page, 'count the stones')).toBeVisible();
  await fake.waitForChats(1);
  await task(page, 'count the stones').getByRole('button', { name: 'Stop “count the stones”' }).press('Enter');
  await expect(task(page, 'count the stones').getByRole('img', { name: 'stopped' })).toBeVisible();
  await task(page, 'count the stones').getByRole('button', { name: 'Go on with “count the stones”' }).press('Enter');
  await expect(task(page, 'count the stones')).toContainText('the whole answer');
  await task(page, 'count the stones').getByRole('button', { name: 'Remove “count the stones”' }).press('Enter');
  await expect(tray(page)).toContainText('No tasks');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Undo' }).click();
  await openTray(page);
  await expect(task(page, 'count the stones')).toContainText('the whole answer');
});

// Bug: after a reload, or a crash of the engine, the task is nowhere, though it works or can go on.
test('a task survives a reload and a killed engine, and what a person says to it makes a chat of it', async ({ chat: page, mode, fake }) => {
  fake.script(together(say('an answer'), gated('slow')));
  await sendMessage(page, '/background walk the dog');
  await fake.waitForChats(1);
  await page.reload();
  await expect(statusLine(page).getByRole('button', { name: '1 task', exact: true })).toBeVisible();
  await page.goto(await mode.restart('kill'));
  await expect(statusLine(page).getByRole('button', { name: /1 task ended/ })).toBeVisible({ timeout: 30_000 });
  await openTray(page);
  await expect(task(page, 'walk the dog').getByRole('img', { name: 'stopped' })).toBeVisible();
  await task(page, 'walk the dog').getByRole('link').click();
  await expect(page.getByText('nobody is asked here')).toBeVisible();
  fake.respond(() => say('Good dog.'));
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(conversation(page).getByText('Good dog.')).toBeVisible();
  await expect(sessions(page).getByRole('link').filter({ hasText: 'walk the dog' })).toHaveCount(0);
  await sendMessage(page, 'and now the cat');
  await expect(sessions(page).getByRole('link').filter({ hasText: 'walk the dog' })).toBeVisible();
  await expect(page.getByText('nobody is asked here')).toBeHidden();
});

test('the tray is accessible, empty and full, in both themes', async ({ chat: page, fake }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openTray(page);
  await expectAccessible(page, 'empty tray');
  await page.keyboard.press('Escape');
  fake.script(say('A short answer of a task.'));
  await sendMessage(page, '/background one');
  await expect(statusLine(page).getByRole('button', { name: /1 task ended/ })).toBeVisible();
  fake.script(together(say('x'), gated('hold')));
  await sendMessage(page, '/background another one that still works');
  await fake.waitForChats(2);
  await openTray(page);
  await expect(task(page, 'another one')).toBeVisible();
  await expectAccessible(page, 'full tray');
});
