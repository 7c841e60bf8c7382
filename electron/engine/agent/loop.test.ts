import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeModel, type FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, cutAfter, empty, fail, gated, say, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import type { Message } from '#shared/trajectory.ts';
import { createOpenAiChatModel } from '../model/openai-chat.ts';
import { createHostSandbox } from '../sandbox/host.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { createRegistry } from '../tools/registry.ts';
import { runAgent } from './loop.ts';
import type { AgentEvent, AgentResult, AgentSpec } from './types.ts';

let fake: FakeModel;
let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  fake = await startFakeModel();
  root = mkdtempSync(join(tmpdir(), 'talaria-agent-'));
  sandbox = await createHostSandbox({ root });
});
afterEach(async () => {
  await fake.close();
  rmSync(root, { recursive: true, force: true });
});

interface Outcome {
  messages: Message[];
  events: AgentEvent[];
  result: AgentResult;
}

async function run(spec: Partial<AgentSpec> = {}, signal = new AbortController().signal, onEvent?: (e: AgentEvent) => void): Promise<Outcome> {
  const model = createOpenAiChatModel({ provider: 'fake', baseUrl: fake.url, apiKey: 'k', model: 'fake/m' }, { sleep: () => Promise.resolve() });
  const deps = { model, tools: createRegistry(['terminal', 'file']), sandbox, now: Date.now };
  const events: AgentEvent[] = [];
  for await (const e of runAgent({ systemPrompt: 'SYSTEM', maxTurns: 8, ...spec }, [{ role: 'user', content: 'task', createdAt: 1 }], deps, signal)) {
    events.push(e);
    onEvent?.(e);
  }
  const ends = events.filter((e) => e.type === 'end');
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0]);
  const messages = events.flatMap((e) => (e.type === 'message' ? [e.message] : []));
  expectPaired(messages);
  return { messages, events, result: ends[0]!.result };
}

/** Every call has exactly one result, in call order, before anything else. */
function expectPaired(messages: Message[]): void {
  messages.forEach((m, i) => {
    const ids = m.toolCalls?.map((c) => c.id) ?? [];
    expect(messages.slice(i + 1, i + 1 + ids.length).map((r) => r.toolCallId)).toEqual(ids);
  });
  expect(messages.filter((m) => m.role === 'tool')).toHaveLength(messages.flatMap((m) => m.toolCalls ?? []).length);
}

function whenExists(file: string, then: () => void): void {
  const timer = setInterval(() => {
    if (!existsSync(file) || readFileSync(file, 'utf8') === '') return;
    clearInterval(timer);
    then();
  }, 10);
}

const errorsOf = (messages: Message[]): string[] => messages.filter((m) => m.role === 'tool' && m.isError).map((m) => m.content);

describe('an ordinary run', () => {
  test('works with real tools to the answer, keeping reasoning apart and the system prompt the same on every call', async () => {
    fake.script(together(think('Let me write.'), callTool('write_file', { path: 'a.txt', content: 'hi' })), callTool('terminal', { command: 'cat a.txt' }), say('It says hi.'));
    const { messages, result } = await run();
    expect(result).toMatchObject({ exitReason: 'completed', finalAnswer: 'It says hi.', apiCalls: 3 });
    expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect(messages[2]).toMatchObject({ reasoning: 'Let me write.', content: '' });
    expect(JSON.parse(messages[5]!.content)).toMatchObject({ output: 'hi', exit_code: 0 });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('hi');
    const systems = fake.chats.map((c) => JSON.stringify((c.body as { messages: unknown[] }).messages[0]));
    expect(new Set(systems).size).toBe(1);
  });

  test('an answer on the last allowed call is completed, not max_turns', async () => {
    fake.script(say('done'));
    expect((await run({ maxTurns: 1 })).result.exitReason).toBe('completed');
  });

  test('parallel calls give results in call order, although the later one is faster', async () => {
    fake.script(callTools([toolCall('terminal', { command: 'sleep 0.2; echo slow' }), toolCall('terminal', { command: 'echo fast' })]), say('ok'));
    const { messages } = await run();
    expect(messages.filter((m) => m.role === 'tool').map((m) => (JSON.parse(m.content) as { output: string }).output.trim())).toEqual(['slow', 'fast']);
  });

  test('an exact duplicate call of one turn is run once', async () => {
    fake.script(callTools([toolCall('terminal', { command: 'echo x >> log' }), toolCall('terminal', { command: 'echo x >> log' })]), say('ok'));
    await run();
    expect(readFileSync(join(root, 'log'), 'utf8')).toBe('x\n');
  });
});

