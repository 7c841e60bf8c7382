import { readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import { callTool, gated, hangAfter, say, together, type Step } from '../../../e2e/fakes/steps.ts';
import { whenExists } from '../agent/testing.ts';
import { sqlFor } from '../store/database.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import { type DelegationGround, first, openDelegations } from './testing.ts';

let t: DelegationGround;
beforeEach(async () => {
  t = await openDelegations();
});
afterEach(() => t.close());

const exists = (file: string): Promise<void> => new Promise((resolve) => whenExists(file, resolve));
const alive = (name: string): boolean => {
  try {
    process.kill(Number(readFileSync(t.work(name), 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
};
const sleeper = (name: string): Step => callTool('terminal', { command: `echo $$ > ${name}; exec sleep 300` });

test('what children do is seen as it happens, by those who look later too: state, activity, tokens, their own trajectory live', async () => {
  // Bug (#105631, #104675): running sub-agents vanish from the screen, because it was told of them only once.
  t.plays({
    go: [callTool('spawn_parallel', { tasks: [{ prompt: 'reader' }, { prompt: 'thinker' }] })],
    reader: [callTool('terminal', { command: 'echo reading; sleep 300' })],
    thinker: [together(say(['half ', 'a ', 'thought']), hangAfter(2))],
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  const atWork = await t.seen(id, ([one]) => one?.children[0]?.activity?.includes('sleep 300') === true && one.children[1]!.activity === 'answering');
  expect(atWork[0]).toMatchObject({ sessionId: id, background: false, endedAt: null, callId: expect.any(String) as string });
  expect(atWork[0]!.trajectoryId).toBe(t.chats.get({ id }).tip);
  const [reader, thinker] = atWork[0]!.children;
  expect(reader).toMatchObject({ index: 0, goal: 'reader', state: 'running', depth: 1, toolCalls: 1, turns: 1, model: 'fake/fake-model', endedAt: null });
  expect(reader!.tokens).toBeGreaterThan(0);
  // another who looks now sees the same, by session, by trajectory and by id
  expect((await t.seen(id, () => true))[0]!.children.map((c) => c.state)).toEqual(['running', 'running']);
  const { items } = await first(t.delegations.watch({ trajectoryId: atWork[0]!.trajectoryId }));
  expect(items.map((one) => one.id)).toEqual([atWork[0]!.id]);
  expect(t.delegations.get({ id: atWork[0]!.id }).children[1]!.activity).toBe('answering');
  // its trajectory like any other: what is stored, then what streams
  const { n } = getDetail(t.store.db, thinker!.trajectoryId!)!;
  const stream = t.hub.subscribe(thinker!.trajectoryId!, -1, () => getMessages(t.store.db, n, -1, 100), () => getDetail(t.store.db, thinker!.trajectoryId!)!);
  const events: LiveEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'delta') break;
  }
  expect(events.map((e) => (e.type === 'message' ? e.message.role : e.type === 'delta' ? e.text : e.type))).toEqual(['system', 'user', 'half a']);
  await t.chats.stop({ id });
  await turn;
  expect((await t.children(id)).map((c) => [c.state, c.activity])).toEqual([['interrupted', null], ['interrupted', null]]);
});

test('stopping the turn stops its children, with the commands they run, and their results say what was done', async () => {
  // Bug (#42176, #115616): stop ends the parent, and the children go on spending.
  t.plays({ go: [callTool('spawn_parallel', { tasks: [{ prompt: 'a' }, { prompt: 'b' }] })], a: [together(say('looked at a'), sleeper('a.pid'))], b: [sleeper('b.pid')] });
  const id = t.chat();
  const turn = t.say(id, 'go');
  await Promise.all([exists(t.work('a.pid')), exists(t.work('b.pid'))]);
  await t.chats.stop({ id });
  await turn;
  expect((await t.children(id)).map((c) => c.state)).toEqual(['interrupted', 'interrupted']);
  expect(t.answer(id, 'spawn_parallel').results).toMatchObject([{ status: 'interrupted', summary: 'looked at a' }, { status: 'interrupted' }]);
  await expect.poll(() => [alive('a.pid'), alive('b.pid')]).toEqual([false, false]);
  const requests = t.fake.counts.chats;
  await t.say(id, 'and now?');
  expect(t.fake.counts.chats).toBe(requests + 1);
});

test('one is stopped, its siblings go on; all of a delegation are stopped at once, those that wait too', async () => {
  // Bug (#22176, #88782): one child cannot be stopped alone, or takes the others along.
  t.config.change([[['delegation', 'max_concurrent_children'], 2]]);
  t.plays({
    go: [callTool('spawn_parallel', { tasks: ['a', 'b', 'c', 'd'].map((prompt) => ({ prompt })) })],
    ...Object.fromEntries(['a', 'b', 'c', 'd'].map((p) => [p, [sleeper(`${p}.pid`)]])),
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  await Promise.all([exists(t.work('a.pid')), exists(t.work('b.pid'))]);
  const [delegation] = await t.seen(id, () => true);
  expect(await t.delegations.stop({ childId: delegation!.children[0]!.id })).toEqual({ stopped: 1 });
  // its place is free for the next
  await exists(t.work('c.pid'));
  expect((await t.children(id)).map((c) => c.state)).toEqual(['interrupted', 'running', 'running', 'queued']);
  expect(alive('b.pid')).toBe(true);
  expect(await t.delegations.stop({ delegationId: delegation!.id })).toEqual({ stopped: 3 });
  await turn;
  expect((await t.children(id)).map((c) => [c.state, c.startedAt === null])).toEqual([['interrupted', false], ['interrupted', false], ['interrupted', false], ['interrupted', true]]);
  // the turn itself was not stopped
  expect(t.messages(id).at(-1)!.content).toBe('done: go');
  expect(await t.delegations.stop({ delegationId: delegation!.id })).toEqual({ stopped: 0 });
  await expect(t.delegations.stop({ childId: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(t.delegations.stop({})).rejects.toMatchObject({ code: 'invalid' });
});

test('a message to a child comes before its next call; one that has ended hears nothing, and that is said', async () => {
  // Bug: what a person says to a child is lost without a word.
  t.plays({
    go: [callTool('spawn_agent', { prompt: 'work' })],
    work: [together(callTool('terminal', { command: 'true' }), gated('first'))],
    'use blue': [say('blue it is')],
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  const [delegation] = await t.seen(id, ([one]) => one?.children[0]?.state === 'running');
  await t.fake.waitForChats(2);
  const childId = delegation!.children[0]!.id;
  t.delegations.steer({ childId, text: 'use blue' });
  t.fake.release('first');
  await turn;
  expect(t.answer(id, 'spawn_agent').results[0]!.summary).toBe('blue it is');
  const said = t.history((await t.children(id))[0]!.trajectoryId!).find((m) => m.content === 'use blue')!;
  // a person said it: it is no note of the harness
  expect(said).toMatchObject({ role: 'user' });
  expect(said.synthetic).toBeUndefined();
  expect(() => t.delegations.steer({ childId, text: 'too late' })).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(() => t.delegations.steer({ childId: 'nobody', text: 'x' })).toThrow(expect.objectContaining({ code: 'not_found' }));
});

test('a chat that is put away takes its children with it, those in the background too, and nothing comes back to it', async () => {
  // Bug: deleted chats go on working and spending, and their results open them again.
  t.plays({ go: [callTool('spawn_agent', { prompt: 'far', background: true })], far: [sleeper('far.pid')] });
  const hidden = (trajectoryId: string) => t.store.db.get(sqlFor.selectFrom('trajectories').select('deleted_at').where('id', '=', trajectoryId))!.deleted_at !== null;
  for (const how of ['archived', 'deleted'] as const) {
    rmSync(t.work('far.pid'), { force: true });
    const id = t.chat();
    await t.say(id, 'go');
    await exists(t.work('far.pid'));
    const messages = t.messages(id).length;
    const { trajectoryId } = (await t.children(id))[0]!;
    await (how === 'archived' ? t.chats.mark({ id, archived: true }) : t.chats.remove({ id }));
    const [ended] = await t.seen(id, ([one]) => one!.endedAt !== null && one!.deliveredAt !== null);
    expect(ended!.children[0]!.state).toBe('interrupted');
    await expect.poll(() => alive('far.pid')).toBe(false);
    expect(hidden(trajectoryId!)).toBe(how === 'deleted');
    if (how === 'deleted') t.chats.restore({ id });
    expect(hidden(trajectoryId!)).toBe(false);
    expect(t.messages(id)).toHaveLength(messages);
  }
});

test('a chat that was deleted long ago is removed with its sub-agents', async () => {
  // Bug: trajectories of children stay in the store for ever, belonging to nothing.
  t.plays({ go: [callTool('spawn_agent', { prompt: 'near' })] });
  const id = await t.go();
  await t.chats.remove({ id });
  t = await t.again({ now: () => Date.now() + 31 * 86_400_000 });
  for (const table of ['sessions', 'trajectories', 'messages', 'delegations', 'children'] as const) expect(t.store.db.all(sqlFor.selectFrom(table).selectAll())).toEqual([]);
});
