import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, gated, say, together } from '../../../e2e/fakes/steps.ts';
import type { SessionState } from '#shared/contract/chats.ts';
import { sqlFor } from '../store/database.ts';
import { getDetail, listTrajectories } from '../trajectories/query.ts';
import { TrajectoryRecorder } from '../trajectories/record.ts';
import { wholeHistory } from './history.ts';
import { type ChatGround, eachWithChats, FAKE } from './testing.ts';

let fake: FakeModel;
let t: ChatGround;
eachWithChats((ground) => ({ fake, t } = ground), () => t);

const said = (id: string) => t.messages(id).filter((m) => m.role !== 'system').map((m) => m.content);
const rests = (tip: string | null) => (s: SessionState) => s.session.state === 'idle' && s.session.exitReason !== null && s.tip === tip;

/** Says it and waits for the answer. */
async function turn(id: string, text: string): Promise<string> {
  const { trajectoryId } = await t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });
  await t.until(id, rests(trajectoryId));
  return trajectoryId!;
}

async function twoTurns(): Promise<{ id: string; first: string }> {
  const { session: { id } } = t.chats.create(FAKE);
  fake.script(say('a1'), say('a2'));
  const first = await turn(id, 'q1');
  await turn(id, 'q2');
  return { id, first };
}

const blobs = () => t.store.db.get(sqlFor.selectFrom('blobs').select(sql<number>`count(*)`.as('count')))!.count;

describe('edit', () => {
  test('a message said anew begins a branch that shares what was before it, and the other one is as it was', async () => {
    const { id, first } = await twoTurns();
    fake.script(say('a2 anew'));
    const { trajectoryId } = await t.chats.edit({ id, seq: 3, text: 'q2 anew', attachments: [] });
    const state = await t.until(id, rests(trajectoryId));
    expect(said(id)).toEqual(['q1', 'a1', 'q2 anew', 'a2 anew']);
    expect(state.branches).toMatchObject([{ trajectoryId: first, parentId: null }, { trajectoryId, parentId: first, parentSeq: 3 }]);
    expect((await t.chats.branch({ id, trajectoryId: first })).tip).toBe(first);
    expect(said(id)).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(listTrajectories(t.store.db, { sessionId: id }, { limit: 10 }).items).toHaveLength(2);
  });

  test('the first message can be said anew, also with the same system prompt', async () => {
    const { id } = await twoTurns();
    fake.script(say('fresh'));
    const { trajectoryId } = await t.chats.edit({ id, seq: 1, text: 'other', attachments: [] });
    await t.until(id, rests(trajectoryId));
    expect(said(id)).toEqual(['other', 'fresh']);
    expect(fake.chats[2]!.body.messages[0]).toEqual(fake.chats[0]!.body.messages[0]);
  });

  test('what is no message of the person, or under a running agent, is refused and nothing is branched', async () => {
    const { id } = await twoTurns();
    for (const seq of [0, 2, 99]) await expect(t.chats.edit({ id, seq, text: 'x', attachments: [] })).rejects.toMatchObject({ code: 'invalid', field: 'seq' });
    fake.script(together(say('slow'), gated('g')));
    await t.chats.send({ id, text: 'q3', attachments: [], whenBusy: 'queue' });
    await expect(t.chats.edit({ id, seq: 1, text: 'x', attachments: [] })).rejects.toMatchObject({ code: 'conflict' });
    await expect(t.chats.retry({ id })).rejects.toMatchObject({ code: 'conflict' });
    await expect(t.chats.undo({ id })).rejects.toMatchObject({ code: 'conflict' });
    expect(t.chats.get({ id }).branches).toHaveLength(1);
  });
});

test('retry answers the last message again on a branch, with the other model, and the chat goes on with that', async () => {
  const { id, first } = await twoTurns();
  fake.script(say('a2 of the other'));
  const { trajectoryId } = await t.chats.retry({ id, model: 'other-model' });
  const state = await t.until(id, rests(trajectoryId));
  expect(said(id)).toEqual(['q1', 'a1', 'q2', 'a2 of the other']);
  expect(fake.chats[2]!.body).toMatchObject({ model: 'other-model' });
  expect(fake.chats[2]!.body.messages).toEqual(fake.chats[1]!.body.messages);
  expect(state.settings.model).toBe('other-model');
  expect(getDetail(t.store.db, first)?.model).toBe('fake-model');
});

