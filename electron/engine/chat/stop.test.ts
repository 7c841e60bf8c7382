import { describe, expect, test } from 'vitest';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, cutAfter, drop, fail, hangAfter, say, together, toolCall } from '../../../e2e/fakes/steps.ts';
import type { Message } from '#shared/trajectory.ts';
import { realSleep } from '../model/sleep.ts';
import { type ChatGround, eachWithChats, FAKE, idle, openChats, type TestHome } from './testing.ts';

let fake: FakeModel;
let home: TestHome;
let t: ChatGround;
eachWithChats((ground) => ({ fake, home, t } = ground), () => t);

const chat = () => t.chats.create(FAKE).session.id;
const send = (id: string, text: string) => t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });

/** Every call has exactly one result, directly behind it and in order. */
function expectWhole(messages: readonly Message[]): void {
  messages.forEach((m, at) => {
    if (m.role !== 'assistant' || !m.toolCalls) return;
    expect(messages.slice(at + 1, at + 1 + m.toolCalls.length).map((r) => r.toolCallId)).toEqual(m.toolCalls.map((c) => c.id));
  });
  const calls = messages.flatMap((m) => m.toolCalls ?? []);
  expect(messages.filter((m) => m.role === 'tool')).toHaveLength(calls.length);
}

/** Stops the chat, and shows that it can go on. */
async function stopAndGoOn(id: string): Promise<Message[]> {
  const stopped = await t.chats.stop({ id });
  expect(stopped).toMatchObject({ session: { state: 'idle', exitReason: 'interrupted' }, question: null, retry: null, turnStartedAt: null });
  expectWhole(t.messages(id));
  const before = t.messages(id);
  fake.respond(() => say('back again'));
  await send(id, 'go on');
  await t.until(id, (s) => s.session.exitReason === 'completed');
  expect(t.messages(id).at(-1)?.content).toBe('back again');
  expectWhole(t.messages(id));
  expect(t.errors).toEqual([]);
  return before;
}

describe('stop ends the turn at once, leaves whole messages, and the chat can go on', () => {
  test('while the model has not said a word', async () => {
    const id = chat();
    fake.script(hangAfter(0));
    await send(id, 'hello');
    await fake.waitForChats(1);
    const messages = await stopAndGoOn(id);
    expect(messages.map((m) => m.role)).toEqual(['system', 'user']);
  });

  test('while the answer streams: what was heard of it is kept', async () => {
    const id = chat();
    fake.script(together(say(['half ', 'an ', 'answer']), hangAfter(2)));
    await send(id, 'hello');
    await t.until(id, (s) => s.session.activity === 'answering');
    const messages = await stopAndGoOn(id);
    expect(messages.at(-1)?.role).toBe('assistant');
    expect('half an answer'.startsWith(messages.at(-1)!.content.trim())).toBe(true);
  });

  test('while commands run: each call gets its result, the process is ended', async () => {
    const id = chat();
    fake.script(callTools([toolCall('terminal', { command: 'sleep 300' }), toolCall('terminal', { command: 'sleep 301' })]));
    await send(id, 'wait');
    await t.until(id, (s) => s.session.activity?.includes('sleep') === true);
    const messages = await stopAndGoOn(id);
    expect(messages.filter((m) => m.role === 'tool')).toHaveLength(2);
  });

  test('while it waits to try again after a failure', async () => {
    await t.close();
    t = await openChats(home.home, fake.url, { sleep: realSleep });
    const id = chat();
    fake.respond(() => fail(503, { retryAfterMs: 600_000 }));
    await send(id, 'hello');
    const waiting = await t.until(id, (s) => s.retry !== null);
    expect(waiting.session.activity).toBe('waiting to try again');
    const messages = await stopAndGoOn(id);
    expect(messages.map((m) => m.role)).toEqual(['system', 'user']);
  });

  test('while older messages are summarised: nothing is replaced', async () => {
    const id = chat();
    for (let i = 0; i < 6; i++) {
      fake.script(say(`${i} ${'words '.repeat(1_000)}`));
      await send(id, `${i} ${'words '.repeat(600)}`);
      await t.until(id, (s) => s.session.state === 'idle' && s.session.messageCount === 3 + 2 * i);
    }
    t.config.change([[['providers', 'fake', 'context_length'], 16_000], [['compression', 'protect_last_n'], 2]]);
    fake.script(hangAfter(0));
    await send(id, 'and now?');
    await t.until(id, (s) => s.compressing);
    await fake.waitForChats(7);
    const messages = await stopAndGoOn(id);
    expect(messages.filter((m) => m.compaction)).toEqual([]);
  });

  test('while it asks the person: the question is gone', async () => {
    const id = chat();
    fake.script(callTool('clarify', { question: 'Which one?', choices: ['a', 'b'] }));
    await send(id, 'do it');
    const asking = await t.until(id, (s) => s.question !== null);
    expect(asking.session.state).toBe('asking');
    await stopAndGoOn(id);
    expect(() => t.chats.answer({ id, questionId: asking.question!.id, answer: { kind: 'clarify', text: 'a' } })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  });

  test('stopping what does not run changes nothing; stopping twice is one end', async () => {
    const id = chat();
    expect((await t.chats.stop({ id })).session.state).toBe('idle');
    fake.script(hangAfter(0));
    await send(id, 'hello');
    await fake.waitForChats(1);
    await Promise.all([t.chats.stop({ id }), t.chats.stop({ id })]);
    expect(t.chats.get({ id }).session.exitReason).toBe('interrupted');
  });

  test('closing the engine interrupts every turn cleanly', async () => {
    const ids = [chat(), chat()];
    fake.script(hangAfter(0), callTool('terminal', { command: 'sleep 300' }));
    await Promise.all(ids.map((id) => send(id, 'work')));
    await fake.waitForChats(2);
    await t.close();
    t = await openChats(home.home, fake.url);
    for (const id of ids) {
      expect(t.chats.get({ id }).session).toMatchObject({ state: 'idle', exitReason: 'interrupted' });
      expectWhole(t.messages(id));
    }
  });
});

describe('without a network', () => {
  test.each([
    ['before the answer', () => drop()],
    ['in the middle of the answer', () => together(say(['half ', 'of ', 'it']), cutAfter(2))],
  ])('%s, for good: the turn ends with the reason, and the chat can go on', async (_, step) => {
    const id = chat();
    fake.respond(step);
    await send(id, 'hello');
    const failed = await t.until(id, idle);
    expect(failed.session.exitReason).toBe('provider_error');
    expect(failed.session.error).not.toBeNull();
    fake.respond(() => say('back again'));
    await send(id, 'and now?');
    await t.until(id, (s) => s.session.exitReason === 'completed');
    expect(t.messages(id).filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['hello', 'and now?']);
  });
});

describe('questions', () => {
  test('the answer of the person becomes the result of the call', async () => {
    const id = chat();
    fake.script(callTool('clarify', { question: 'Which one?', choices: ['red', 'blue'] }), say('blue it is'));
    await send(id, 'paint');
    const { question } = await t.until(id, (s) => s.question !== null);
    expect(question).toMatchObject({ kind: 'clarify', question: 'Which one?', choices: ['red', 'blue'] });
    expect(t.chats.waiting()).toBe(1);
    expect(() => t.chats.answer({ id, questionId: question!.id, answer: { kind: 'approval', choice: 'once' } })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
    t.chats.answer({ id, questionId: question!.id, answer: { kind: 'clarify', text: 'blue' } });
    await t.until(id, idle);
    expect(t.messages(id).find((m) => m.role === 'tool')?.content).toContain('blue');
  });
});
