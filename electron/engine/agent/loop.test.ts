import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, callTools, cutAfter, empty, fail, say, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import { type AgentBench, errorsOf, openAgentBench } from './testing.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await openAgentBench();
});
afterEach(() => bench.close());

describe('an ordinary run', () => {
  test('works with real tools to the answer, keeping reasoning apart and the system prompt the same on every call', async () => {
    bench.fake.script(together(think('Let me write.'), callTool('write_file', { path: 'a.txt', content: 'hi' })), callTool('terminal', { command: 'cat a.txt' }), say('It says hi.'));
    const { messages, result } = await bench.run();
    expect(result).toMatchObject({ exitReason: 'completed', finalAnswer: 'It says hi.', apiCalls: 3 });
    expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect(messages[2]).toMatchObject({ reasoning: 'Let me write.', content: '' });
    expect(JSON.parse(messages[5]!.content)).toMatchObject({ output: 'hi', exit_code: 0 });
    expect(readFileSync(join(bench.root, 'a.txt'), 'utf8')).toBe('hi');
    const systems = bench.fake.chats.map((c) => JSON.stringify((c.body as { messages: unknown[] }).messages[0]));
    expect(new Set(systems).size).toBe(1);
  });

  test('an answer on the last allowed call is completed, not max_turns', async () => {
    bench.fake.script(say('done'));
    expect((await bench.run({ maxTurns: 1 })).result.exitReason).toBe('completed');
  });

  test('parallel calls give results in call order, although the later one is faster', async () => {
    bench.fake.script(callTools([toolCall('terminal', { command: 'sleep 0.2; echo slow' }), toolCall('terminal', { command: 'echo fast' })]), say('ok'));
    const { messages } = await bench.run();
    expect(messages.filter((m) => m.role === 'tool').map((m) => (JSON.parse(m.content) as { output: string }).output.trim())).toEqual(['slow', 'fast']);
  });

  test('an exact duplicate call of one turn is run once', async () => {
    bench.fake.script(callTools([toolCall('terminal', { command: 'echo x >> log' }), toolCall('terminal', { command: 'echo x >> log' })]), say('ok'));
    await bench.run();
    expect(readFileSync(join(bench.root, 'log'), 'utf8')).toBe('x\n');
  });
});

describe('what models get wrong', () => {
  test('a name in the wrong case or with dashes is repaired', async () => {
    bench.fake.script(callTool('Read-File', { path: 'none.txt' }), say('ok'));
    const { messages } = await bench.run();
    expect(messages[2]!.toolCalls![0]!.name).toBe('read_file');
  });

  test('an unknown name is answered with the valid ones, and the other calls of the turn are skipped', async () => {
    bench.fake.script(callTools([toolCall('launch_rocket', {}), toolCall('terminal', { command: 'touch ran' })]), say('sorry'));
    const { messages, result } = await bench.run();
    expect(result.exitReason).toBe('completed');
    expect(errorsOf(messages)[0]).toMatch(/launch_rocket.*does not exist.*terminal/);
    expect(errorsOf(messages)[1]).toMatch(/Skipped/);
  });

  test('a third unknown name in a row ends the run as partial, without the offending turn', async () => {
    bench.fake.script(callTool('launch_rocket', {}), callTool('launch_rocket', {}), callTool('launch_rocket', {}));
    const { messages, result } = await bench.run();
    expect(result.exitReason).toBe('invalid_tool_calls');
    expect(messages.filter((m) => m.role === 'assistant')).toHaveLength(2);
    expect(messages.at(-1)!.role).toBe('tool');
  });

  test('broken JSON arguments are asked again twice unseen, then answered with an error, and the run goes on', async () => {
    const broken = callTool('terminal', '{"command": "echo');
    bench.fake.script(broken, broken, broken, say('ok'));
    const { messages, result } = await bench.run();
    expect(bench.fake.chats).toHaveLength(4);
    expect(result).toMatchObject({ exitReason: 'completed', apiCalls: 4 });
    expect(errorsOf(messages)).toHaveLength(1);
    expect(errorsOf(messages)[0]).toMatch(/Invalid JSON arguments/);
  });

  test('empty answers are asked again; when they stay empty the run ends and says so', async () => {
    bench.fake.script(empty(), empty(), say('here'));
    expect((await bench.run()).result.exitReason).toBe('completed');
    bench.fake.script(empty(), empty(), empty(), empty());
    expect((await bench.run()).result.exitReason).toBe('empty_response');
  });

  test('an answer cut by the length limit is continued and stored as one message', async () => {
    bench.fake.script({ ...say('first half, '), finishReason: 'length' }, say('second half'));
    const { messages, result } = await bench.run();
    expect(result.exitReason).toBe('completed');
    expect(messages.filter((m) => m.role === 'assistant').map((m) => m.content)).toEqual(['first half, second half']);
    expect(messages.some((m) => m.synthetic)).toBe(false);
  });

  test('a tool call cut by the length limit is taken back', async () => {
    bench.fake.script({ ...callTool('terminal', '{"command": "rm'), finishReason: 'length' });
    const { messages, result } = await bench.run();
    expect(result.exitReason).toBe('truncated');
    expect(messages.map((m) => m.role)).toEqual(['system', 'user']);
  });

  test('at the cap one call without tools asks for a summary, and the note for it is synthetic', async () => {
    bench.fake.script(callTool('terminal', { command: 'true' }), callTool('terminal', { command: 'true ' }), say('Half done.'));
    const { messages, result } = await bench.run({ maxTurns: 2 });
    expect(result).toMatchObject({ exitReason: 'max_turns', finalAnswer: 'Half done.' });
    expect((bench.fake.chats.at(-1)!.body as { tools?: unknown }).tools).toBeUndefined();
    expect(messages.at(-2)).toMatchObject({ role: 'user', synthetic: true });
  });
});

describe('what providers and people do', () => {
  test('a refused key ends the run with the provider’s words', async () => {
    bench.fake.script(fail(401, { message: 'No such key.' }));
    const { result } = await bench.run();
    expect(result).toMatchObject({ exitReason: 'provider_error', modelError: { code: 'auth', providerMessage: expect.stringContaining('No such key') as string } });
  });

  test('a stream cut in the middle is retried, its deltas voided, its text not kept', async () => {
    bench.fake.script(together(say('half of an ans'), say('wer'), cutAfter(1)), say('whole'));
    const { messages, events } = await bench.run();
    expect(messages.at(-1)!.content).toBe('whole');
    const kinds = events.map((e) => e.type);
    expect(kinds.indexOf('discard_deltas')).toBeGreaterThan(kinds.indexOf('delta'));
  });
});
