import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callTool, callTools, hangAfter, say, together, toolCall, type Step } from '../../../e2e/fakes/steps.ts';
import { getDetail } from '../trajectories/query.ts';
import { type DelegationGround, killedAtItsLine, openDelegations, openPlace, type Place } from './testing.ts';

// an engine of its own is started in each
vi.setConfig({ testTimeout: 60_000 });

let place: Place;
let t: DelegationGround;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

/** Says "go" in a chat of an engine of its own, kills that when `ready` (source text; has `t`, `id`) resolves, and opens the home here. Answers with the chat. */
async function killedWhen(ready: string): Promise<string> {
  const id = await killedAtItsLine(place, `
    import { openDelegationsAt } from ${JSON.stringify(import.meta.resolve('./testing.ts'))};
    const t = await openDelegationsAt(home, url, { config: (file) => file.change([[['delegation', 'max_concurrent_children'], 2]]) });
    const id = t.chat();
    await t.chats.send({ id, text: 'go', attachments: [], whenBusy: 'queue' });
    await ${ready};
    console.log(id);`);
  t = await openDelegations({}, place);
  return id;
}

const TASKS = ['quick', 'writes', 'thinks', 'waits'].map((prompt) => ({ prompt }));
const CHILDREN: Record<string, Step[]> = {
  quick: [say('quick was done')],
  writes: [together(say('wrote the half'), callTool('write_file', { path: 'half.txt', content: 'half' })), callTool('terminal', { command: 'sleep 300' })],
  thinks: [together(say(['a ', 'thought']), hangAfter(1))],
};

test('killed with children of the background at work: each is accounted for, and their results come exactly once', async () => {
  // Bug (#76994, #4799): children vanish with the process, or are told of at every start from then on.
  place.plays({ go: [callTool('spawn_parallel', { background: true, tasks: TASKS })], ...CHILDREN });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.children[0].state === 'completed' && one.children[1].activity?.includes('sleep 300') && one.children[2].activity === 'answering')`);
  await t.thanked(id);
  const messages = t.delivered(id);
  expect(messages).toHaveLength(1);
  const { results } = JSON.parse(messages[0]!.content.split('\n').at(-1)!) as { results: object[] };
  expect(results).toMatchObject([
    { task_index: 0, status: 'completed', summary: 'quick was done' },
    { task_index: 1, status: 'unknown', summary: 'wrote the half', files_written: ['half.txt'], error: expect.stringContaining('while it worked') as string },
    { task_index: 2, status: 'unknown', summary: null },
    { task_index: 3, status: 'unknown', error: expect.stringContaining('before it began') as string },
  ]);
  const [delegation] = await t.seen(id, () => true);
  expect(delegation!.endedAt).not.toBeNull();
  for (const child of delegation!.children.slice(0, 3)) expect(getDetail(t.store.db, child.trajectoryId!)).toMatchObject({ state: 'ended' });
  expect(readFileSync(t.work('half.txt'), 'utf8')).toBe('half');
  // and never again
  t = await t.again();
  await t.say(id, 'again');
  expect(t.delivered(id)).toHaveLength(1);
});

test('killed while a turn waits for its children: they end as unknown, their call has their results, and the chat goes on', async () => {
  // Bug: children that count as running for ever, or a conversation that providers refuse.
  place.plays({ go: [callTools([toolCall('spawn_parallel', { tasks: TASKS })])], ...CHILDREN, 'go on': [say('back again')] });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.children[0].state === 'completed' && one.children[1].activity?.includes('sleep 300'))`);
  const states = (await t.children(id)).map((c) => c.state);
  expect(states).toEqual(['completed', 'unknown', 'unknown', 'unknown']);
  await t.say(id, 'go on');
  const messages = t.messages(id);
  expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant']);
  expect(messages[3]).toMatchObject({ toolCallId: messages[2]!.toolCalls![0]!.id, isError: false });
  expect(t.answer(id, 'spawn_parallel').results).toMatchObject([{ summary: 'quick was done' }, { status: 'unknown', files_written: ['half.txt'] }, { status: 'unknown' }, { status: 'unknown' }]);
  expect(messages.at(-1)!.content).toBe('back again');
});

test('killed between the end of the children and their message: it comes with the next start', async () => {
  // Bug (#76994): what had ended but was not yet told is lost.
  place.plays({ go: [callTool('spawn_parallel', { background: true, tasks: TASKS.slice(0, 1) }), hangAfter(0)], ...CHILDREN });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.endedAt > 0)`);
  await t.thanked(id);
  expect(t.delivered(id).map((m) => m.content.includes('quick was done'))).toEqual([true]);
});
