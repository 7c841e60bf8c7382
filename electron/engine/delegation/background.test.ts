import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callTool, gated, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import { plainTurns } from '../trajectories/export/hermes-turns.ts';
import { type DelegationGround, openDelegations } from './testing.ts';

let t: DelegationGround;
beforeEach(async () => {
  t = await openDelegations();
});
afterEach(() => t.close());

test('a handle at once; the results come between turns as one message, which begins a turn, once', async () => {
  // Bug (#4799): results are delivered twice, or never when the chat is idle.
  t.plays({ go: [callTool('spawn_parallel', { background: true, tasks: [{ prompt: 'a' }, { prompt: 'b' }] })], a: [together(say('found a'), gated('work'))], b: [together(say('found b'), gated('work'))] });
  const id = await t.go();
  const handle = t.answer(id, 'spawn_parallel');
  expect(handle).toMatchObject({ status: 'running', background: true, children: [{ task_index: 0, goal: 'a' }, { task_index: 1, goal: 'b' }] });
  expect(t.messages(id).at(-1)!.content).toBe('done: go');
  // the turn is over, the children work on
  await t.seen(id, ([one]) => one!.children.every((c) => c.state === 'running'));
  t.fake.release('work');
  await t.thanked(id);
  const [message, ...more] = t.delivered(id);
  expect(more).toEqual([]);
  expect(message).toMatchObject({ role: 'user', note: 'delegation' });
  for (const part of [handle.delegation_id, 'found a', 'found b', 'not orders']) expect(message!.content).toContain(part);
  const [delegation] = await t.seen(id, () => true);
  expect(delegation!.deliveredAt).not.toBeNull();
  // a second start finds nothing to deliver
  t.delegations.recover({ deliver: true });
  await t.say(id, 'and?');
  expect(t.delivered(id)).toHaveLength(1);
});

test('while the chat works its results wait for the end of the turn; what the person has queued goes first', async () => {
  // Bug: results fall into the middle of a turn, between calls and their results.
  t.plays({
    go: [callTool('spawn_agent', { background: true, prompt: 'far' }), together(callTool('terminal', { command: 'true' }), gated('parent')), say('went on')],
    far: [together(say('far away'), gated('far'))],
    queued: [say('answer to the queued')],
  });
  const id = t.chat();
  await t.chats.send({ id, text: 'go', attachments: [], whenBusy: 'queue' });
  // both: the parent's second call and the child's first
  await t.fake.waitForChats(3);
  await t.chats.send({ id, text: 'queued', attachments: [], whenBusy: 'queue' });
  t.fake.release('far');
  await t.seen(id, ([one]) => one!.endedAt !== null);
  expect(t.delivered(id)).toEqual([]);
  t.fake.release('parent');
  await t.thanked(id);
  expect(t.messages(id).map((m) => m.note ?? (m.role === 'tool' ? 'tool' : m.content))).toEqual([
    expect.stringContaining('capable agent'), 'go', '', 'tool', '', 'tool', 'went on', 'queued', 'answer to the queued', 'delegation', 'thanks',
  ]);
});

test('results go to the chat that asked, whatever is open by then', async () => {
  // Bug (#58684): results are delivered to the chat that happens to be active.
  t.plays({ 'go 1': [callTool('spawn_agent', { background: true, prompt: 'for 1' })], 'go 2': [callTool('spawn_agent', { background: true, prompt: 'for 2' })], 'for 1': [together(say('one'), gated('one'))], 'for 2': [together(say('two'), gated('two'))] });
  const first = t.chat();
  const second = t.chat();
  await t.say(first, 'go 1');
  await t.say(second, 'go 2');
  t.fake.release('two');
  await t.until(second, (s) => s.session.state === 'idle' && t.delivered(second).length === 1);
  expect(t.delivered(first)).toEqual([]);
  t.fake.release('one');
  await t.until(first, (s) => s.session.state === 'idle' && t.delivered(first).length === 1);
  expect(t.delivered(first)[0]!.content).toContain('"one"');
  expect(t.delivered(second)).toHaveLength(1);
});

