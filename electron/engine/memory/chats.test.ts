import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, say } from '../../../e2e/fakes/steps.ts';
import { type ChatGround, FAKE, idle, openChats, testHome } from '../chat/testing.ts';
import { wholeHistory } from '../chat/history.ts';
import { sqlFor } from '../store/database.ts';
import { MemoryFiles } from './files.ts';

const MINUTE = 60_000;

let fake: FakeModel;
let home: ReturnType<typeof testHome>;
let t: ChatGround;
let files: MemoryFiles;
let clock: number;
beforeEach(async () => {
  clock = Date.UTC(2026, 0, 1);
  fake = await startFakeModel();
  home = testHome();
  t = await openChats(home.home, fake.url, {
    now: () => ++clock,
    extend({ db, home: { memories }, config, now, log }) {
      mkdirSync(memories, { recursive: true });
      files = new MemoryFiles({ db, folder: memories, config, now, log });
      return [files.extension()];
    },
  });
});
afterEach(async () => {
  await t.close();
  await fake.close();
  home.remove();
});

const chat = (settings: Parameters<ChatGround['chats']['create']>[0] = {}) => t.chats.create({ ...FAKE, toolsets: ['memory'], ...settings }).session.id;
/** Says something and waits for the answer. */
async function ask(id: string, text: string): Promise<string> {
  const before = fake.chats.length;
  const { trajectoryId } = await t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });
  await fake.waitForChats(before + 1);
  await t.until(id, (state) => idle(state) && t.messages(id).at(-1)?.role === 'assistant');
  return trajectoryId!;
}
const system = (call: number) => String(fake.chats[call]!.body.messages[0]!.content);
const stored = (id: string) => createHash('sha256').update(JSON.stringify([wholeHistory(t.store.db, id), t.store.db.get(sqlFor.selectFrom('trajectories').selectAll().where('id', '=', id))])).digest('hex');

describe('the memory in chats', () => {
  test('what is kept in one chat is in the prompt of the next, with its origin, and not in that of the first', async () => {
    // Bug: what an agent had learnt was gone with its session; or it changed the prompt of the session under way, and its cache was lost.
    fake.script(callTool('memory', { action: 'add', target: 'user', content: 'Name: Kim' }), say('kept'), say('still here'), say('hello Kim'));
    const first = chat();
    const source = await ask(first, 'I am Kim');
    await ask(first, 'go on');
    expect(system(2)).toBe(system(0));
    expect(system(0)).not.toContain('USER PROFILE');
    expect(system(0)).toContain('keep it with memory');
    await ask(chat(), 'who am I?');
    expect(system(3)).toContain(`${'═'.repeat(46)}\nUSER PROFILE (who the user is) [0% — 9/1,375 chars]\n${'═'.repeat(46)}\nName: Kim`);
    expect(files.read('user').entries[0]).toMatchObject({ author: 'agent', trajectoryId: source, uses: 1 });
    expect(t.errors).toEqual([]);
  });

  test('a chat without the tool has nothing of the memory, and neither has any when it is off', async () => {
    // Bug: the toolset was switched off for a chat, and what is known of the person was sent all the same.
    await files.apply('user', [{ op: 'add', text: 'Name: Kim' }], { author: 'person' });
    fake.script(say('a'), say('b'));
    await ask(chat({ toolsets: ['todo'] }), 'hi');
    t.config.change([[['memory', 'enabled'], false]]);
    await ask(chat(), 'hi');
    for (const call of [0, 1]) {
      expect(system(call)).not.toContain('Kim');
      expect(system(call)).not.toContain('outlasts this conversation');
    }
    expect(fake.chats[1]!.body.tools ?? []).toEqual([]);
  });

  test('after a rest a chat goes on with the memory as it is then; what was said stays as it was (#66025)', async () => {
    // Bug: a session that lives for weeks kept the memory of its first day, wrong entries included.
    fake.script(...Array.from({ length: 9 }, (_, i) => say(`answer ${i}`)));
    await files.apply('memory', [{ op: 'add', text: 'the port is 80' }], { author: 'person' });
    const id = chat();
    const first = await ask(id, 'one');
    await files.apply('memory', [{ op: 'replace', old: '80', text: 'the port is 8080' }], { author: 'person' });
    clock += 50 * MINUTE;
    expect(await ask(id, 'two'), 'not at rest long enough').toBe(first);
    const before = stored(first);
    clock += 61 * MINUTE;
    const second = await ask(id, 'three');
    expect(second).not.toBe(first);
    expect(stored(first)).toBe(before);
    expect(system(1)).toBe(system(0));
    expect(system(2)).toContain('the port is 8080');
    // the model sees the whole conversation
    expect(fake.chats[2]!.body.messages.slice(1).map((m) => m.content)).toEqual(['one', 'answer 0', 'two', 'answer 1', 'three']);
    // the record says what the answer was made of
    const messages = t.messages(id);
    expect(messages[0]!.content).toBe(system(2));
    expect(t.store.db.get(sqlFor.selectFrom('trajectories').select(['system_prompt', 'parent_id', 'parent_seq', 'message_count']).where('id', '=', second))).toEqual({ system_prompt: system(2), parent_id: first, parent_seq: 5, message_count: 7 });
    expect(t.chats.get({ id }).branches.map((b) => b.continues)).toEqual([undefined, true]);
    // from then on that one, byte for byte
    expect(await ask(id, 'four')).toBe(second);
    expect(system(3)).toBe(system(2));
    // a rest without news changes nothing
    clock += 500 * MINUTE;
    expect(await ask(id, 'five')).toBe(second);
    expect(system(4)).toBe(system(2));
    expect(t.errors).toEqual([]);
  });

  test('a memory that is emptied or switched off is gone after a rest, and 0 minutes mean never', async () => {
    // Bug: what a person removed stayed in the prompts of old sessions.
    fake.script(...Array.from({ length: 9 }, (_, i) => say(`answer ${i}`)));
    await files.apply('memory', [{ op: 'add', text: 'the secret plan' }], { author: 'person' });
    const id = chat();
    const first = await ask(id, 'one');
    await files.apply('memory', [{ op: 'remove', old: 'secret' }], { author: 'person' });
    t.config.change([[['memory', 'refresh_idle_minutes'], 0]]);
    clock += 5_000 * MINUTE;
    expect(await ask(id, 'two')).toBe(first);
    t.config.change([[['memory', 'refresh_idle_minutes'], 1]]);
    clock += 2 * MINUTE;
    expect(await ask(id, 'three')).not.toBe(first);
    expect(system(2)).not.toContain('secret');
  });

  test('undo and editing after such a rest keep the newer prompt', async () => {
    // Bug: going back one message brought the memory of weeks ago back.
    fake.script(...Array.from({ length: 9 }, (_, i) => say(`answer ${i}`)));
    const id = chat();
    await ask(id, 'one');
    await files.apply('memory', [{ op: 'add', text: 'news' }], { author: 'person' });
    clock += 61 * MINUTE;
    await ask(id, 'two');
    await t.chats.undo({ id });
    await ask(id, 'two again');
    expect(system(2)).toBe(system(1));
    expect(system(2)).toContain('news');
    expect(fake.chats[2]!.body.messages.slice(1).map((m) => m.content)).toEqual(['one', 'answer 0', 'two again']);
    const seq = t.messages(id).findIndex((m) => m.content === 'one');
    await t.chats.edit({ id, seq, text: 'ONE', attachments: [] });
    await fake.waitForChats(4);
    expect(system(3)).toBe(system(1));
  });
});
