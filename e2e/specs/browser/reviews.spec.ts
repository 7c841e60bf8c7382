import { callTool, say, type Step } from '../../fakes/steps.ts';
import type { ModelRequest } from '../../fakes/requests.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { chatTest as test, conversation, expect, newChat, sendMessage } from '../../fixtures/chats.ts';

const SKILL = '---\nname: release-package\ndescription: Releases a package in the order that worked.\n---\n\n# Steps\n\n1. Run the tests.\n2. Tag it.\n';
const QUOTED = [{ message: '1', quote: 'Release the package, and always run the tests first' }];

/** The review agent speaks to another system prompt. */
const isReview = ({ body }: ModelRequest): boolean => String(body.messages[0]?.content).startsWith('You review a finished conversation');
const working = ({ turnsSinceUser: n }: ModelRequest, calls: number): Step => (n < calls ? callTool('terminal', { command: `echo step ${n}` }) : say('All of it is done.'));

const keep = (...steps: Step[]) => ({ turnsSinceUser: n }: ModelRequest): Step => steps[n] ?? say('Nothing to save.');
const newSkill = callTool('skill_manage', { action: 'create', name: 'release-package', content: SKILL, evidence: QUOTED, reason: 'The order was found with effort.' });
const aMemory = callTool('memory', { action: 'add', target: 'user', content: 'Wants the tests run before a release.', evidence: QUOTED, reason: 'The person said so.' });

const screens = (page: import('@playwright/test').Page) => page.getByRole('navigation', { name: 'Screens' });

// Bug: what was learnt stays unseen, cannot be traced to what was said, or cannot be taken back.
test('eleven steps without a skill end in one review, told in a line under the reply, with its turns, and undone', async ({ chat: page, fake }) => {
  let asked = 0;
  fake.respond((request) => {
    if (!isReview(request)) return working(request, 11);
    if (request.turnsSinceUser === 0) asked += 1;
    return keep(newSkill)(request);
  });
  await sendMessage(page, 'Release the package, and always run the tests first');
  await expect(conversation(page).getByText('All of it is done.')).toBeVisible();
  const line = page.getByRole('link', { name: /Skill release-package kept/ });
  await expect(line).toBeVisible();
  expect(asked).toBe(1);
  await line.click();
  const proposal = page.getByRole('article', { name: 'New skill: release-package' });
  await expect(proposal.getByText('kept at once')).toBeVisible();
  await expect(proposal.getByText('The order was found with effort.')).toBeVisible();
  await expect(proposal.getByRole('group', { name: 'Changes of SKILL.md' })).toContainText('2. Tag it.');
  await expectAccessible(page, 'a review');

  await proposal.getByRole('list', { name: 'Drawn from' }).getByRole('link').click();
  await expect(page.getByRole('main').getByText('Release the package, and always run the tests first').first()).toBeVisible();
  await page.goBack();
  await expect(proposal.getByText('kept at once')).toBeVisible();
  await page.keyboard.press('u');
  await expect(proposal.getByText('undone')).toBeVisible();
});

// Bug: changes that a person wants to see first are made at once, or an edit of theirs is lost.
test('what asks first waits in the inbox, and is accepted as edited, rejected, or accepted after all', async ({ chat: page, fake, mode }) => {
  const client = await mode.client();
  await client.reviews.configure({ apply: { memory_add: 'ask', memory_change: 'ask', memory_remove: 'ask', skill_new: 'ask', skill_change: 'ask', skill_remove: 'ask' } });
  fake.respond((request) => (isReview(request) ? keep(newSkill, aMemory)(request) : say('Done.')));
  await sendMessage(page, 'Release the package, and always run the tests first');
  await expect(conversation(page).getByText('Done.')).toBeVisible();
  await sendMessage(page, '/review how releases are made');
  await expect(page.getByRole('link', { name: /2 wait for you/ })).toBeVisible();
  await expect(screens(page).getByLabel('2 proposals wait for you')).toBeVisible();
  await screens(page).getByRole('link', { name: 'Reviews' }).click();
  await expect(page.getByRole('navigation', { name: 'Reviews', exact: true }).getByRole('link').first()).toBeVisible();
  await page.keyboard.press('j');
  await expect(page.getByText('Asked to look at: how releases are made')).toBeVisible();

  const skill = page.getByRole('article', { name: 'New skill: release-package' });
  await page.keyboard.press('e');
  await skill.getByRole('textbox', { name: 'SKILL.md' }).fill(SKILL.replace('Tag it.', 'Tag it, signed.'));
  await page.keyboard.press('Control+Enter');
  await expect(skill.getByText('accepted')).toBeVisible();
  const [made] = (await client.skills.list()).items;
  expect((await client.skills.get({ id: made!.id })).text).toContain('Tag it, signed.');

  const memory = page.getByRole('article', { name: /^New memory/ });
  await expect(memory).toHaveAttribute('aria-current', 'true');
  await page.keyboard.press('r');
  await expect(memory.getByText('rejected')).toBeVisible();
  await expect(screens(page).getByLabel(/proposals? waits? for you/)).toBeHidden();
  await page.keyboard.press('a');
  await expect(memory.getByText('accepted')).toBeVisible();
  const { stores } = await client.memory.get();
  expect(stores.flatMap((store) => store.entries.map((entry) => entry.text))).toEqual(['Wants the tests run before a release.']);
});

// Bug: only the chat that is open can be learnt from, or nobody hears that a review found nothing.
test('trajectories of the Library are learnt from together', async ({ chat: page, fake }) => {
  fake.respond((request) => (isReview(request) ? keep(aMemory)(request) : say('Done.')));
  for (const text of ['Release the package, and always run the tests first', 'Another thing']) {
    if (text.startsWith('Another')) await newChat(page);
    await sendMessage(page, text);
    await expect(conversation(page).getByText('Done.')).toBeVisible();
  }
  await screens(page).getByRole('link', { name: 'Library' }).click();
  // keys move through what is there
  await expect(page.getByRole('option', { name: /Another thing/ })).toBeVisible();
  await page.keyboard.press('Control+a');
  await expect(page.getByRole('button', { name: /^Learn from/ })).toBeHidden();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Learn from 2' }).click();
  // a chat that was left before its answer tells of its end beside it
  await page.getByRole('dialog', { name: 'The review has begun' }).getByRole('button', { name: 'Open', exact: true }).click();
  await expect(page.getByRole('article', { name: /^New memory/ })).toBeVisible();
  // the status line counts trajectories too
  await expect(page.getByRole('main').getByText('2 trajectories')).toBeVisible();
});

// Bug: settings of reviews are only in a file, or a change of them is not kept.
test('when agents look back, and what they may keep unasked, is set in Settings', async ({ chat: page, mode }) => {
  await screens(page).getByRole('link', { name: 'Settings' }).click();
  const learning = page.getByRole('region', { name: 'Learning' });
  await learning.getByRole('textbox', { name: 'Steps until a look for skills' }).fill('25');
  await page.keyboard.press('Enter');
  await learning.getByRole('radiogroup', { name: 'New skills' }).getByRole('radio', { name: 'Ask first' }).click();
  const client = await mode.client();
  await expect.poll(async () => { const s = await client.reviews.settings(); return [s.skillInterval, s.apply.skill_new]; }).toEqual([25, 'ask']);
  await expectAccessible(page, 'learning in Settings');
});
