import type { Locator, Page } from '@playwright/test';
import type { FakeModel } from '../../fakes/fake-model.ts';
import { callTool, fail, gated, hangAfter, say, type Step, together } from '../../fakes/steps.ts';
import { expectAccessible } from '../../fixtures/axe.ts';
import { chatTest as test, conversation, expect, message, sendMessage, sessions } from '../../fixtures/chats.ts';

const agents = (page: Page): Locator => conversation(page).getByRole('region', { name: 'Sub-agents' });
const agent = (page: Page, goal: string): Locator => agents(page).getByRole('listitem').filter({ hasText: goal });

/** A model that gives these tasks away when it is told to split, says `after` once it has the results, and answers children by their goal. */
function scriptAgents(fake: FakeModel, goals: Record<string, Step | ((calls: number) => Step)>, options: { after?: string; background?: boolean } = {}): void {
  const calls = new Map<string, number>();
  fake.respond(({ body }) => {
    const said = JSON.stringify(body.messages.filter((m) => m.role === 'user').at(0));
    if (said.includes('split it up')) {
      const last = body.messages.at(-1);
      if (last?.role !== 'user' || !JSON.stringify(last).includes('split it up')) return say(options.after ?? 'All are back.');
      return callTool('spawn_parallel', { tasks: Object.keys(goals).map((goal) => ({ goal })), ...(options.background ? { background: true } : {}) });
    }
    const goal = Object.keys(goals).find((one) => said.includes(one)) ?? '';
    const step = goals[goal];
    calls.set(goal, (calls.get(goal) ?? 0) + 1);
    return typeof step === 'function' ? step(calls.get(goal)!) : (step ?? say('Nobody asked for this.'));
  });
}

