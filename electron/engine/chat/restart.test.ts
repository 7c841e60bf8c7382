import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, fail, hangAfter, say, together, toolCall } from '../../../e2e/fakes/steps.ts';
import { getDetail } from '../trajectories/query.ts';
import { type ChatGround, idle, openChats, testHome } from './testing.ts';

let fake: FakeModel;
let home: ReturnType<typeof testHome>;
let t: ChatGround | null = null;
const children: ChildProcess[] = [];
beforeEach(async () => {
  fake = await startFakeModel();
  home = testHome();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await t?.close();
  t = null;
  await fake.close();
  home.remove();
});

const TESTING = pathToFileURL(resolve(import.meta.dirname, 'testing.ts')).href;
const SLEEP = pathToFileURL(resolve(import.meta.dirname, '../model/sleep.ts')).href;

/**
 * Runs `work` (source text; has `t`, the chats, and `id`, a chat) in a process of its own, kills that when the work is done, and opens
 * the home here. Answers with the id of the chat. With `requests` the model has been asked so often before;
 * `options` (source text) are those of `openChats`.
 */
async function killedAfter(work: string, requests = 0, options = '{}'): Promise<string> {
  const script = `
    import { openChats, FAKE } from ${JSON.stringify(TESTING)};
    const t = await openChats(process.argv[1], process.argv[2], ${options});
    const { session: { id } } = t.chats.create({ ...FAKE, toolsets: ['terminal', 'clarify', 'todo'] });
    const send = (text, whenBusy = 'queue') => t.chats.send({ id, text, attachments: [], whenBusy });
    ${work}
    console.log('reached ' + id);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, home.home, fake.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith('reached ')) continue;
    await fake.waitForChats(requests);
    child.kill('SIGKILL');
    await once(child, 'exit');
    t = await openChats(home.home, fake.url);
    return line.slice('reached '.length);
  }
  throw new Error('The process ended before it came to the point');
}

async function expectGoesOn(id: string): Promise<void> {
  fake.respond(() => say('back again'));
  await t!.chats.send({ id, text: 'go on', attachments: [], whenBusy: 'queue' });
  await t!.until(id, (s) => s.session.exitReason === 'completed');
  const messages = t!.messages(id);
  expect(messages.at(-1)?.content).toBe('back again');
  const calls = messages.flatMap((m) => (m.toolCalls ?? []).map((c) => c.id));
  expect(messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId)).toEqual(calls);
  expect(t!.errors).toEqual([]);
}

test('killed while an answer streams: interrupted, unread, and the chat goes on from what was stored', async () => {
  fake.script(say('first'), together(say(['half ', 'an ', 'answer']), hangAfter(2)));
  const id = await killedAfter(`
    await send('one'); await t.until(id, (s) => s.session.exitReason === 'completed');
    await send('two'); await t.until(id, (s) => s.session.activity === 'answering');`);
  const state = t!.chats.get({ id });
  expect(state.session).toMatchObject({ state: 'idle', exitReason: 'interrupted', unread: true, messageCount: 4 });
  expect((await t!.chats.list({ archived: false, limit: 10 })).items.map((s) => s.id)).toEqual([id]);
  expect(t!.messages(id).map((m) => m.content).slice(1)).toEqual(['one', 'first', 'two']);
  await expectGoesOn(id);
});

test('killed while commands run: the open calls get synthetic results before the next message, in the store too', async () => {
  fake.script(callTools([toolCall('terminal', { command: 'echo done' }), toolCall('terminal', { command: 'sleep 300' })]));
  const id = await killedAfter(`await send('work'); while (t.messages(id).length < 4) await new Promise((r) => setTimeout(r, 20));`);
  await expectGoesOn(id);
  const messages = t!.messages(id);
  expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user', 'assistant']);
  expect(messages[4]).toMatchObject({ synthetic: true, isError: true });
  expect(fake.chats.at(-1)!.body.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
});

test('killed while it asked: nobody is asked any more, and the call has a result when the chat goes on', async () => {
  fake.script(callTool('clarify', { question: 'Which?', choices: ['a', 'b'] }));
  const id = await killedAfter(`await send('choose'); await t.until(id, (s) => s.question !== null);`);
  expect(t!.chats.get({ id })).toMatchObject({ question: null, session: { state: 'idle', exitReason: 'interrupted' } });
  await expectGoesOn(id);
});

test('killed while it waited to try again: interrupted, and the chat goes on', async () => {
  fake.respond(() => fail(503, { retryAfterMs: 600_000 }));
  const id = await killedAfter(`await send('hello'); await t.until(id, (s) => s.retry !== null);`, 1, `{ sleep: (await import(${JSON.stringify(SLEEP)})).realSleep }`);
  expect(t!.chats.get({ id })).toMatchObject({ retry: null, session: { state: 'idle', exitReason: 'interrupted' } });
  expect(t!.messages(id).map((m) => m.content).slice(1)).toEqual(['hello']);
  await expectGoesOn(id);
});

test('killed while older messages were summarised: all are there, and the next turn makes room', async () => {
  const answers = Array.from({ length: 6 }, (_, i) => say(`${i} ${'words '.repeat(1_000)}`));
  fake.script(...answers, hangAfter(0));
  const id = await killedAfter(
    `for (let i = 0; i < 6; i++) {
      await send(i + ' ' + 'words '.repeat(600)); await t.until(id, (s) => s.session.state === 'idle' && s.session.messageCount === 3 + 2 * i);
    }
    t.config.change([[['providers', 'fake', 'context_length'], 16_000], [['compression', 'protect_last_n'], 2]]);
    await send('and now?'); await t.until(id, (s) => s.compressing);`,
    7,
  );
  expect(t!.chats.get({ id })).toMatchObject({ compressing: false, session: { state: 'idle', exitReason: 'interrupted' } });
  expect(t!.messages(id)).toHaveLength(14);
  await expectGoesOn(id);
  expect(t!.messages(id).filter((m) => m.compaction)).toHaveLength(1);
});

test('killed with messages waiting, a draft, todos, a title and a pin: all are there, and nothing is sent by itself', async () => {
  fake.script(callTool('todo', { todos: [{ id: '1', content: 'dig', status: 'in_progress' }] }), hangAfter(0));
  const id = await killedAfter(`
    await send('work'); await t.until(id, (s) => s.todos.length === 1);
    await send('then this'); await send('quick', 'steer');
    t.chats.draft({ id, text: 'not sent yet', attachments: [] });
    t.chats.rename({ id, title: 'Holes' }); await t.chats.mark({ id, pinned: true });`, 2);
  const asked = fake.counts.chats;
  expect(t!.chats.get({ id })).toMatchObject({
    queue: [{ text: 'then this' }, { text: 'quick' }],
    draft: { text: 'not sent yet' },
    todos: [{ id: '1', content: 'dig', status: 'in_progress' }],
    session: { title: 'Holes', pinned: true, hasDraft: true },
  });
  fake.respond(() => say('done'));
  await t!.chats.send({ id, text: '', attachments: [], whenBusy: 'queue' });
  await t!.until(id, (s) => idle(s) && s.queue.length === 0);
  expect(fake.counts.chats).toBe(asked + 2);
  expect(t!.messages(id).filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['work', 'then this', 'quick']);
});

test('the system prompt is the same byte for byte after a restart, whatever has changed since', async () => {
  fake.script(say('a'));
  const id = await killedAfter(`await send('one'); await t.until(id, (s) => s.session.exitReason === 'completed');`);
  t!.chats.configure({ id, settings: { toolsets: ['file'], model: 'another' } });
  await expectGoesOn(id);
  expect(fake.chats[1]!.body.messages[0]).toEqual(fake.chats[0]!.body.messages[0]);
});

test('a chat with branches opens where the person was, not on the newest or an empty one', async () => {
  fake.script(say('a'), say('b'));
  const id = await killedAfter(`
    const { trajectoryId } = await send('one'); await t.until(id, (s) => s.session.exitReason === 'completed');
    await t.chats.edit({ id, seq: 1, text: 'other', attachments: [] }); await t.until(id, (s) => s.session.exitReason === 'completed' && s.session.state === 'idle' && s.tip !== trajectoryId);
    await t.chats.branch({ id, trajectoryId });`);
  const state = t!.chats.get({ id });
  expect(state.branches).toHaveLength(2);
  expect(state.tip).toBe(state.branches[0]!.trajectoryId);
  expect(t!.messages(id).map((m) => m.content).slice(1)).toEqual(['one', 'a']);
  for (const b of state.branches) expect(getDetail(t!.store.db, b.trajectoryId)?.messageCount).toBe(3);
});
