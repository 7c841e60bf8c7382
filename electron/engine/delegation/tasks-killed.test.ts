import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import type { Task } from '#shared/contract/tasks.ts';
import { killedAtItsLine, openPlace, openTasks, type Place, type TaskGround } from './testing.ts';

let place: Place;
let fake: FakeModel;
beforeEach(async () => {
  place = await openPlace();
  ({ fake } = place);
});
afterEach(() => place.close());

/** Runs `work` (source text; has `tasks` and `until`) in a process of its own, kills that when it is done, and opens the home here. */
async function killedAfter(work: string): Promise<TaskGround> {
  await killedAtItsLine(place, `
    import { openChats, FAKE } from ${JSON.stringify(import.meta.resolve('../chat/testing.ts'))};
    import { TaskService } from ${JSON.stringify(import.meta.resolve('./tasks.ts'))};
    const t = await openChats(home, url);
    const tasks = new TaskService({ db: t.store.db, chats: t.chats });
    const until = async (fits) => { for await (const { items } of tasks.watch()) if (fits(items)) return; };
    ${work}
    console.log('done');`);
  return openTasks(place);
}

const rested = (items: Task[]): boolean => items.every((task) => task.state !== 'running');

// §12.4 #76994: lost on restart. Bug: the task is gone, is shown as at work for ever, or begins again and does its work twice.
test('killed while tasks work: they are there, interrupted and unread, and go on without repeating what was answered', async () => {
  fake.respond(({ body }) => {
    const text = JSON.stringify(body.messages);
    if (text.includes('short task')) return say('short answer');
    // the answer to its first call is in what it is asked with the second time
    return text.includes('wrote it') ? together(say(['half ', 'an answer']), hangAfter(1)) : callTool('terminal', { command: 'echo wrote it >> made; cat made' });
  });
  const t = await killedAfter(`
    await tasks.start({ prompt: 'short task', ...FAKE });
    await until((items) => items[0].state === 'completed');
    await tasks.start({ prompt: 'long task', ...FAKE });
    await until((items) => items[0].activity === 'answering');`);
  const items = await t.untilTasks(() => true);
  expect(items.map(({ prompt, state, unread, result }) => ({ prompt, state, unread, result }))).toEqual([
    { prompt: 'long task', state: 'interrupted', unread: true, result: null },
    { prompt: 'short task', state: 'completed', unread: true, result: 'short answer' },
  ]);
  expect(items[0]).toMatchObject({ turns: 1, endedAt: expect.any(Number) as number, activity: null });
  expect(t.tasks.counts()).toEqual({ running: 0, unread: 2 });
  const asked = fake.counts.chats;

  fake.respond(() => say('all done'));
  await t.tasks.resume({ id: items[0]!.id });
  const [task] = await t.untilTasks(rested);
  expect(task).toMatchObject({ state: 'completed', result: 'all done', turns: 2 });
  expect(fake.counts.chats).toBe(asked + 1);
  const messages = t.said(task!);
  expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  // the command ran once
  expect(messages[3]!.content.match(/wrote it/g)).toHaveLength(1);
  expect(t.errors).toEqual([]);
});

// Bug: the call that was under way has no result, and the provider refuses the conversation.
test('killed while a command runs: its call gets a result that says so, and the task goes on', async () => {
  fake.script(callTool('terminal', { command: 'sleep 300' }));
  const t = await killedAfter(`
    await tasks.start({ prompt: 'wait', ...FAKE });
    await until((items) => items[0].activity?.includes('sleep'));`);
  const [task] = await t.untilTasks(rested);
  fake.respond(() => say('gave up'));
  await t.tasks.resume({ id: task!.id });
  const [after] = await t.untilTasks(rested);
  expect(after).toMatchObject({ state: 'completed', result: 'gave up' });
  expect(fake.chats.at(-1)!.body.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool']);
});