describe('what models get wrong', () => {
  test('a name in the wrong case or with dashes is repaired', async () => {
    fake.script(callTool('Read-File', { path: 'none.txt' }), say('ok'));
    const { messages } = await run();
    expect(messages[2]!.toolCalls![0]!.name).toBe('read_file');
  });

  test('an unknown name is answered with the valid ones, and the other calls of the turn are skipped', async () => {
    fake.script(callTools([toolCall('launch_rocket', {}), toolCall('terminal', { command: 'touch ran' })]), say('sorry'));
    const { messages, result } = await run();
    expect(result.exitReason).toBe('completed');
    expect(errorsOf(messages)[0]).toMatch(/launch_rocket.*does not exist.*terminal/);
    expect(errorsOf(messages)[1]).toMatch(/Skipped/);
  });

  test('a third unknown name in a row ends the run as partial, without the offending turn', async () => {
    fake.script(callTool('launch_rocket', {}), callTool('launch_rocket', {}), callTool('launch_rocket', {}));
    const { messages, result } = await run();
    expect(result.exitReason).toBe('invalid_tool_calls');
    expect(messages.filter((m) => m.role === 'assistant')).toHaveLength(2);
    expect(messages.at(-1)!.role).toBe('tool');
  });

  test('broken JSON arguments are asked again twice unseen, then answered with an error, and the run goes on', async () => {
    const broken = callTool('terminal', '{"command": "echo');
    fake.script(broken, broken, broken, say('ok'));
    const { messages, result } = await run();
    expect(fake.chats).toHaveLength(4);
    expect(result).toMatchObject({ exitReason: 'completed', apiCalls: 4 });
    expect(errorsOf(messages)).toHaveLength(1);
    expect(errorsOf(messages)[0]).toMatch(/Invalid JSON arguments/);
  });

  test('empty answers are asked again; when they stay empty the run ends and says so', async () => {
    fake.script(empty(), empty(), say('here'));
    expect((await run()).result.exitReason).toBe('completed');
    fake.script(empty(), empty(), empty(), empty());
    expect((await run()).result.exitReason).toBe('empty_response');
  });

  test('an answer cut by the length limit is continued and stored as one message', async () => {
    fake.script({ ...say('first half, '), finishReason: 'length' }, say('second half'));
    const { messages, result } = await run();
    expect(result.exitReason).toBe('completed');
    expect(messages.filter((m) => m.role === 'assistant').map((m) => m.content)).toEqual(['first half, second half']);
    expect(messages.some((m) => m.synthetic)).toBe(false);
  });

  test('a tool call cut by the length limit is taken back', async () => {
    fake.script({ ...callTool('terminal', '{"command": "rm'), finishReason: 'length' });
    const { messages, result } = await run();
    expect(result.exitReason).toBe('truncated');
    expect(messages.map((m) => m.role)).toEqual(['system', 'user']);
  });

  test('at the cap one call without tools asks for a summary, and the note for it is synthetic', async () => {
    fake.script(callTool('terminal', { command: 'true' }), callTool('terminal', { command: 'true ' }), say('Half done.'));
    const { messages, result } = await run({ maxTurns: 2 });
    expect(result).toMatchObject({ exitReason: 'max_turns', finalAnswer: 'Half done.' });
    expect((fake.chats.at(-1)!.body as { tools?: unknown }).tools).toBeUndefined();
    expect(messages.at(-2)).toMatchObject({ role: 'user', synthetic: true });
  });
});

describe('what providers and people do', () => {
  test('a refused key ends the run with the provider’s words', async () => {
    fake.script(fail(401, { message: 'No such key.' }));
    const { result } = await run();
    expect(result).toMatchObject({ exitReason: 'provider_error', modelError: { code: 'auth', providerMessage: expect.stringContaining('No such key') as string } });
  });

  test('a stream cut in the middle is retried, its deltas voided, its text not kept', async () => {
    fake.script(together(say('half of an ans'), say('wer'), cutAfter(1)), say('whole'));
    const { messages, events } = await run();
    expect(messages.at(-1)!.content).toBe('whole');
    const kinds = events.map((e) => e.type);
    expect(kinds.indexOf('discard_deltas')).toBeGreaterThan(kinds.indexOf('delta'));
  });

  test('an interrupt during a tool ends within seconds, kills it, and every call has a result', async () => {
    const abort = new AbortController();
    fake.script(callTools([toolCall('terminal', { command: 'echo $$ > pid; sleep 60' }), toolCall('terminal', { command: 'echo never > never' })]));
    const outcome = await run({}, abort.signal, (e) => {
      if (e.type === 'tool_start') whenExists(join(root, 'pid'), () => abort.abort());
    });
    expect(outcome.result.exitReason).toBe('interrupted');
    expect(outcome.messages.filter((m) => m.role === 'tool')).toHaveLength(2);
    const pid = Number(readFileSync(join(root, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('an interrupt during a model call ends the run', async () => {
    const abort = new AbortController();
    fake.script(gated('g', 1));
    const pending = run({}, abort.signal);
    await fake.waitForChats(1);
    abort.abort();
    expect((await pending).result.exitReason).toBe('interrupted');
  });
});
