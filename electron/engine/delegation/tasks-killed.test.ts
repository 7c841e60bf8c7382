import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import type { Task } from '#shared/contract/tasks.ts';
import { wholeHistory } from '../chat/history.ts';
import { type ChatGround, openChats, testHome } from '../chat/testing.ts';
import { TaskService } from './tasks.ts';

let fake: FakeModel;
let home: ReturnType<typeof testHome>;
let t: ChatGround | null = null;
let child: ChildProcess | null = null;
beforeEach(async () => {
  fake = await startFakeModel();
  home = testHome();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  child = null;
  await t?.close();
  t = null;
  await fake.close();
  home.remove();
});

const href = (file: string): string => pathToFileURL(resolve(import.meta.dirname, file)).href;

/** Runs `work` (source text; has `tasks` and `until`) in a process of its own, kills that when it is done, and opens the home here. */
async function killedAfter(work: string): Promise<TaskService> {
  const script = `
    import { openChats, FAKE } from ${JSON.stringify(href('../chat/testing.ts'))};
    import { TaskService } from ${JSON.stringify(href('tasks.ts'))};
    const t = await openChats(process.argv[1], process.argv[2]);
    const tasks = new TaskService({ db: t.store.db, chats: t.chats });
    const until = async (fits) => { for await (const { items } of tasks.watch()) if (fits(items)) return; };
    ${work}
    console.log('reached');
    setInterval(() => {}, 1000);`;
  child = spawn(process.execPath, ['--input-type=module', '-e', script, home.home, fake.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line !== 'reached') continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
    t = await openChats(home.home, fake.url);
    return new TaskService({ db: t.store.db, chats: t.chats });
  }
  throw new Error('The process ended before it came to the point');
}

async function untilTasks(tasks: TaskService, fits: (items: Task[]) => boolean): Promise<Task[]> {
  const abort = new AbortController();
  try {
    for await (const { items } of tasks.watch(abort.signal)) if (fits(items)) return items;
  } finally {
    abort.abort();
  }
  throw new Error('The list ended');
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
  const tasks = await killedAfter(`
    await tasks.start({ prompt: 'short task', ...FAKE });
    await until((items) => items[0].state === 'completed');
    await tasks.start({ prompt: 'long task', ...FAKE });
    await until((items) => items[0].activity === 'answering');`);
  const items = await untilTasks(tasks, () => true);
  expect(items.map(({ prompt, state, unread, result }) => ({ prompt, state, unread, result }))).toEqual([
    { prompt: 'long task', state: 'interrupted', unread: true, result: null },
    { prompt: 'short task', state: 'completed', unread: true, result: 'short answer' },
  ]);
  expect(items[0]).toMatchObject({ turns: 1, endedAt: expect.any(Number) as number, activity: null });
  expect(tasks.counts()).toEqual({ running: 0, unread: 2 });
  const asked = fake.counts.chats;

  fake.respond(() => say('all done'));
  await tasks.resume({ id: items[0]!.id });
  const [task] = await untilTasks(tasks, rested);
  expect(task).toMatchObject({ state: 'completed', result: 'all done', turns: 2 });
  expect(fake.counts.chats).toBe(asked + 1);
  const messages = wholeHistory(t!.store.db, task!.trajectoryId!);
  expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  // the command ran once
  expect(messages[3]!.content.match(/wrote it/g)).toHaveLength(1);
  expect(t!.errors).toEqual([]);
});

// Bug: the call that was under way has no result, and the provider refuses the conversation.
test('killed while a command runs: its call gets a result that says so, and the task goes on', async () => {
  fake.script(callTool('terminal', { command: 'sleep 300' }));
  const tasks = await killedAfter(`
    await tasks.start({ prompt: 'wait', ...FAKE });
    await until((items) => items[0].activity?.includes('sleep'));`);
  const [task] = await untilTasks(tasks, rested);
  fake.respond(() => say('gave up'));
  await tasks.resume({ id: task!.id });
  const [after] = await untilTasks(tasks, rested);
  expect(after).toMatchObject({ state: 'completed', result: 'gave up' });
  expect(fake.chats.at(-1)!.body.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool']);
});
