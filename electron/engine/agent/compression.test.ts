import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contextOverflow, fail, say } from '../../../e2e/fakes/steps.ts';
import type { Message } from '#shared/trajectory.ts';
import { limitNamedIn } from './compression.ts';
import { type AgentBench, ask, notesOf, openAgentBench } from './testing.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await openAgentBench();
});
afterEach(() => bench.close());

const compression = { threshold: 0.5, tailRatio: 0.2, protectLast: 2 };
const SUMMARY = '## Goal\nReport.\n## Progress\n### Done\nThe parser is finished and tested.';
/** A conversation of about `pairs` × 200 tokens. */
const long = (pairs: number): Message[] => [
  { role: 'system', content: 'SYSTEM', createdAt: 1 },
  ...Array.from({ length: pairs }, (_, i): Message[] => [ask(`question ${i} ${'words '.repeat(95)}`), { role: 'assistant', content: `answer ${i} ${'words '.repeat(95)}`, createdAt: 1 }]).flat(),
];
const isSummary = (body: { messages: { content?: unknown }[] }): boolean => body.messages[0]?.content !== 'SYSTEM';
/** Summaries are answered by `summary`, everything else by the script and then plainly. */
function answerSummaries(summary = () => say(SUMMARY)): void {
  bench.fake.respond(({ body }) => (isSummary(body) ? summary() : say('All done.')));
}
const agentCalls = (): number => bench.fake.chats.filter((c) => !isSummary(c.body)).length;

describe('compression', () => {
  test('begins at the threshold: the model is shown the summary, the originals stay stored, the spend is told', async () => {
    answerSummaries();
    const history = long(20);
    const { messages, events, result } = await bench.run({ compression, contextLength: 6_000 }, { history, input: [ask('go on')] });
    expect(result.exitReason).toBe('completed');
    expect(messages.slice(0, history.length)).toEqual(history);
    const compaction = messages.find((m) => m.compaction)!;
    expect(compaction).toMatchObject({ role: 'user', synthetic: true, note: 'compaction', compaction: { method: 'model' } });
    const sent = JSON.stringify(bench.sent(-1));
    expect(sent).toContain('The parser is finished');
    expect(sent).not.toContain('question 5 ');
    expect(bench.sent(-1).at(-1)!['content']).toBe('go on');
    expect(events.find((e) => e.type === 'compressing')).toBeDefined();
    expect(new Set(events.flatMap((e) => (e.type === 'usage' ? [e.purpose] : [])))).toEqual(new Set(['compression', null]));
    expect(events.findLast((e) => e.type === 'context')!.meter.total).toBeLessThan(3_000);
  });

  test('does not begin below it, nor without a context length, nor when it is off', async () => {
    answerSummaries();
    for (const spec of [{ compression, contextLength: 100_000 }, { compression }, { contextLength: 6_000 }]) {
      expect(notesOf((await bench.run(spec, { history: long(20) })).messages)).toEqual([]);
    }
  });

  test('after the provider refuses the length, also when it was unknown; the call that is made again is not counted', async () => {
    answerSummaries();
    bench.fake.script(contextOverflow(3_000));
    const { messages, result } = await bench.run({ compression, maxTurns: 1 }, { history: long(20) });
    expect(result).toMatchObject({ exitReason: 'completed', finalAnswer: 'All done.' });
    expect(messages.filter((m) => m.compaction)).toHaveLength(1);
    expect(agentCalls()).toBe(2);
  });

  test('without a limit in the refusal it guesses one', async () => {
    answerSummaries();
    bench.fake.script(fail(413, { message: 'prompt is too long' }));
    expect((await bench.run({ compression }, { history: long(20) })).result.exitReason).toBe('completed');
  });

  test('is tried at most three times when the provider keeps refusing, then the reason is said', async () => {
    let refusals = 0;
    bench.fake.respond(({ body }) => (isSummary(body) ? say(SUMMARY) : (refusals++, contextOverflow(2_000))));
    const { result } = await bench.run({ compression }, { history: long(40) });
    expect(result).toMatchObject({ exitReason: 'context_overflow', modelError: { code: 'context_overflow' } });
    expect(refusals).toBeLessThanOrEqual(4);
  });

  test('stops when the person’s spend cap is reached by the summary', async () => {
    answerSummaries();
    const { result } = await bench.run({ compression, contextLength: 6_000 }, { history: long(20), deps: { overBudget: () => (bench.fake.chats.length > 0 ? 'Enough.' : null) } });
    expect(result.exitReason).toBe('budget_exceeded');
    expect(agentCalls()).toBe(0);
  });
});

test.each([
  ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8192],
  ["This model's maximum context length is 128000 tokens. However, you requested 131072 tokens (127000 in the messages, 4072 in the completion).", 128_000],
  ['prompt is too long: 213462 tokens > 200000 maximum', 200_000],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
  ['the request exceeds the available context size (4096 tokens), try increasing it', 4096],
  ['Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens', 4096],
  ['Requested token count exceeds the model’s maximum context length of 32,768 tokens.', 32_768],
  ['Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
  ['Something about the context of version 4.', null],
])('the limit in “%s” is read as %s', (text, limit) => {
  expect(limitNamedIn(text)).toBe(limit);
});
