import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, callTools, empty, fail, gated, say, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import type { Message } from '#shared/trajectory.ts';
import { type AgentBench, ask, errorsOf, notesOf, openAgentBench, toolNamed, toolsOf } from './testing.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await openAgentBench();
});
afterEach(() => bench.close());

const step = (n: number) => callTool('work', { n });
const work = toolsOf(toolNamed('work', (args) => Promise.resolve(`did ${JSON.stringify(args)}`)));
const steps = (count: number) => Array.from({ length: count }, (_, n) => step(n));

describe('the budget of a user turn', () => {
  test('is told to the model at 70 and 90 %, once each, and not any more in the next turn', async () => {
    bench.fake.script(...steps(9), say('done'));
    const first = await bench.run({ maxTurns: 10 }, { deps: { tools: work } });
    const notes = first.messages.filter((m) => m.note === 'budget');
    expect(notes.map((m) => m.content)).toEqual([expect.stringMatching(/^7 of 10 .* 3 are left/), expect.stringMatching(/^9 of 10 .* one is left/)]);
    expect(notes.every((m) => m.synthetic && m.role === 'user')).toBe(true);
    expect(bench.sent(7).at(-1)!['content']).toBe(notes[0]!.content);
    bench.fake.script(say('hello'));
    await bench.run({ maxTurns: 10 }, { history: first.messages, input: [ask('and now?')] });
    expect(JSON.stringify(bench.sent(-1))).not.toContain('are left');
  });

  test('that is tiny has no notes', async () => {
    bench.fake.script(...steps(3), say('done'));
    expect(notesOf((await bench.run({ maxTurns: 4 }, { deps: { tools: work } })).messages)).toEqual([]);
  });

  test('begins anew with each user turn', async () => {
    bench.fake.script(...steps(2), say('done'));
    const first = await bench.run({ maxTurns: 3 }, { deps: { tools: work } });
    bench.fake.script(...steps(2), say('done again'));
    expect((await bench.run({ maxTurns: 3 }, { history: first.messages, input: [ask('again')], deps: { tools: work } })).result).toMatchObject({ exitReason: 'completed', apiCalls: 3 });
  });
});