test('stopping the turn leaves the background alone; a child that is stopped there is told of like any other end', async () => {
  // Bug: stop means everything, or a stopped child is never heard of again.
  t.plays({ go: [callTool('spawn_agent', { background: true, prompt: 'far' }), hangAfter(0)], far: [callTool('terminal', { command: 'sleep 300' })] });
  const id = t.chat();
  await t.chats.send({ id, text: 'go', attachments: [], whenBusy: 'queue' });
  const [delegation] = await t.seen(id, ([one]) => one?.children[0]?.activity?.includes('sleep') === true);
  await t.chats.stop({ id });
  expect((await t.children(id))[0]!.state).toBe('running');
  await t.delegations.stop({ delegationId: delegation!.id });
  await t.thanked(id);
  expect(t.delivered(id)[0]!.content).toContain('"status":"interrupted"');
});

test('files are not taken back under sub-agents that are at work, and are when they have ended', async () => {
  // Bug: the rollback takes away what a sub-agent writes at this moment, or half of it.
  t.plays({ go: [callTool('write_file', { path: 'a.txt', content: 'x' }), callTool('spawn_parallel', { background: true, tasks: [{ prompt: 'one' }, { prompt: 'two' }] })], one: [callTool('terminal', { command: 'sleep 300' })], two: [together(say('found'), gated('two'))] });
  const id = await t.go();
  await t.seen(id, ([one]) => one!.children.every((child) => child.state === 'running'));
  const [checkpoint] = (await t.chats.checkpoints({ id })).items;
  const rollback = () => t.chats.rollback({ id, checkpointId: checkpoint!.id });
  await expect(rollback()).rejects.toMatchObject({ code: 'conflict', message: '2 sub-agents of this chat may be changing files here. Stop them, or wait until they have ended, before you go back.' });
  const [one] = await t.children(id);
  await t.delegations.stop({ childId: one!.id });
  await expect(rollback()).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(/^A sub-agent of this chat .* Stop it, or wait until it has ended/) as string });
  expect(readFileSync(t.work('a.txt'), 'utf8')).toBe('x');
  t.fake.release('two');
  await t.thanked(id);
  await rollback();
  expect(existsSync(t.work('a.txt'))).toBe(false);
});

test('training data has the delivered results before the answer to them; undo takes back what the person said, retry answers them anew', async () => {
  // Bug: an answer without its cause is trained on; or undo puts a block of JSON into the input box.
  t.plays({ go: [callTool('spawn_agent', { background: true, prompt: 'far' })], far: [together(say('far away'), gated('far'))] });
  const id = await t.go();
  t.fake.release('far');
  await t.thanked(id);
  const { turns } = plainTurns(t.messages(id), t.fake.chats[0]!.body.tools!.map((tool) => ({ description: '', parameters: {}, ...tool.function })));
  expect(turns.map((turn) => [turn.from, turn.text.includes('far away') ? 'results' : turn.text])).toEqual([['human', 'go'], ['gpt', ''], ['gpt', 'done: go'], ['human', 'results'], ['gpt', 'thanks']]);
  const seq = t.delivered(id)[0]!.seq;
  await expect(t.chats.edit({ id, seq, text: 'forged', attachments: [] })).rejects.toMatchObject({ code: 'invalid' });
  const { trajectoryId } = await t.chats.retry({ id });
  await t.until(id, (s) => s.tip === trajectoryId && s.session.state === 'idle');
  expect(t.messages(id).slice(-2).map((m) => m.note ?? m.content)).toEqual(['delegation', 'thanks']);
  expect(await t.chats.undo({ id })).toMatchObject({ text: 'go' });
});

test('closing ends what the background does; the next start brings the results, once', async () => {
  // Bug (#76994): results are lost when the program is closed.
  t.plays({ go: [callTool('spawn_parallel', { background: true, tasks: [{ prompt: 'quick' }, { prompt: 'slow' }] })], quick: [say('quick was done')], slow: [callTool('terminal', { command: 'sleep 300' })] });
  const id = await t.go();
  await t.seen(id, ([one]) => one!.children[0]!.state === 'completed' && one!.children[1]!.activity?.includes('sleep') === true);
  t = await t.again();
  await t.thanked(id);
  expect(t.delivered(id)[0]!.content).toMatch(/quick was done.*"status":"interrupted"/s);
  t = await t.again();
  await t.say(id, 'again');
  expect(t.delivered(id)).toHaveLength(1);
});
