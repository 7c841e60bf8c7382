import { expect, test } from '../../drivers/shell.ts';

// Bug: the policy of the page takes the editor's own styles away, so that it is a heap of unstyled lines.
test('the editor of skills has its styles under the policy of the shell', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Skills' }).click();
  await page.getByRole('button', { name: /^New skill/ }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New skill' });
  await dialog.getByLabel('Name').fill('styled');
  await dialog.getByLabel('Description').fill('Has its styles.');
  await dialog.getByRole('button', { name: /^Create/ }).click();
  const text = page.getByRole('textbox', { name: 'Text of SKILL.md' });
  await expect(text).toContainText('Has its styles.');
  await expect(page.locator('.cm-scroller')).toHaveCSS('display', 'flex');
  await expect(text).toHaveCSS('font-family', /JetBrains/);
  await text.click();
  await page.keyboard.press('Control+f');
  await expect(page.getByPlaceholder('Find')).toBeFocused();
  expect(refused).toEqual([]);
});
