import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, empty, fail, say, think, together, toolCall, type Step } from '../../../e2e/fakes/steps.ts';
import type { ExitReason, Message } from '#shared/trajectory.ts';
import { outcomeOf } from '#shared/trajectory.ts';
import { type AgentBench, ask, openAgentBench, toolNamed, toolsOf } from './testing.ts';

/** What people reported of agent loops, each by its symptom; this one must not have them. */
let bench: AgentBench;
beforeEach(async () => {
  bench = await openAgentBench();
});
afterEach(() => bench.close());

const work = toolsOf(toolNamed('work', (args) => Promise.resolve(`did ${JSON.stringify(args)}`)));
const step = (n: number): Step => callTool('work', { n });

describe('budget and ends', () => {
  test('an answer on the last allowed call was reported as not completed', async () => {
    bench.fake.script(say('done'));
    expect((await bench.run({ maxTurns: 1 })).result).toMatchObject({ exitReason: 'completed', finalAnswer: 'done', error: null });
    bench.fake.script(step(1), say('done'));
    expect((await bench.run({ maxTurns: 2 }, { deps: { tools: work } })).result.exitReason).toBe('completed');
  });

  test.each<[ExitReason, Step[]]>([
    ['max_turns', [step(1), step(2), step(3), say('summary')]],
    ['max_turns', [step(1), step(2), step(3), fail(400)]],
    ['invalid_tool_calls', [callTool('nope'), callTool('nope'), callTool('nope')]],
    ['truncated', [{ ...callTool('work', '{"n":'), finishReason: 'length' }]],
    ['empty_response', [empty(), empty(), empty(), empty()]],
    ['context_overflow', [fail(400, { code: 'context_length_exceeded' })]],
    ['provider_error', [fail(401)]],
    ['provider_error', [fail(500), fail(500), fail(500)]],
  ])('the agent stopped without a word: an end as %s says why', async (exitReason, steps) => {
    bench.fake.script(...steps);
    const maxTurns = exitReason === 'max_turns' ? 3 : 8;
    const { result } = await bench.run({ maxTurns }, { deps: { tools: work } });
    expect(result.exitReason).toBe(exitReason);
    expect(result.error).toMatch(/\w.*\.$/);
  });

  test('at the cap the summary held a tool call that was never run: it is dropped, the words stay', async () => {
    bench.fake.script(step(1), together(say('Half done.'), step(2)));
    const { messages, result } = await bench.run({ maxTurns: 1 }, { deps: { tools: work } });
    expect(result).toMatchObject({ exitReason: 'max_turns', finalAnswer: 'Half done.' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Half done.' });
    expect(messages.at(-1)!.toolCalls).toBeUndefined();
    bench.fake.script(step(1), say('Half done.\n<tool_call>\n{"name": "work", "arguments": {"n": 3}}\n</tool_call>'));
    expect((await bench.run({ maxTurns: 1 }, { deps: { tools: work } })).messages.at(-1)!.content).toBe('Half done.');
    bench.fake.script(step(1), step(2));
    expect((await bench.run({ maxTurns: 1 }, { deps: { tools: work } })).result).toMatchObject({ exitReason: 'max_turns', finalAnswer: null });
  });

  test('success was claimed at the cap: however glad the summary sounds, the outcome is partial', async () => {
    bench.fake.script(step(1), say('Everything is finished and all tests pass!'));
    const { result } = await bench.run({ maxTurns: 1 }, { deps: { tools: work } });
    expect(outcomeOf({ state: 'ended', exitReason: result.exitReason, discardReason: null })).toBe('partial');
  });
});

describe('the wire', () => {
  test('streamed names and arguments came out doubled ("workwork")', async () => {
    for (const quirks of [{ repeatToolName: true }, { repeatToolName: true, toolIndex: 'omitted' as const }, { toolIndex: 'zero' as const }]) {
      bench.fake.script({ ...{ parts: [{ toolCalls: [toolCall('work', { n: 1, text: 'some longer text so that it is split' }), toolCall('work', { n: 2 })] }] }, quirks }, say('ok'));
      const { messages } = await bench.run({}, { deps: { tools: work } });
      expect(messages[2]!.toolCalls!.map((c) => [c.name, JSON.parse(c.arguments)])).toEqual([
        ['work', { n: 1, text: 'some longer text so that it is split' }],
        ['work', { n: 2 }],
      ]);
    }
  });

  test('reasoning was not sent back, and the provider refused the request: text, blocks and signatures round-trip', async () => {
    bench.fake.script(
      together(think('Native thought.', 'reasoning_content'), step(1)),
      together(think('Signed thought.', ['reasoning', 'reasoning_details'], { signature: 'c2lnbmVk', id: 'r1' }), step(2)),
      together(say('<think>Inline thought.</think>'), step(3)),
      say('ok'),
    );
    const { messages } = await bench.run({}, { deps: { tools: work } });
    const assistants = bench.sent(-1).filter((m) => m['role'] === 'assistant');
    expect(JSON.stringify(assistants[0])).toContain('Native thought.');
    expect(assistants[1]!['reasoning_details']).toEqual(messages.filter((m) => m.role === 'assistant')[1]!.reasoningDetails);
    expect(JSON.stringify(assistants[1]!['reasoning_details'])).toContain('c2lnbmVk');
    expect(assistants[2]).toMatchObject({ content: expect.not.stringContaining('Inline') as string });
    expect(JSON.stringify(assistants[2])).toContain('Inline thought.');
  });

  test('reasoning was given out as the answer when there was none', async () => {
    const thought = think('The answer might be 42.');
    bench.fake.script(thought, thought, thought, thought);
    const { messages, result } = await bench.run();
    expect(result).toMatchObject({ exitReason: 'empty_response', finalAnswer: null });
    expect(JSON.stringify(messages)).not.toContain('might be 42');
  });
});

describe('compression', () => {
  const compression = { threshold: 0.5, tailRatio: 0.2, protectLast: 2 };
  const filler = 'words '.repeat(95);
  const history: Message[] = [
    { role: 'system', content: 'SYSTEM', createdAt: 1 },
    ask('Build the parser, then the printer.'),
    ...Array.from({ length: 20 }, (_, i): Message[] => [
      { role: 'assistant', content: filler, toolCalls: [{ id: `c${i}`, name: 'work', arguments: `{"file": "part${i}.ts"}` }], createdAt: 1 },
      { role: 'tool', content: `did part ${i} ${filler}`, toolCallId: `c${i}`, toolName: 'work', createdAt: 1 },
    ]).flat(),
    { role: 'assistant', content: 'The parser is finished.', createdAt: 1 },
  ];
  const isSummary = (body: { messages: { content?: unknown }[] }): boolean => body.messages[0]?.content !== 'SYSTEM';

  test('when the summary failed, the turns vanished: they stay stored, and the model gets a record made without a model', async () => {
    bench.fake.respond(({ body }) => (isSummary(body) ? fail(500) : say('Now the printer.')));
    const { messages, result } = await bench.run({ compression, contextLength: 6_000 }, { history, input: [ask('go on')], deps: { tools: work } });
    expect(result.exitReason).toBe('completed');
    expect(messages.slice(0, history.length)).toEqual(history);
    const record = messages.find((m) => m.compaction)!;
    expect(record.compaction!.method).toBe('fallback');
    const sent = JSON.stringify(bench.sent(-1));
    expect(sent).toContain('Build the parser, then the printer.');
    expect(sent).toMatch(/part\d+\.ts/);
  });

  test('a finished task was begun again afterwards: what is done is in what the model sees', async () => {
    bench.fake.respond(({ body }) => (isSummary(body) ? say('## Goal\nPrinter.\n## Progress\n### Done\nThe parser is finished, 40 tests pass.') : say('Now the printer.')));
    await bench.run({ compression, contextLength: 6_000 }, { history, input: [ask('go on')], deps: { tools: work } });
    expect(JSON.stringify(bench.sent(-1))).toContain('The parser is finished, 40 tests pass.');
  });

  test('compressing without gain went on for ever: one pass, then the provider’s refusal stands', async () => {
    bench.fake.respond(({ body }) => (isSummary(body) ? say(filler.repeat(40)) : fail(400, { code: 'context_length_exceeded' })));
    const short: Message[] = [{ role: 'system', content: 'SYSTEM', createdAt: 1 }];
    const { result, events } = await bench.run({ compression, contextLength: 300 }, { history: short, input: [ask(filler.repeat(4))], deps: { tools: work } });
    expect(result.exitReason).toBe('context_overflow');
    expect(events.filter((e) => e.type === 'compressing').length).toBeLessThanOrEqual(2);
    expect(bench.fake.chats.filter((c) => !isSummary(c.body))).toHaveLength(1);
  });

  test('and in a long run it does not try before every call', async () => {
    let calls = 0;
    bench.fake.respond(({ body }) => (isSummary(body) ? fail(500) : calls++ < 10 ? callTool('work', { calls }) : say('done')));
    const { result, events } = await bench.run({ compression, contextLength: 300, maxTurns: 20 }, { input: [ask(filler.repeat(4))], deps: { tools: work } });
    expect(result.exitReason).toBe('completed');
    expect(events.filter((e) => e.type === 'compressing').length).toBeLessThan(6);
  });
});
