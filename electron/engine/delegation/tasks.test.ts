import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, fail, gated, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import { FAKE, idle } from '../chat/testing.ts';
import { sqlFor } from '../store/database.ts';
import { getDetail } from '../trajectories/query.ts';
import type { TaskService } from './tasks.ts';
import { openTasks, type TaskGround } from './testing.ts';

let t: TaskGround;
let fake: FakeModel;
let tasks: TaskService;
beforeEach(async () => {
  t = await openTasks();
  ({ fake, tasks } = t);
});
afterEach(() => t.close());

/** Dangerous by its first half, and harmless when it is run all the same. */
const DANGER = 'rm -rf /opt/talaria-nothing-here/x; touch ran';

const send = (id: string, text: string) => t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });

describe('a task', () => {
  // Bug: the task is a branch of the chat: it carries the chat's messages along, or its answer lands in the chat.
  test('is a session of its own with the settings of the chat, without its history, and its answer stays out of the chat', async () => {
    fake.script(say('a secret of the chat'), say('found it'));
    const chat = t.chats.create({ ...FAKE, toolsets: ['file', 'clarify'], maxTurns: 7, reasoningEffort: 'low' });
    await send(chat.session.id, 'hello');
    const before = (await t.until(chat.session.id, idle)).session.messageCount;
    const started = await tasks.start({ prompt: 'look for the thing', like: chat.session.id });
    expect(started).toMatchObject({ state: 'running', prompt: 'look for the thing', maxTurns: 7, unread: false, endedAt: null });
    const task = await t.taskEnded(started.id);
    expect(task).toMatchObject({ state: 'completed', result: 'found it', turns: 1, error: null, unread: true, activity: null });
    expect(task.tokens).toBeGreaterThan(0);
    expect(task.costUsd).toBeGreaterThan(0);
    expect(task.endedAt).toBeGreaterThanOrEqual(task.startedAt);
    const request = fake.chats[1]!.body;
    expect(request.messages.map((m) => m.role)).toEqual(['system', 'user']);
    expect(JSON.stringify(request)).not.toContain('a secret of the chat');
    expect(getDetail(t.store.db, task.trajectoryId!)).toMatchObject({ kind: 'background', sessionId: task.id });
    expect(t.chats.get({ id: task.id })).toMatchObject({ settings: { ...chat.settings }, session: { background: true } });
    expect(t.chats.get({ id: chat.session.id }).session.messageCount).toBe(before);
  });

  // Bug: tasks fill the list of chats, and the badge of chats counts them.
  test('is not in the list of chats and does not count as one that waits', async () => {
    fake.script(say('done'));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    expect(tasks.counts()).toEqual({ running: 1, unread: 0 });
    await t.taskEnded(id);
    expect((await t.chats.list({ archived: false, limit: 10 })).items).toEqual([]);
    expect((await t.chats.list({ archived: false, limit: 10, query: 'work' })).items).toEqual([]);
    expect(t.chats.waiting()).toBe(0);
    expect(tasks.counts()).toEqual({ running: 0, unread: 1 });
    tasks.seen({ id });
    expect(tasks.counts()).toEqual({ running: 0, unread: 0 });
    // a new chat goes on with what was chosen for chats, not for tasks
    expect(t.chats.create({}).settings.provider).not.toBe(FAKE.provider);
  });

  // §12.4 #15491, #65291, #90789: approval in the background waits for ever, or is passed by.
  test('asks nobody: a dangerous command is refused and the model is told why, and it cannot ask questions', async () => {
    const folder = join(t.home, 'work');
    mkdirSync(folder);
    fake.script(callTool('terminal', { command: DANGER }), callTool('read_file', { path: '/etc/hostname' }), say('I could not'));
    const chat = t.chats.create({ ...FAKE, toolsets: ['terminal', 'file', 'clarify'], workspace: folder });
    const task = await t.taskEnded((await tasks.start({ prompt: 'clean up', like: chat.session.id })).id);
    expect(task).toMatchObject({ state: 'completed', result: 'I could not' });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    const results = t.said(task).filter((m) => m.role === 'tool').map((m) => m.content);
    expect(results).toHaveLength(2);
    for (const result of results) expect(result).toContain('nobody can be asked');
    expect(fake.chats[0]!.body.tools?.map((tool) => tool.function.name)).not.toContain('clarify');
  });

  test('whose command is allowed for good runs it', async () => {
    t.config.change([[['approvals', 'mode'], 'off']]);
    fake.script(callTool('terminal', { command: DANGER }), say('gone'));
    const { id } = await t.taskEnded((await tasks.start({ prompt: 'clean up', ...FAKE })).id);
    expect(existsSync(join(t.chats.get({ id }).settings.workspace, 'ran'))).toBe(true);
  });

  // Bug: a task that cannot begin stays in the tray as one that works for ever.
  test('that cannot begin leaves nothing', async () => {
    await expect(tasks.start({ prompt: 'work', provider: 'nowhere', model: 'none' })).rejects.toThrow();
    await expect(tasks.start({ prompt: 'work', like: 'no-such-chat' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await t.untilTasks(() => true)).toEqual([]);
    expect(t.store.db.all(sqlFor.selectFrom('sessions').select('id'))).toEqual([]);
  });

  test('whose model cannot be reached has failed, with the reason, and can be tried again', async () => {
    fake.script(fail(401, { message: 'bad key' }));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'failed', error: expect.stringContaining('bad key') as string, result: null });
    fake.script(say('now it works'));
    expect(await tasks.resume({ id })).toMatchObject({ state: 'running', error: null });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'completed', result: 'now it works' });
    expect(fake.chats[1]!.body.messages.map((m) => m.role)).toEqual(['system', 'user']);
  });
});