// §12.4 #104675, #105631. Bug: one sees a spinner for minutes and not what the agents do; after a reload they are gone.
test('the person sees sub-agents live, with what they do, also after a reload; ended ones fold to a line with their report', async ({ chat: page, fake }) => {
  scriptAgents(fake, {
    'read the parser': say('It refuses **nine** forms.'),
    'run the slow tests': (n) => (n === 1 ? callTool('terminal', { command: 'sleep 120' }) : say('never')),
    'ask the callers': together(say(['looking ', 'around']), gated('callers', 1)),
    'read the docs': together(say('The docs are fine.'), gated('docs')),
  });
  await sendMessage(page, 'split it up');
  // three at once: the fourth has its place when the first is done
  await expect(agents(page)).toContainText('1 of 4 ended');
  await expect(agent(page, 'read the parser')).toContainText('It refuses nine forms.');
  await expect(agent(page, 'run the slow tests')).toContainText('sleep 120');
  await expect(agent(page, 'run the slow tests')).toContainText('1 step');
  await expect(agent(page, 'ask the callers')).toContainText('answering');
  await expect(page.getByRole('complementary', { name: 'About this chat' }).getByText('Sub-agents at work')).toBeVisible();

  await page.reload();
  await expect(agent(page, 'run the slow tests')).toContainText('sleep 120');
  await agent(page, 'read the parser').getByRole('button', { expanded: false }).click();
  await expect(agent(page, 'read the parser').getByText('nine', { exact: true })).toBeVisible();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expectAccessible(page, 'sub-agents at work');

  // one is opened: its own trajectory, live
  await agent(page, 'ask the callers').getByRole('link', { name: /^Open/ }).click();
  await expect(page).toHaveURL(/#\/library\//);
  await expect(page.getByText('looking', { exact: false }).first()).toBeVisible();
  await page.goBack();
  await expect(agents(page)).toBeVisible();
});

// §12.4 #22176, #42176, #115616. Bug: stopping the parent leaves its children at work, or one cannot be stopped alone.
test('one is stopped and the others go on; when stopping the parent is answered, all of them have stopped', async ({ chat: page, fake, mode }) => {
  scriptAgents(fake, { 'the first one': hangAfter(1), 'the second one': (n) => (n === 1 ? callTool('terminal', { command: 'sleep 300' }) : say('no')), 'the third one': hangAfter(0) });
  await sendMessage(page, 'split it up');
  await expect(agent(page, 'the second one')).toContainText('sleep 300');
  await agent(page, 'the first one').getByRole('button', { name: /^Stop/ }).click();
  await expect(agent(page, 'the first one').getByRole('img', { name: 'stopped' })).toBeVisible();
  await expect(agent(page, 'the second one').getByRole('img', { name: 'running' })).toBeVisible();

  const client = await mode.client();
  const [chat] = (await client.chats.list({ limit: 1 })).items;
  await client.chats.stop({ id: chat!.id });
  const items = await first(await client.delegations.watch({ sessionId: chat!.id }));
  // what was asked to stop has stopped when the call answers: all of them are in the store as such
  expect(items.items.flatMap(({ children }) => children.map(({ state }) => state))).toEqual(['interrupted', 'interrupted', 'interrupted']);
  await expect(agents(page)).toContainText('3 of 3 ended');
});

// Bug: a word to a sub-agent goes to its parent, or nowhere.
test('a sub-agent is steered by the keyboard', async ({ chat: page, fake }) => {
  scriptAgents(fake, { 'count the stones': (n) => (n === 1 ? together(callTool('todo', { todos: [] }), gated('first')) : say('Only the white ones.')) });
  await sendMessage(page, 'split it up');
  await agent(page, 'count the stones').getByRole('button', { name: /^Steer/ }).press('Enter');
  await expect(agent(page, 'count the stones').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('only the white ones');
  await page.keyboard.press('Enter');
  await expect(page.getByText('It hears this before its next step.')).toBeVisible();
  fake.release('first');
  await expect(conversation(page).getByText('All are back.')).toBeVisible();
  const child = fake.chats.find(({ body }) => JSON.stringify(body.messages.at(-1)).includes('only the white ones'));
  expect(JSON.stringify(child?.body.messages)).toContain('count the stones');
});

// Bug: results of the background look as if the person had written them, or come without a trace of where from.
test('in the background: the chat goes on, the call says that they report later, and their results are a quiet line', async ({ chat: page, fake }) => {
  scriptAgents(fake, { 'paint the fence': together(say('It is green now.'), gated('fence')), 'feed the cat': fail(400, { message: 'no such cat' }) }, { after: 'They are at work.', background: true });
  await sendMessage(page, 'split it up');
  await expect(conversation(page).getByText('They are at work.').first()).toBeVisible();
  await expect(agents(page)).toContainText('reports later');
  await expect(sessions(page).getByRole('img', { name: /sub-agents? at work/ })).toBeVisible();
  await expect(agent(page, 'feed the cat').getByRole('img', { name: 'failed' })).toBeVisible();
  fake.release('fence');
  await expect(agents(page)).toContainText('reported');
  await conversation(page).getByRole('button', { name: 'Results of 2 sub-agents' }).click();
  await expect(conversation(page).getByRole('button', { name: /^paint the fence/ })).toHaveCount(2);
  await expect(sessions(page).getByRole('img', { name: /sub-agents? at work/ })).toBeHidden();
});

// Bug: a key or a slip archives a chat, and the work of its sub-agents is gone without a word.
test('leaving a chat whose sub-agents work asks first, says how many, and goes by keys; without any there is no question', async ({ chat: page, fake, mode }) => {
  scriptAgents(fake, { 'paint the fence': hangAfter(0), 'feed the cat': hangAfter(0) }, { after: 'They are at work.', background: true });
  await sendMessage(page, 'split it up');
  await expect(conversation(page).getByText('They are at work.').first()).toBeVisible();
  const row = sessions(page).getByRole('link', { name: /split it up/ });
  await expect(row.getByRole('img', { name: '2 sub-agents at work' })).toBeVisible();
  const client = await mode.client();
  const [chat] = (await client.chats.list({ limit: 1 })).items;

  await row.focus();
  await page.keyboard.press('e');
  const question = page.getByRole('dialog', { name: 'Archive “split it up”?' });
  await expect(question).toContainText('2 sub-agents still work for this chat. They are stopped, and what they have found is lost.');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expectAccessible(page, 'the question before sub-agents are stopped');
  await page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(row).toBeFocused();
  expect((await client.chats.get({ id: chat!.id })).session).toMatchObject({ archived: false, agents: 2 });

  // one has ended since: the question tells of those that are at work now
  await agent(page, 'feed the cat').getByRole('button', { name: /^Stop/ }).click();
  await expect(agents(page)).toContainText('1 of 2 ended');
  await sendMessage(page, '/archive');
  await expect(question).toContainText('A sub-agent still works for this chat.');
  await page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`#/chat/${chat!.id}$`));

  await row.focus();
  await page.keyboard.press('Delete');
  const removal = page.getByRole('dialog', { name: 'Delete “split it up”?' });
  await expect.poll(() => removal.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await expect(removal.getByRole('button', { name: 'Stop and delete' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(row).toBeHidden();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toBeVisible();
  const items = await first(await client.delegations.watch({ sessionId: chat!.id }));
  expect(items.items.flatMap(({ children }) => children.map(({ state }) => state))).toEqual(['interrupted', 'interrupted']);

  await row.click();
  await expect(page).toHaveURL(new RegExp(`#/chat/${chat!.id}$`));
  await expect(message(page)).toBeFocused();
  await row.focus();
  await page.keyboard.press('e');
  await expect(row).toBeHidden();
  await expect(page.getByRole('dialog')).toBeHidden();
});

async function first<T>(stream: AsyncIterable<T>): Promise<T> {
  const iterator = stream[Symbol.asyncIterator]();
  const { value, done } = await iterator.next();
  await iterator.return?.();
  if (done === true) throw new Error('The stream ended at once');
  return value;
}
