import { expect, test } from '../../drivers/shell.ts';
import { firstPage } from './page.ts';

// Bug: a chat that ends while one works elsewhere says nothing, or a press on the notification leads nowhere.
test('a chat in the background tells by the system, and a press leads to it', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'a real notification cannot be pressed by a test');
  const shell = await launch();
  const page = await firstPage(shell);
  await shell.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.blur(), null);
  await page.evaluate(`postMessage({ type: 'talaria:notify', title: 'Nightly export', body: 'The agent has answered.', place: '/chat/00000000-0000-4000-8000-000000000000' }, location.origin)`);
  await expect.poll(() => shell.calls().filter(({ call }) => call === 'Notification.show').map(({ args }) => args)).toEqual([['Nightly export', 'The agent has answered.']]);
  await shell.evaluate(({ Notification }) => (Notification as unknown as { shown: { emit(event: string): void }[] }).shown[0]?.emit('click'), null);
  await expect.poll(() => page.evaluate('location.hash')).toBe('#/chat/00000000-0000-4000-8000-000000000000');
});

// Bug: a page that was taken over makes the system show what it likes, or leads to other places of the app.
test('what is no notice of a chat is not shown', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'a real notification cannot be seen by a test');
  const shell = await launch();
  const page = await firstPage(shell);
  await shell.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.blur(), null);
  await page.evaluate(`for (const place of ['/settings', 'https://example.org/', '/chat/../x']) postMessage({ type: 'talaria:notify', title: 'x', body: 'y', place }, location.origin)`);
  await page.evaluate(`postMessage({ type: 'talaria:notify', title: 'last', body: 'y', place: '/chat/1' }, location.origin)`);
  await expect.poll(() => shell.calls().filter(({ call }) => call === 'Notification.show').map(({ args }) => args[0])).toEqual(['last']);
});
