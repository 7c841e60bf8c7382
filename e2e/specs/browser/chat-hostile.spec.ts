import type { Page } from '@playwright/test';
import { callTool, say, think, together } from '../../fakes/steps.ts';
import { chatTest as test, conversation, expect, message, sendMessage } from '../../fixtures/chats.ts';

const EVIL = 'https://evil.example';
/** What would act, fetch or lead astray if any of it were taken for more than text. */
const HOSTILE = `<script>window.pwned = 1; alert(1)</script>
<img src="${EVIL}/a.png" onerror="window.pwned = 1"><iframe src="${EVIL}/frame"></iframe><svg onload="window.pwned = 1"></svg>
<style>body { background: url(${EVIL}/b.png) }</style><link rel="stylesheet" href="${EVIL}/c.css"><base href="${EVIL}/"><meta http-equiv="refresh" content="0;url=${EVIL}">

![picture](${EVIL}/d.png?secret=1) [![badge](${EVIL}/e.svg)](${EVIL}) ![data](data:image/svg+xml,<svg onload=alert(1)>)

[run](javascript:window.pwned=1) [data](data:text/html,<script>alert(1)</script>) [file](file:///etc/passwd) [page](#/settings) <javascript:alert(1)>

[https://good.example](${EVIL}/phish) and \u202Egnp.exe\u202C and Z\u0335\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030Aalgo
`;

/** Nothing ran, no window or dialog opened, and the page still answers. Requests and errors fail the test by themselves. */
async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  expect(page.context().pages()).toHaveLength(1);
  await message(page).fill('still here');
  await expect(message(page)).toHaveValue('still here');
  await message(page).fill('');
}

function refuseDialogs(page: Page): string[] {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return dialogs;
}

// Bug: HTML of a person, a model or a tool becomes elements: scripts run, pictures are fetched, links lead to code.
test('hostile text in a message, in reasoning, in arguments, in a result and in an answer is only text', async ({ chat: page, fake }) => {
  const dialogs = refuseDialogs(page);
  fake.script(together(think(HOSTILE), callTool('terminal', { command: `cat <<'E'\n${HOSTILE}\nE` })), say(HOSTILE));
  await sendMessage(page, HOSTILE);
  const talk = page.getByRole('region', { name: 'Conversation' });
  await expect(talk.getByRole('button', { name: 'Copy as Markdown' }).last()).toBeVisible();
  for (const name of [/^Thought for/, /^terminal/]) await talk.getByRole('button', { name }).first().click();
  const log = talk.getByRole('log');
  await expect(log.locator('script, iframe, svg[onload], style, link, base, meta, img[src^="http"], img[src^="data"], [onerror], [onload]')).toHaveCount(0);
  const links = await log.locator('a').evaluateAll((all) => all.map((a) => `${a.getAttribute('href')} ${a.getAttribute('target')} ${a.getAttribute('rel')}`));
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(link).toMatch(/^https:\/\/evil\.example\/\S* _blank noopener noreferrer$/);
  await expect(log.getByText('(evil.example)').first()).toBeVisible();
  await expect(log.getByText('javascript:window.pwned=1').first()).toBeAttached();
  expect(dialogs).toEqual([]);
  await expectUnharmed(page);
});

const GIANTS: [name: string, text: string][] = [
  ['a word of 100,000 letters', 'w'.repeat(100_000)],
  ['a thousand quotes in a quote', `${'> '.repeat(1_000)}deep`],
  ['a thousand lists in a list', `${'- '.repeat(1_000)}deep`],
  ['lists by indentation', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i * 2)}- level ${i}`).join('\n')],
  ['brackets, stars and ticks without end', `${'['.repeat(20_000)}\n\n${'*a **b '.repeat(5_000)}\n\n${Array.from({ length: 200 }, (_, i) => '`'.repeat(i)).join('a')}`],
  ['a table of 5,000 rows', `| a | b |\n|---|---|\n${'| one | two |\n'.repeat(5_000)}`],
  ['a fence of 20,000 lines', `\`\`\`js\n${'const a = 1;\n'.repeat(20_000)}`],
  ['a megabyte', 'A sentence with some **bold** words and `code`. '.repeat(21_000)],
];

// Bug: reading what a model wrote takes time that grows with the square, or makes more elements than a page can hold.
for (const [name, text] of GIANTS) {
  test(`an answer with ${name} neither freezes the page nor fills it with elements`, async ({ chat: page, fake }) => {
    fake.script(say(text, { pieceChars: 20_000 }), say('Next answer.'));
    await sendMessage(page, 'Go');
    const log = conversation(page);
    await expect(log.getByRole('button', { name: 'Answer again' })).toBeVisible();
    expect(await log.locator('*').count()).toBeLessThan(6_000);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await expectUnharmed(page);
    await sendMessage(page, 'And now?');
    await expect(log.getByText('Next answer.')).toBeVisible();
  });
}

// Bug: a megabyte that a person pastes is laid out whole, in the field or in the talk.
test('a message of a megabyte is cut until it is asked for', async ({ chat: page }) => {
  const text = `first line\n${'pasted words '.repeat(80_000)}\nlast line`;
  await page.evaluate((t) => navigator.clipboard?.writeText(t).catch(() => undefined), text.slice(0, 10));
  await message(page).fill(text);
  await message(page).press('Enter');
  const log = conversation(page);
  await expect(log.getByText('Done.')).toBeVisible();
  await log.getByRole('button', { name: /^Show all .*(MB|KB)/ }).click();
  const viewer = log.getByRole('region', { name: 'User' });
  await expect(viewer).toContainText('first line');
  await viewer.evaluate((el) => el.scrollTo(0, el.scrollHeight));
  await expect(viewer).toContainText('last line');
  expect(await viewer.locator('*').count()).toBeLessThan(1_000);
  await expectUnharmed(page);
});
