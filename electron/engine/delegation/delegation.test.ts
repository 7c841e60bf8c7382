import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callTool, callTools, fail, gated, hangAfter, paced, say, together, toolCall } from '../../../e2e/fakes/steps.ts';
import { getDetail } from '../trajectories/query.ts';
import { type DelegationGround, openDelegations } from './testing.ts';

let t: DelegationGround;
beforeEach(async () => {
  t = await openDelegations();
});
afterEach(() => t.close());

const file = (name: string): string => readFileSync(t.work(name), 'utf8');
const statuses = (id: string, tool = 'spawn_parallel') => t.answer(id, tool).results.map((r) => r.status);

test('three children on three files work at the same time, and their results come in task order', async () => {
  // Bug: children run one after another, or their results in the order in which they end.
  const tasks = [0, 1, 2].map((i) => ({ prompt: `write ${i}` }));
  t.plays({
    go: [callTool('spawn_parallel', { tasks })],
    ...Object.fromEntries(tasks.map(({ prompt }, i) => [prompt, [together(callTool('write_file', { path: `${i}.txt`, content: `file ${i}` }), gated('begin')), together(say(`wrote ${i}`), gated(`end ${i}`))]])),
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  // the first is answered once the last has asked
  await t.fake.waitForChats(4);
  t.fake.release('begin');
  for (const i of [1, 2, 0]) {
    t.fake.release(`end ${i}`);
    await t.seen(id, ([one]) => one?.children[i]?.state === 'completed');
  }
  await turn;
  const { results } = t.answer(id, 'spawn_parallel');
  expect(results.map((r) => [r.task_index, r.status, r.summary])).toEqual([[0, 'completed', 'wrote 0'], [1, 'completed', 'wrote 1'], [2, 'completed', 'wrote 2']]);
  expect([0, 1, 2].map((i) => file(`${i}.txt`))).toEqual(['file 0', 'file 1', 'file 2']);
  expect(results[0]).toMatchObject({ api_calls: 2, exit_reason: 'completed', model: 'fake/fake-model', files_written: ['0.txt'], tool_trace: [{ tool: 'write_file', status: 'ok' }] });
  expect(results[0]).not.toHaveProperty('error');
  expect(results[0]).not.toHaveProperty('truncated');
  expect(results[0]!.tokens.input).toBeGreaterThan(0);
});

test('one fails, one is stopped, one hangs: each has its one status with what it had done, while the others finish', async () => {
  // Bug (#51294, #113222, #22176, #93701, #84085): a child that never reports, a failure that loses its work, a stop that takes siblings along.
  t.config.change([[['delegation', 'stall_seconds'], 3], [['delegation', 'max_concurrent_children'], 5]]);
  t.plays({
    go: [callTool('spawn_parallel', { tasks: ['fails', 'stopped', 'hangs', 'late', 'fine'].map((prompt) => ({ prompt, ...(prompt === 'late' ? { timeout_seconds: 2 } : {}) })) })],
    fails: [together(say('half of it is in a.txt'), callTool('write_file', { path: 'a.txt', content: 'half' })), fail(401, { message: 'no such key' })],
    stopped: [callTool('terminal', { command: 'echo begun; sleep 300' })],
    hangs: [together(say(['a ', 'b ']), hangAfter(1))],
    // it shows signs of life all the time, so only its time ends it
    late: [callTool('terminal', { command: 'while true; do echo tick; sleep 0.1; done' })],
    fine: [together(callTool('terminal', { command: 'sleep 0.2; echo ok' })), say('fine')],
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  const [delegation] = await t.seen(id, ([one]) => one?.children[1]?.activity?.includes('sleep 300') === true);
  expect(await t.delegations.stop({ childId: delegation!.children[1]!.id })).toEqual({ stopped: 1 });
  await turn;
  const { results } = t.answer(id, 'spawn_parallel');
  expect(results.map((r) => r.status)).toEqual(['failed', 'interrupted', 'stalled', 'timeout', 'completed']);
  expect(results[0]).toMatchObject({ summary: 'half of it is in a.txt', files_written: ['a.txt'] });
  expect(results[0]!.error).toContain('no such key');
  expect(results[2]!.error).toMatch(/no sign of life for 3 s/);
  expect(results[3]!.error).toMatch(/time was up \(2 s\)/);
  // the store says the same, and each trajectory has an end
  const children = await t.children(id);
  expect(children.map((c) => c.state)).toEqual(results.map((r) => r.status));
  expect(children.map((c) => getDetail(t.store.db, c.trajectoryId!)!.state)).toEqual(Array(5).fill('ended'));
  expect(t.messages(id).at(-1)!.content).toBe('done: go');
});

test('more than may work at once are queued, all of them run', async () => {
  // Bug (#6880, #7360): the fourth task is dropped without a word.
  t.config.change([[['delegation', 'max_concurrent_children'], 2]]);
  t.plays({ go: [callTool('spawn_parallel', { tasks: Array.from({ length: 5 }, (_, i) => ({ prompt: `t${i}` })) })], ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`t${i}`, [together(say(`r${i}`), gated('all'))]])) });
  const id = t.chat();
  const turn = t.say(id, 'go');
  const [delegation] = await t.seen(id, ([one]) => one?.children.filter((c) => c.state === 'running').length === 2);
  expect(delegation!.children.map((c) => c.state)).toEqual(['running', 'running', 'queued', 'queued', 'queued']);
  await t.fake.waitForChats(3);
  t.fake.release('all');
  await turn;
  expect(t.answer(id, 'spawn_parallel').results.map((r) => r.summary)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  // two children, never with the parent's own call
  expect(t.fake.counts.mostOpen).toBe(2);
});

test('a call may ask for fewer at a time than the settings allow', async () => {
  // Bug (#54152, #2838): tasks that must not overlap can only be given one call after another.
  t.plays({ go: [callTool('spawn_parallel', { max_parallel: 1, tasks: ['a', 'b', 'c'].map((prompt) => ({ prompt })) })], ...Object.fromEntries(['a', 'b', 'c'].map((p) => [p, [together(say(p), paced(60))]])) });
  const id = await t.go();
  expect(t.answer(id, 'spawn_parallel').results.map((r) => r.summary)).toEqual(['a', 'b', 'c']);
  expect(t.fake.counts.mostOpen).toBe(1);
});

test('several spawn_agent calls of one turn work at the same time', async () => {
  // Bug: tools of a turn that run one after another make the second child wait for the first, for ever where they need each other.
  t.plays({
    go: [callTools(['a', 'b', 'c'].map((prompt) => toolCall('spawn_agent', { prompt })))],
    ...Object.fromEntries(['a', 'b', 'c'].map((p) => [p, [together(say(p), gated('together'))]])),
  });
  const id = t.chat();
  const turn = t.say(id, 'go');
  await t.fake.waitForChats(4);
  t.fake.release('together');
  await turn;
  expect(t.messages(id).filter((m) => m.role === 'tool').map((m) => (JSON.parse(m.content) as { results: { summary: string }[] }).results[0]!.summary)).toEqual(['a', 'b', 'c']);
});

test('toolsets: [] gives none, composites are expanded before they are cut to what the parent has, the blocked are never given', async () => {
  // Bug (#11274, #38165, #19447): [] inherits everything; "coding" of a parent with file and terminal gives nothing.
  t.plays({
    go: [callTool('spawn_parallel', { tasks: [{ prompt: 'none', toolsets: [] }, { prompt: 'coding', toolsets: ['coding'] }, { prompt: 'all' }, { prompt: 'one', toolsets: ['file', 'web'] }] })],
  });
  const id = t.chat({ toolsets: ['terminal', 'file', 'todo', 'clarify', 'delegation'] });
  await t.say(id, 'go');
  const offered = Object.fromEntries(t.fake.chats.map((c) => [c.body.messages.find((m) => m.role === 'user')!.content as string, (c.body.tools ?? []).map((tool) => tool.function.name)]));
  const own = ['terminal', 'process', 'read_file', 'write_file', 'patch', 'search_files', 'todo'];
  expect(offered).toMatchObject({ none: [], coding: own, all: own, one: ['read_file', 'write_file', 'patch', 'search_files'] });
  expect(t.answer(id, 'spawn_parallel').results.map((r) => r.note)).toEqual([undefined, undefined, undefined, expect.stringContaining('web')]);
});

test('a mistake in a call is an error that says what to do, and nothing is started', async () => {
  // Bug (#14288): a mistake in one argument is passed over in silence, and children start with other tools than were meant.
  const mistakes: [args: Record<string, unknown>, said: RegExp][] = [
    [{ prompt: 'x', toolsets: ['fille'] }, /Unknown toolset "fille"/],
    [{ prompt: 'x', toolsets: ['web'] }, /None of these toolsets/],
    [{ prompt: 'x', model: 'nobody/m' }, /no provider "nobody"/],
    [{ prompt: 'x', model: 'gpt' }, /names no model/],
    [{ prompt: 'x', profile: 'coder' }, /no profile "coder"/],
    [{ prompt: 'x', output_schema: { type: 'banana' } }, /output_schema/],
    [{ prompt: 'x', max_turns: 'many' }, /max_turns/],
    [{ context: 'c', role: 'leaf' }, /you sent: context, role/],
    [{ prompt: 'x', tasks: [{ prompt: 'y' }] }, /not both/],
    [{ tasks: [{ prompt: 'fine' }, { prompt: 'bad', toolsets: ['nope'] }] }, /tasks\[1\].*Nothing was started/],
    [{ tasks: 'not a list' }, /must be a list/],
    [{ tasks: [{ prompt: 'fine' }, { goals: 'typing mistake' }] }, /tasks\[1\] has no "prompt".*goals/],
    [{ tasks: Array.from({ length: 101 }, () => ({ prompt: 'x' })) }, /101 tasks are too many/],
  ];
  t.plays({ go: [callTools(mistakes.map(([args]) => toolCall('spawn_parallel', args)))] });
  const id = await t.go();
  const answers = t.messages(id).filter((m) => m.role === 'tool');
  expect(answers).toHaveLength(mistakes.length);
  answers.forEach(({ content, isError }, i) => {
    expect((JSON.parse(content) as { error: string }).error).toMatch(mistakes[i]![1]);
    expect(isError).toBe(true);
  });
  expect(await t.children(id)).toEqual([]);
  expect(t.fake.counts.chats).toBe(2);
});

test('delegate_task is understood in its shapes, stored by our names, and not offered', async () => {
  // Bug: models that learnt Hermes' tool name end with "tool does not exist"; or are offered the same thing by three names.
  const calls = [{ goal: 'one', context: 'mind the gap', toolsets: 'file' }, { tasks: [{ goal: 'two' }], context: 'mind the gap' }, { tasks: JSON.stringify([{ goal: 'three', context: 'mind the gap' }]) }];
  t.plays({ go: [callTools(calls.map((args) => toolCall('delegate_task', args)))] });
  const id = await t.go();
  const messages = t.messages(id);
  expect(messages.flatMap((m) => m.toolCalls ?? []).map((c) => c.name)).toEqual(['spawn_agent', 'spawn_parallel', 'spawn_parallel']);
  const results = messages.filter((m) => m.role === 'tool').flatMap((m) => (JSON.parse(m.content) as { results: { summary: string }[] }).results);
  expect(results.map((r) => r.summary)).toEqual(['done: one', 'done: two', 'done: three']);
  expect(t.fake.chats[0]!.body.tools!.map((tool) => tool.function.name).filter((name) => name.includes('spawn') || name.includes('delegate'))).toEqual(['spawn_agent', 'spawn_parallel']);
  const children = t.fake.chats.filter((c) => c.body.messages.length === 2 && c.body.messages[1]!.content !== 'go');
  expect(children).toHaveLength(3);
  for (const { body } of children) {
    expect(body.messages[0]!.content).toContain('mind the gap');
    // a fresh conversation: nothing of the parent's
    expect(JSON.stringify(body.messages)).not.toContain('"go"');
  }
});

test('truncated exactly when the cap was hit: not when the last call allowed is the answer', async () => {
  // Bug (#86641): results that were cut short look whole, or whole ones cut short.
  t.plays({
    go: [callTool('spawn_parallel', { tasks: [{ prompt: 'endless', max_turns: 2 }, { prompt: 'just', max_turns: 2 }] })],
    endless: [callTool('terminal', { command: 'echo 1' }), callTool('terminal', { command: 'echo 2' }), say('this far')],
    just: [callTool('terminal', { command: 'echo 1' }), say('all of it')],
  });
  const id = await t.go();
  const [endless, just] = t.answer(id, 'spawn_parallel').results;
  expect(endless).toMatchObject({ status: 'completed', summary: 'this far', truncated: true, exit_reason: 'max_iterations' });
  expect(just).toMatchObject({ status: 'completed', summary: 'all of it', exit_reason: 'completed' });
  expect(just).not.toHaveProperty('truncated');
});

test('dangerous commands of children are refused and said to be, in the background too; with auto_approve they run', async () => {
  // Bug (#15491, #65291, #90789): a question that nobody sees blocks the child for ever, or a background command is not asked about at all.
  t.plays({
    go: [callTool('spawn_agent', { prompt: 'clean' })],
    again: [callTool('spawn_agent', { prompt: 'clean again' })],
    clean: [callTools([toolCall('terminal', { command: 'git push --force' }), toolCall('terminal', { command: 'git push --force origin x; true', background: true }), toolCall('read_file', { path: '/etc/hostname' })]), say('could not')],
    'clean again': [callTool('terminal', { command: 'git push --force nowhere || echo ran' }), say('did')],
  });
  const id = await t.go();
  const [child] = await t.children(id);
  const results = t.history(child!.trajectoryId!).filter((m) => m.role === 'tool');
  expect(results.map((m) => m.isError)).toEqual([true, true, true]);
  for (const { content } of results) expect(content).toMatch(/Refused, nothing was done: .*sub-agent cannot ask/);
  t.config.change([[['delegation', 'auto_approve'], true]]);
  await t.say(id, 'again');
  expect(t.history((await t.children(id)).at(-1)!.trajectoryId!).find((m) => m.role === 'tool')!.content).toContain('ran');
});

test('depth: children cannot delegate; where they may, they wait without holding the place that their own children need', async () => {
  // Bug: with one place, a child that waits for its child waits for ever.
  t.config.change([[['delegation', 'max_spawn_depth'], 2], [['delegation', 'max_concurrent_children'], 1]]);
  t.plays({
    go: [callTool('spawn_agent', { prompt: 'middle' })],
    middle: [callTool('spawn_parallel', { background: true, tasks: [{ prompt: 'leaf 1' }, { prompt: 'leaf 2' }] }), say('both done')],
  });
  const id = await t.go();
  expect(t.answer(id, 'spawn_agent').results).toMatchObject([{ status: 'completed', summary: 'both done' }]);
  const children = await t.children(id);
  expect(children.map((c) => [c.goal, c.depth, c.state])).toEqual([['middle', 1, 'completed'], ['leaf 1', 2, 'completed'], ['leaf 2', 2, 'completed']]);
  const tools = (goal: string) => t.fake.chats.find((c) => c.body.messages.some((m) => m.role === 'user' && m.content === goal))!.body.tools!.map((tool) => tool.function.name);
  expect(tools('middle')).toContain('spawn_parallel');
  expect(tools('leaf 1')).not.toContain('spawn_agent');
  // results of the background could not be brought to a child that has ended
  expect(t.history(children[0]!.trajectoryId!).find((m) => m.role === 'tool')!.content).toContain('ran in the foreground');
});

test('an answer that does not fit its schema is asked for once more; the raw text stays', async () => {
  // Bug: structured output that does not parse is handed on as if it did.
  const output_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  t.plays({
    go: [callTool('spawn_parallel', { tasks: ['right', 'mended', 'never'].map((prompt) => ({ prompt, output_schema })) })],
    right: [say('{"n": 1}')],
    mended: [say('I think it is 2.'), say('```json\n{"n": 2}\n```')],
    never: [say('{"n": "three"}'), say('{"n": "three!"}')],
  });
  const id = await t.go();
  const { results } = t.answer(id, 'spawn_parallel');
  expect(results).toMatchObject([
    { schema_valid: true, output: { n: 1 }, summary: '{"n": 1}' },
    { schema_valid: true, output: { n: 2 }, api_calls: 2 },
    { schema_valid: false, schema_errors: ['/n must be integer'], summary: '{"n": "three!"}', status: 'completed', api_calls: 2 },
  ]);
  const mended = t.history((await t.children(id))[1]!.trajectoryId!);
  expect(mended.map((m) => [m.role, m.synthetic ?? false])).toEqual([['system', false], ['user', false], ['assistant', false], ['user', true], ['assistant', false]]);
});

test('what children spend counts in the session and its cap, under its own purpose, and on their own trajectories', async () => {
  // Bug: sub-agents go around the cap of the chat that started them.
  t.config.change([[['prices', 'fake-model'], { input: 1, output: 1 }], [['spend', 'session_usd'], 0.5]]);
  t.plays({
    go: [callTool('spawn_parallel', { tasks: [{ prompt: 'cheap' }] })],
    more: [callTool('spawn_agent', { prompt: 'dear' })],
    cheap: [{ ...say('ok'), usage: { prompt: 100_000, completion: 0 } }],
    dear: [{ ...callTool('terminal', { command: 'true' }), usage: { prompt: 600_000, completion: 0 } }, say('never asked')],
  });
  const id = await t.go();
  const { session, spend, branches } = t.chats.get({ id });
  expect(spend.find((line) => line.purpose === 'delegation')).toMatchObject({ calls: 1, tokens: 100_000, costUsd: 0.1 });
  expect(session.costUsd).toBeGreaterThan(0.1);
  const [child] = await t.children(id);
  expect(child!.costUsd).toBeCloseTo(0.1);
  // the chat has one branch still, and lists show one chat
  expect(branches).toHaveLength(1);
  expect((await t.chats.list({ archived: false, limit: 10 })).items).toHaveLength(1);
  expect(getDetail(t.store.db, child!.trajectoryId!)).toMatchObject({ kind: 'delegation', sessionId: null, parentId: null, title: 'cheap' });
  await t.say(id, 'more');
  expect(t.answer(id, 'spawn_agent').results[0]).toMatchObject({ status: 'failed', exit_reason: 'budget_exceeded', error: expect.stringContaining('spend cap') as string });
});

test('a child that floods its output and one that cannot begin take nobody along', async () => {
  // Bug (#55812): one child's trouble ends the program, and with it its siblings.
  t.plays({
    go: [callTool('spawn_parallel', { tasks: [{ prompt: 'flood' }, { prompt: 'wise' }] })],
    flood: [callTool('terminal', { command: 'head -c 5000000 /dev/zero | tr "\\0" x; echo' }), say('y'.repeat(300_000))],
    again: [callTool('spawn_agent', { prompt: 'nowhere' })],
  });
  const id = await t.go();
  expect(statuses(id)).toEqual(['completed', 'completed']);
  const stored = t.messages(id).find((m) => m.role === 'tool')!;
  expect(stored.content.length).toBeLessThan(100_000);
  expect(t.answer(id, 'spawn_parallel').results[1]!.summary).toBe('done: wise');
  // the folder is gone when the child looks for it
  rmSync(t.work(), { recursive: true });
  writeFileSync(t.work(), 'a file now');
  await t.say(id, 'again');
  expect(t.answer(id, 'spawn_agent').results).toMatchObject([{ status: 'failed', summary: null, api_calls: 0, error: expect.stringContaining('-work') as string }]);
  expect(t.messages(id).at(-1)!.content).toBe('done: again');
});

test('commands that a child leaves in the background are ended with it, and named', async () => {
  // Bug: servers of children go on for ever, and nobody knows of them.
  t.plays({
    go: [callTool('spawn_agent', { prompt: 'serve' })],
    serve: [callTool('terminal', { command: 'echo $$ > pid; exec sleep 300', background: true }), callTool('terminal', { command: 'while [ ! -s pid ]; do sleep 0.02; done' }), say('served')],
  });
  const id = await t.go();
  expect(t.answer(id, 'spawn_agent').results[0]).toMatchObject({ status: 'completed', orphaned_processes: [expect.stringContaining('sleep 300')] });
  expect(() => process.kill(Number(file('pid')), 0)).toThrow(/ESRCH/);
});

test('a child works in its parent\'s folder with a shell of its own', async () => {
  // Bug: children move the parent's shell to another folder, or work where nobody finds their files.
  t.plays({
    go: [callTool('terminal', { command: 'mkdir -p sub && cd sub && export SECRET_WORD=abc' }), callTool('spawn_agent', { prompt: 'look' }), callTool('terminal', { command: 'pwd; echo "[$SECRET_WORD]"' })],
    look: [callTool('terminal', { command: 'pwd; echo "[$SECRET_WORD]"; cd /tmp' }), say('looked')],
  });
  const id = await t.go();
  const [child] = await t.children(id);
  expect(t.history(child!.trajectoryId!).find((m) => m.role === 'tool')!.content).toMatch(/-work\\n\[\]/);
  expect(t.messages(id).findLast((m) => m.toolName === 'terminal')!.content).toMatch(/sub\\n\[abc\]/);
});