describe('steering', () => {
  test('is read before the next call, behind the results', async () => {
    const steering: Message[] = [];
    bench.fake.script(step(1), say('changed'));
    const { messages } = await bench.run({}, { deps: { tools: work, steering: () => steering.splice(0) }, onEvent: (e) => void (e.type === 'tool_start' && steering.push(ask('use the other one'))) });
    expect(messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant']);
    expect(bench.sent(1).at(-1)).toEqual({ role: 'user', content: 'use the other one' });
    expect(messages[4]!.synthetic).toBeUndefined();
  });

  test('that comes while the last answer streams is answered too (the run ended with it unread)', async () => {
    const steering: Message[] = [];
    bench.fake.script(say('first answer'), say('second answer'));
    const { messages, result } = await bench.run({}, { deps: { steering: () => steering.splice(0) }, onEvent: (e) => void (e.type === 'delta' && bench.fake.chats.length === 1 && steering.length === 0 && steering.push(ask('also in French'))) });
    expect(messages.map((m) => m.content).slice(2)).toEqual(['first answer', 'also in French', 'second answer']);
    expect(result).toMatchObject({ exitReason: 'completed', finalAnswer: 'second answer' });
  });

  test('is left to the caller when no call is left to read it', async () => {
    const steering: Message[] = [];
    bench.fake.script(say('answer'));
    const { result } = await bench.run({ maxTurns: 1 }, { deps: { steering: () => steering.splice(0) }, onEvent: (e) => void (e.type === 'delta' && steering.push(ask('late'))) });
    expect(result.exitReason).toBe('completed');
    expect(steering.length).toBeGreaterThan(0);
  });
});

describe('spend and context', () => {
  test('every paid call is told, also one whose answer was thrown away', async () => {
    bench.fake.script(together(empty(), { usage: { prompt: 10, completion: 0 } }), say('ok', { usage: { prompt: 20, completion: 5 } }));
    const { events, result } = await bench.run();
    expect(events.filter((e) => e.type === 'usage')).toMatchObject([
      { purpose: null, provider: 'fake', model: 'fake/m', usage: { promptTokens: 10 } },
      { purpose: null, usage: { promptTokens: 20, completionTokens: 5 } },
    ]);
    expect(result.usage).toMatchObject({ promptTokens: 30, completionTokens: 5 });
  });

  test('a reached cap ends the run before its next call, with every call answered', async () => {
    bench.fake.script(callTools([toolCall('work', { n: 1 }), toolCall('work', { n: 2 })]));
    let calls = 0;
    const { result, messages } = await bench.run({}, { deps: { tools: work, overBudget: () => (calls++ > 0 ? 'The cap of $1 is reached.' : null) } });
    expect(result).toMatchObject({ exitReason: 'budget_exceeded', error: 'The cap of $1 is reached.', apiCalls: 1 });
    expect(messages.at(-1)!.role).toBe('tool');
  });

  test('the meter is told before each call: estimated first, then from what the provider counted', async () => {
    bench.fake.script(together(step(1), { usage: { prompt: 5_000, completion: 10 } }), say('ok'));
    const first = await bench.run({ contextLength: 10_000 }, { deps: { tools: work } });
    const meters = first.events.flatMap((e) => (e.type === 'context' ? [e.meter] : []));
    expect(meters).toMatchObject([{ measured: false, limit: 10_000, compressAt: null }, { measured: true }]);
    expect(meters[1]!.total).toBeGreaterThan(5_000);
    expect(meters[1]!.total).toBeLessThan(5_100);
    bench.fake.script(say('again'));
    const second = await bench.run({}, { history: first.messages.slice(0, 4), input: [ask('more')], deps: { tools: work } });
    expect(second.events.find((e) => e.type === 'context')!.meter).toMatchObject({ measured: true, limit: null });
  });
});

describe('what exists at call time only', () => {
  test('stands behind the system prompt, which stays byte for byte, and is never stored', async () => {
    const ephemeral = { system: 'Answer in verse.', prefill: [ask('hello'), { role: 'assistant' as const, content: 'A rose.', createdAt: 1 }] };
    bench.fake.script(say('ok'));
    const { messages } = await bench.run({ ephemeral });
    expect(bench.sent(0)).toEqual([
      { role: 'system', content: 'SYSTEM\n\nAnswer in verse.' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'A rose.' },
      { role: 'user', content: 'task' },
    ]);
    expect(messages.map((m) => m.content)).toEqual(['SYSTEM', 'task', 'ok']);
  });
});

describe('what counts in a row', () => {
  test('is counted anew after a turn without that fault', async () => {
    const unknown = callTool('launch_rocket');
    const broken = callTool('work', '{"n": ');
    const unclosed = say('<think>hm');
    bench.fake.script(unknown, unknown, step(1), unknown, unknown, step(2), broken, broken, step(3), broken, broken, step(4), unclosed, unclosed, step(5), unclosed, unclosed, empty(), empty(), empty(), step(6), empty(), empty(), say('done'));
    const { result, messages } = await bench.run({ maxTurns: 40 }, { deps: { tools: work } });
    expect(result.exitReason).toBe('completed');
    expect(errorsOf(messages)).toHaveLength(4);
  });

  test('unclosed reasoning ends the run the third time', async () => {
    bench.fake.script(say('<think>a'), say('<think>b'), say('<think>c'));
    expect((await bench.run()).result).toMatchObject({ exitReason: 'truncated', error: expect.stringContaining('never closed') as string });
  });

  test('what was said beside the last calls is given out when only emptiness follows', async () => {
    bench.fake.script(together(say('The answer is 42.'), step(1)), empty(), empty(), empty(), empty());
    expect((await bench.run({}, { deps: { tools: work } })).result).toMatchObject({ exitReason: 'empty_response', finalAnswer: 'The answer is 42.' });
  });
});

describe('answers cut by the length limit', () => {
  const cut = (content: string) => ({ ...say(content), finishReason: 'length' });

  test('are joined with their reasoning, and a tool call at the end of the continuation is run', async () => {
    bench.fake.script(together(think('First. '), cut('I will ')), together(think('Second.'), say('look.'), step(1)), say('done'));
    const { messages, result } = await bench.run({}, { deps: { tools: work } });
    expect(messages[2]).toMatchObject({ content: 'I will look.', reasoning: 'First. \n\nSecond.', toolCalls: [{ name: 'work' }] });
    expect(result.exitReason).toBe('completed');
    expect(bench.sent(1).at(-1)!['content']).toMatch(/cut off by the length limit/);
    expect(JSON.stringify(bench.sent(2))).not.toContain('cut off by the length limit');
  });

  test('three times more are kept as far as they came; a failing continuation keeps the first piece', async () => {
    bench.fake.script(cut('a'), cut('b'), cut('c'), cut('d'));
    expect((await bench.run()).result).toMatchObject({ exitReason: 'truncated', finalAnswer: 'abcd' });
    bench.fake.script(cut('kept'), fail(401));
    const { messages, result } = await bench.run();
    expect(result.exitReason).toBe('provider_error');
    expect(messages.at(-1)!.content).toBe('kept');
  });

  test('that are only thought are not asked again, closed or not', async () => {
    bench.fake.script(cut('<think>on and on'));
    expect((await bench.run()).result).toMatchObject({ exitReason: 'truncated', error: expect.stringContaining('whole output for reasoning') as string });
  });
});

describe('whatever happens', () => {
  test('a defect of the surroundings ends the run once, with every call answered', async () => {
    for (const deps of [
      { redact: () => { throw new Error('redact broke'); } },
      { overBudget: () => { throw new Error('spend broke'); } },
      { steering: () => { throw new Error('steering broke'); } },
    ]) {
      bench.fake.script(step(1), say('ok'));
      const { result } = await bench.run({}, { deps: { tools: work, ...deps } });
      expect(result).toMatchObject({ exitReason: 'error', error: expect.stringContaining('broke') as string });
    }
  });

  test('calls that a killed program left open are answered before the conversation goes on', async () => {
    const history: Message[] = [
      { role: 'system', content: 'SYSTEM', createdAt: 1 },
      ask('go'),
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'work', arguments: '{}' }, { id: 'b', name: 'work', arguments: '{"n":1}' }], createdAt: 1 },
      { role: 'tool', content: 'fine', toolCallId: 'a', toolName: 'work', createdAt: 1 },
    ];
    bench.fake.script(say('on it'));
    const { messages } = await bench.run({}, { history, input: [ask('go on')] });
    expect(messages[4]).toMatchObject({ role: 'tool', toolCallId: 'b', isError: true, synthetic: true });
    expect(bench.sent(0).map((m) => m['role'])).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
  });

  test('lone surrogates reach no provider', async () => {
    bench.fake.script(callTool('work', '{"n": "a\\ud800"}'), say('ok'));
    const { result } = await bench.run({}, { input: [ask('broken \ud83d half')], deps: { tools: toolsOf(toolNamed('work', () => Promise.resolve('half \udc00'))) } });
    expect(result.exitReason).toBe('completed');
    expect(JSON.stringify(bench.sent(1))).not.toMatch(/[^\\]\\ud[89a-f]/i);
  });

  test('a provider that dies in the middle of the last attempt leaves no deltas on the screen', async () => {
    bench.fake.script(together(say('half'), { fault: { kind: 'cut', afterChunks: 1 } }), together(say('half'), { fault: { kind: 'cut', afterChunks: 1 } }), together(say('half'), { fault: { kind: 'cut', afterChunks: 1 } }));
    const { events, result } = await bench.run();
    expect(result.exitReason).toBe('provider_error');
    expect(events.findLastIndex((e) => e.type === 'discard_deltas')).toBeGreaterThan(events.findLastIndex((e) => e.type === 'delta'));
  });

  test('a gate that is never opened does not hold up an interrupted run', async () => {
    const abort = new AbortController();
    bench.fake.script(gated('never'));
    const pending = bench.run({}, { signal: abort.signal });
    await bench.fake.waitForChats(1);
    abort.abort();
    expect((await pending).result.exitReason).toBe('interrupted');
  });
});
