import { gated, say, together } from '../../fakes/steps.ts';
import { chatTest as test, expect, sendMessage } from '../../fixtures/chats.ts';

// Bug: a short title is cut to make room for the names of toolsets, which are cut too.
test('a title that has room is whole, however many toolsets stand beside it', async ({ chat: page }) => {
  await page.setViewportSize({ width: 1024, height: 720 });
  await sendMessage(page, 'split it up');
  const title = page.getByRole('heading', { level: 1 }).getByRole('button');
  await expect(title).toHaveText('split it up');
  await expect(page.getByText(/ · terminal, file, web/)).toBeVisible();
  expect(await title.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
});

// Bug: the list of chats says in English what a chat does.
test('what a chat is doing is told in the language of the page', async ({ chat: page, fake, mode }) => {
  await (await mode.client()).settings.update({ language: 'zh-CN' });
  await page.reload();
  fake.respond(() => together(say(['one ', 'two']), gated('rest', 1)));
  await page.getByRole('textbox', { name: '消息', exact: true }).fill('hello');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('navigation', { name: '对话' }).getByText('正在作答')).toBeVisible();
});