describe('tasks at the same time', () => {
  // §12.4 #22176, #42176, #115616: stopping one does not stop it, or stops the others.
  test('work side by side; one that hangs is stopped and the others finish', async () => {
    fake.respond((seen) => (JSON.stringify(seen.body.messages).includes('task two') ? hangAfter(1) : together(say('well done'), gated('go'))));
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push((await tasks.start({ prompt: `task ${name}`, ...FAKE })).id);
    await fake.waitForChats(3);
    expect(tasks.counts().running).toBe(3);
    expect(await tasks.stop({ id: ids[1]! })).toMatchObject({ state: 'interrupted' });
    fake.release('go');
    const items = await t.untilTasks((all) => all.every((task) => task.state !== 'running'));
    // newest first
    expect(items.map((task) => [task.prompt, task.state])).toEqual([['task three', 'completed'], ['task two', 'interrupted'], ['task one', 'completed']]);
  });

  // §12.4 #105631, #104675: running agents vanish from the page, as it showed what events had said.
  test('are shown whole to one who begins to look later, with what they do now', async () => {
    fake.script(callTool('todo', { todos: [{ id: '1', content: 'dig', status: 'in_progress' }] }), together(say(['half ', 'an answer']), hangAfter(1)));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    const [task] = await t.untilTasks(([first]) => first?.activity === 'answering');
    expect(task).toMatchObject({ id, state: 'running', turns: 1 });
    expect(task!.tokens).toBeGreaterThan(0);
    expect(await t.untilTasks(() => true)).toEqual([task]);
  });
});

