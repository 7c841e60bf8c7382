import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, hangAfter, say, together, toolCall, type Step } from '../../../e2e/fakes/steps.ts';
import { testHome } from '../chat/testing.ts';
import { getDetail } from '../trajectories/query.ts';
import { type DelegationGround, openDelegations } from './testing.ts';

// an engine of its own is started in each
vi.setConfig({ testTimeout: 60_000 });

let fake: FakeModel;
let home: ReturnType<typeof testHome>;
let t: DelegationGround | null = null;
const processes: ChildProcess[] = [];
beforeEach(async () => {
  fake = await startFakeModel();
  home = testHome();
});
afterEach(async () => {
  for (const one of processes.splice(0)) one.kill('SIGKILL');
  await t?.close();
  t = null;
  await fake.close();
  home.remove();
  rmSync(`${home.home}-work`, { recursive: true, force: true });
});

const TESTING = pathToFileURL(resolve(import.meta.dirname, 'testing.ts')).href;

function plays(script: Record<string, Step[]>): void {
  fake.respond(({ prompt, lastUser, assistantTurns, turnsSinceUser }) => {
    if (lastUser.includes('in the background')) return say('thanks');
    return (script[lastUser] ? script[lastUser][turnsSinceUser] : script[prompt]?.[assistantTurns]) ?? say(`done: ${lastUser}`);
  });
}

/** Says "go" in a chat of an engine of its own, kills that when `ready` (source text; has `t`, `id`) resolves, and opens the home here. Answers with the chat. */
async function killedWhen(ready: string): Promise<string> {
  const script = `
    import { openDelegations } from ${JSON.stringify(TESTING)};
    const t = await openDelegations(process.argv[1], process.argv[2], { config: (file) => file.change([[['delegation', 'max_concurrent_children'], 2]]) });
    const id = t.chat();
    await t.chats.send({ id, text: 'go', attachments: [], whenBusy: 'queue' });
    await ${ready};
    console.log('reached ' + id);
    setInterval(() => {}, 1000);`;
  const engine = spawn(process.execPath, ['--input-type=module', '-e', script, home.home, fake.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(engine);
  for await (const line of createInterface({ input: engine.stdout! })) {
    if (!line.startsWith('reached ')) continue;
    engine.kill('SIGKILL');
    await once(engine, 'exit');
    t = await openDelegations(home.home, fake.url);
    return line.slice('reached '.length);
  }
  throw new Error('The process ended before it came to the point');
}

const TASKS = ['quick', 'writes', 'thinks', 'waits'].map((prompt) => ({ prompt }));
const CHILDREN: Record<string, Step[]> = {
  quick: [say('quick was done')],
  writes: [together(say('wrote the half'), callTool('write_file', { path: 'half.txt', content: 'half' })), callTool('terminal', { command: 'sleep 300' })],
  thinks: [together(say(['a ', 'thought']), hangAfter(1))],
};

test('killed with children of the background at work: each is accounted for, and their results come exactly once', async () => {
  // Bug (#76994, #4799): children vanish with the process, or are told of at every start from then on.
  plays({ go: [callTool('spawn_parallel', { background: true, tasks: TASKS })], ...CHILDREN });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.children[0].state === 'completed' && one.children[1].activity?.includes('sleep 300') && one.children[2].activity === 'answering')`);
  await t!.until(id, (s) => s.session.state === 'idle' && t!.messages(id).at(-1)!.content === 'thanks');
  const messages = t!.messages(id).filter((m) => m.note === 'delegation');
  expect(messages).toHaveLength(1);
  const { results } = JSON.parse(messages[0]!.content.split('\n').at(-1)!) as { results: object[] };
  expect(results).toMatchObject([
    { task_index: 0, status: 'completed', summary: 'quick was done' },
    { task_index: 1, status: 'unknown', summary: 'wrote the half', files_written: ['half.txt'], error: expect.stringContaining('while it worked') as string },
    { task_index: 2, status: 'unknown', summary: null },
    { task_index: 3, status: 'unknown', error: expect.stringContaining('before it began') as string },
  ]);
  const [delegation] = await t!.seen(id, () => true);
  expect(delegation!.endedAt).not.toBeNull();
  for (const child of delegation!.children.slice(0, 3)) expect(getDetail(t!.store.db, child.trajectoryId!)).toMatchObject({ state: 'ended' });
  expect(readFileSync(`${home.home}-work/half.txt`, 'utf8')).toBe('half');
  // and never again
  await t!.close();
  t = await openDelegations(home.home, fake.url);
  await t.say(id, 'again');
  expect(t.messages(id).filter((m) => m.note === 'delegation')).toHaveLength(1);
  expect(t.errors).toEqual([]);
});

test('killed while a turn waits for its children: they end as unknown, their call has their results, and the chat goes on', async () => {
  // Bug: children that count as running for ever, or a conversation that providers refuse.
  plays({ go: [callTools([toolCall('spawn_parallel', { tasks: TASKS })])], ...CHILDREN, 'go on': [say('back again')] });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.children[0].state === 'completed' && one.children[1].activity?.includes('sleep 300'))`);
  const states = (await t!.children(id)).map((c) => c.state);
  expect(states).toEqual(['completed', 'unknown', 'unknown', 'unknown']);
  await t!.say(id, 'go on');
  const messages = t!.messages(id);
  expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant']);
  expect(messages[3]).toMatchObject({ toolCallId: messages[2]!.toolCalls![0]!.id, isError: false });
  expect(t!.answer(id, 'spawn_parallel').results).toMatchObject([{ summary: 'quick was done' }, { status: 'unknown', files_written: ['half.txt'] }, { status: 'unknown' }, { status: 'unknown' }]);
  expect(messages.at(-1)!.content).toBe('back again');
  expect(t!.errors).toEqual([]);
});

test('killed between the end of the children and their message: it comes with the next start', async () => {
  // Bug (#76994): what had ended but was not yet told is lost.
  plays({ go: [callTool('spawn_parallel', { background: true, tasks: TASKS.slice(0, 1) }), hangAfter(0)], ...CHILDREN });
  const id = await killedWhen(`t.seen(id, ([one]) => one?.endedAt > 0)`);
  await t!.until(id, (s) => s.session.state === 'idle' && t!.messages(id).at(-1)!.content === 'thanks');
  expect(t!.messages(id).filter((m) => m.note === 'delegation').map((m) => m.content.includes('quick was done'))).toEqual([true]);
});