describe('undo', () => {
  test('goes back before the last message, hands out its text, and the next message follows what is left', async () => {
    const { id } = await twoTurns();
    expect(await t.chats.undo({ id })).toEqual({ text: 'q2', attachments: [] });
    expect(said(id)).toEqual(['q1', 'a1']);
    expect(t.chats.get({ id })).toMatchObject({ draft: { text: 'q2' }, session: { exitReason: 'completed', state: 'idle' } });
    fake.script(say('a3'));
    await turn(id, 'q3');
    expect(said(id)).toEqual(['q1', 'a1', 'q3', 'a3']);
  });

  test('again and again leaves no heap of copies; before the first message the chat is empty but keeps its branch and its prompt', async () => {
    const { id, first } = await twoTurns();
    fake.script(say('a3'));
    await turn(id, 'q3');
    await t.chats.undo({ id });
    await t.chats.undo({ id });
    expect(said(id)).toEqual(['q1', 'a1']);
    expect(t.chats.get({ id }).branches).toMatchObject([{ trajectoryId: first }, { parentId: first, parentSeq: 3 }]);
    await t.chats.undo({ id });
    const state = t.chats.get({ id });
    expect(state).toMatchObject({ tip: null, branches: [{ trajectoryId: first }] });
    expect((await t.chats.list({ archived: false, limit: 10 })).items.map((s) => s.id)).toContain(id);
    await expect(t.chats.undo({ id })).rejects.toMatchObject({ code: 'invalid' });
    fake.script(say('new'));
    await turn(id, 'anew');
    expect(fake.chats.at(-1)!.body.messages[0]).toEqual(fake.chats[0]!.body.messages[0]);
  });
});

describe('fork', () => {
  test('a new chat with the messages up to there; neither changes the other', async () => {
    const { id, first } = await twoTurns();
    t.chats.rename({ id, title: 'Named' });
    const fork = t.chats.fork({ id, seq: 2 });
    expect(fork.session).toMatchObject({ title: 'Named', messageCount: 3 });
    expect(fork.settings.workspace).toBe(t.chats.get({ id }).settings.workspace);
    fake.script(say('forked'));
    await turn(fork.session.id, 'elsewhere');
    expect(said(fork.session.id)).toEqual(['q1', 'a1', 'elsewhere', 'forked']);
    expect(said(id)).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(getDetail(t.store.db, fork.tip!)).toMatchObject({ parentId: first, sessionId: fork.session.id });
  });

  test('in the middle of the calls of a running turn the copy gets results for the open ones', async () => {
    const { session: { id } } = t.chats.create(FAKE);
    fake.script(callTool('terminal', { command: 'sleep 300' }));
    await t.chats.send({ id, text: 'work', attachments: [], whenBusy: 'queue' });
    await t.until(id, (s) => s.session.activity?.includes('sleep') === true);
    const fork = t.chats.fork({ id });
    await t.chats.stop({ id });
    fake.script(say('fine'));
    await turn(fork.session.id, 'go on');
    expect(t.messages(fork.session.id).map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant']);
  });
});

test('branches of 5,000 messages share their large values, and the values live as long as one of them', async () => {
  const { session: { id } } = t.chats.create(FAKE);
  fake.script(say('a'));
  const first = await turn(id, 'q');
  const { db } = t.store;
  const big = 'x'.repeat(100_000);
  const history = wholeHistory(db, first);
  db.transaction(() => {
    const recorder = TrajectoryRecorder.reopen(db, t.hub, Date.now, first, { ...FAKE, scripted: false }, history);
    for (let i = 0; i < 2_500; i++) {
      recorder.append({ role: 'user', content: i % 250 === 0 ? `${i} ${big}` : `question ${i}`, createdAt: i });
      recorder.append({ role: 'assistant', content: `answer ${i}`, createdAt: i });
    }
    recorder.end({ exitReason: 'completed', error: null });
  });
  expect(blobs()).toBe(10);
  fake.script(say('branched'));
  const { trajectoryId } = await t.chats.edit({ id, seq: 4_999, text: 'end', attachments: [] });
  await t.until(id, rests(trajectoryId));
  expect(blobs()).toBe(10);
  expect(getDetail(db, trajectoryId)).toMatchObject({ messageCount: 5_001, turns: 2_500 });
  db.run(sqlFor.deleteFrom('trajectories').where('id', '=', first));
  expect(blobs()).toBe(10);
  expect(wholeHistory(db, trajectoryId)[3]!.content).toBe(`0 ${big}`);
  db.run(sqlFor.deleteFrom('trajectories').where('id', '=', trajectoryId));
  expect(blobs()).toBe(0);
});