describe('a task that ended early goes on', () => {
  // Bug: the task begins again from its prompt, or its last words are answered with nothing new.
  test('after an interrupt: with what it had said, and a note that asks it to go on', async () => {
    fake.script(together(say(['half ', 'an answer']), hangAfter(1)));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    await t.untilTasks(([first]) => first?.activity === 'answering');
    await expect(tasks.resume({ id })).rejects.toMatchObject({ code: 'conflict' });
    expect(await tasks.stop({ id })).toMatchObject({ state: 'interrupted', result: expect.stringContaining('half') as string });
    fake.script(say('and the rest'));
    await tasks.resume({ id });
    const task = await t.taskEnded(id);
    expect(task).toMatchObject({ state: 'completed', result: 'and the rest' });
    const messages = t.said(task);
    expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant']);
    expect(messages[3]).toMatchObject({ synthetic: true, note: 'continue' });
    await expect(tasks.resume({ id })).rejects.toMatchObject({ code: 'conflict' });
  });

  // Bug: a task that used up its turns ends again at once; one that was interrupted gets all of them anew.
  test('with the turns that are left, and with as many again when there are none', async () => {
    t.config.change([[['agent', 'max_turns'], 3]]);
    const step = callTool('todo', { todos: [] });
    fake.script(step, hangAfter(0));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    await fake.waitForChats(2);
    await tasks.stop({ id });
    fake.script(step, step, say('no more turns'));
    await tasks.resume({ id });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'partial', result: 'no more turns', maxTurns: 3 });
    fake.script(step, say('done'));
    await tasks.resume({ id });
    const task = await t.taskEnded(id);
    expect(task).toMatchObject({ state: 'completed', turns: 6, maxTurns: 7 });
    expect(fake.counts.chats).toBe(7);
  });

  // Bug: killed between the prompt and the first call, a task is nowhere, or shown as at work for ever.
  test('also one that never came to its first call', async () => {
    const id = randomUUID();
    const { settings } = t.chats.create(FAKE);
    t.store.db.run(
      sqlFor.insertInto('sessions').values({
        id, provider: settings.provider, model: settings.model, workspace: settings.workspace, max_turns: 5, background: 1,
        queue: JSON.stringify([{ id: 'q', text: 'do it', attachments: [] }]), created_at: 1, updated_at: 1,
      }),
    );
    expect(await t.untilTasks(() => true)).toMatchObject([{ id, state: 'interrupted', prompt: 'do it', turns: 0 }]);
    fake.script(say('done'));
    await tasks.resume({ id });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'completed', prompt: 'do it', result: 'done' });
  });
});

describe('what a person does with a task', () => {
  // Bug: who goes on with a task finds it in no list, or is asked nothing although present.
  test('talking to it makes a chat of it, which may ask', async () => {
    fake.script(say('a plan'), callTool('clarify', { question: 'Which?', choices: ['a', 'b'] }));
    const { id } = await tasks.start({ prompt: 'plan', ...FAKE });
    await t.taskEnded(id);
    await expect(send(id, '   ')).rejects.toMatchObject({ code: 'invalid' });
    expect(await t.untilTasks(() => true)).toHaveLength(1);
    await send(id, 'go on');
    await t.until(id, (s) => s.question !== null);
    expect(await t.untilTasks(() => true)).toEqual([]);
    expect((await t.chats.list({ archived: false, limit: 10 })).items.map((s) => s.id)).toEqual([id]);
    expect(t.messages(id).filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['plan', 'go on']);
    await expect(tasks.resume({ id })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('removing it stops it and can be undone; then it goes on', async () => {
    fake.script(hangAfter(0));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    await fake.waitForChats(1);
    await tasks.remove({ id });
    expect(await t.untilTasks(() => true)).toEqual([]);
    expect(tasks.counts()).toEqual({ running: 0, unread: 0 });
    await expect(tasks.resume({ id })).rejects.toMatchObject({ code: 'not_found' });
    expect(tasks.restore({ id })).toMatchObject({ id, state: 'interrupted' });
    fake.script(say('done'));
    await tasks.resume({ id });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'completed' });
  });

  // Bug: a list that is sent four times a second carries every prompt and answer whole.
  test('a huge and broken prompt is kept whole, and shown by its beginning', async () => {
    const prompt = `\ud800 __proto__ ${'x'.repeat(900_000)}\udfff`;
    fake.script(say('y'.repeat(100_000)));
    const task = await t.taskEnded((await tasks.start({ prompt, ...FAKE })).id);
    expect(task.prompt.length).toBeLessThanOrEqual(1_000);
    expect(task.prompt.isWellFormed()).toBe(true);
    expect(task.result!.length).toBeLessThanOrEqual(1_000);
    expect(t.said(task)[1]!.content).toBe(prompt.toWellFormed());
  });

  test('a spend cap ends it like any chat, and it goes on when there is room', async () => {
    t.config.change([[['spend', 'session_usd'], 0.000_001]]);
    fake.script(callTool('todo', { todos: [] }));
    const { id } = await tasks.start({ prompt: 'work', ...FAKE });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'partial', error: expect.stringContaining('spend cap') as string });
    t.config.change([[['spend', 'session_usd'], undefined]]);
    fake.script(say('done'));
    await tasks.resume({ id });
    expect(await t.taskEnded(id)).toMatchObject({ state: 'completed' });
  });
});
