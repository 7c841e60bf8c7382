import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, callTools, contextOverflow, fail, gated, say, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import { createOpenAiChatModel } from '../model/openai-chat.ts';
import { runAgent } from './loop.ts';
import { type AgentBench, ask, errorsOf, openAgentBench, toolNamed, toolsOf, whenExists } from './testing.ts';

let bench: AgentBench;
let abort: AbortController;
beforeEach(async () => {
  bench = await openAgentBench();
  abort = new AbortController();
});
afterEach(() => bench.close());

const CANCELLED = /Cancelled by the person/;

describe('an interrupt', () => {
  test('during a tool kills it, and every call has a result that says so', async () => {
    bench.fake.script(callTools([toolCall('terminal', { command: 'echo $$ > pid; sleep 60' }), toolCall('terminal', { command: 'echo never > never' })]));
    const { messages, result } = await bench.run({}, {
      signal: abort.signal,
      onEvent: (e) => {
        if (e.type === 'tool_start') whenExists(join(bench.root, 'pid'), () => abort.abort());
      },
    });
    expect(result.exitReason).toBe('interrupted');
    expect(messages.filter((m) => m.role === 'tool')).toHaveLength(2);
    expect(messages.at(-1)).toMatchObject({ isError: true, synthetic: true, content: expect.stringMatching(CANCELLED) as string });
    const pid = Number(readFileSync(join(bench.root, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('of a tool that does not heed it ends the run all the same', async () => {
    const stubborn = toolNamed('stubborn', () => {
      abort.abort();
      return new Promise(() => undefined);
    });
    bench.fake.script(callTool('stubborn'));
    const { messages, result } = await bench.run({}, { signal: abort.signal, deps: { tools: toolsOf(stubborn) } });
    expect(result.exitReason).toBe('interrupted');
    expect(errorsOf(messages)[0]).toMatch(CANCELLED);
  });

  test('while a tool waits for the person ends the waiting', async () => {
    const waits = toolNamed('waits', async (_, { approve, callId, signal }) => {
      const allowed = await approve!({ what: 'command', subject: 'rm -rf x', reason: 'It deletes.', key: 'rm', scope: 'rm' }, callId, signal);
      return allowed ? 'done' : 'no';
    }, 'never');
    bench.fake.script(callTool('waits'));
    const { messages, result } = await bench.run({}, {
      signal: abort.signal,
      deps: {
        tools: toolsOf(waits),
        approve: (_, __, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('interrupted')));
            abort.abort();
          }),
      },
    });
    expect(result.exitReason).toBe('interrupted');
    expect(messages.at(-1)).toMatchObject({ role: 'tool', isError: true });
  });

  test('during a model call ends the run; what was streamed of the answer is kept and replays', async () => {
    bench.fake.script(together(think('Hm.'), say(['Paris is', ' the capital', ' of']), gated('never', 3)));
    const first = await bench.run({}, { signal: abort.signal, onEvent: (e) => void (e.type === 'delta' && e.text === ' the capital' && abort.abort()) });
    expect(first.result.exitReason).toBe('interrupted');
    expect(first.messages.at(-1)).toMatchObject({ role: 'assistant', reasoning: 'Hm.', finishReason: 'interrupted', content: expect.stringMatching(/^Paris is the capital/) as string });
    expect(first.events.some((e) => e.type === 'discard_deltas')).toBe(false);
    bench.fake.script(say('France.'));
    const second = await bench.run({}, { history: first.messages, input: [ask('go on')] });
    expect(second.result.exitReason).toBe('completed');
    expect(bench.sent(-1).map((m) => m['role'])).toEqual(['system', 'user', 'assistant', 'user']);
  });

  test.each([
    ['only reasoning', together(think(['I wonder', ' about']), gated('never', 1))],
    ['part of a tool call', together(say('Let me look.'), callTool('terminal', { command: 'true' }, { split: { borders: [5] } }), gated('never', 3))],
  ])('when %s had come keeps nothing and voids the deltas', async (_, step) => {
    bench.fake.script(step);
    const { messages, events, result } = await bench.run({}, { signal: abort.signal, onEvent: (e) => void (e.type === 'delta' && e.channel !== 'content' && abort.abort()) });
    expect(result.exitReason).toBe('interrupted');
    expect(messages.map((m) => m.role)).toEqual(['system', 'user']);
    expect(events.at(-2)!.type).toBe('discard_deltas');
  });

  test('during the wait for a retry ends the run', async () => {
    bench.fake.script(fail(429, { retryAfter: 300 }));
    const model = createOpenAiChatModel({ provider: 'fake', baseUrl: bench.fake.url, apiKey: 'k', model: 'fake/m' });
    const { result } = await bench.run({}, { signal: abort.signal, deps: { model }, onEvent: (e) => void (e.type === 'retry' && abort.abort()) });
    expect(result.exitReason).toBe('interrupted');
  });

  test('during a continuation keeps what was joined so far', async () => {
    bench.fake.script({ ...say('one two '), finishReason: 'length' }, together(say(['three ', 'four']), gated('never', 1)));
    const { messages } = await bench.run({}, { signal: abort.signal, onEvent: (e) => void (e.type === 'delta' && e.text === 'three' && abort.abort()) });
    expect(messages.at(-1)).toMatchObject({ content: 'one two three', finishReason: 'interrupted' });
  });

  test('during compression ends the run', async () => {
    bench.fake.script(contextOverflow(2_000));
    bench.fake.respond(() => gated('never'));
    const history = [{ role: 'system' as const, content: 'SYSTEM', createdAt: 1 }, ...Array.from({ length: 20 }, (_, i) => [ask(`question ${i} ${'words '.repeat(100)}`), { role: 'assistant' as const, content: `answer ${'words '.repeat(100)}`, createdAt: 1 }]).flat()];
    const { result } = await bench.run({ compression: { threshold: 0.5, tailRatio: 0.2, protectLast: 2 } }, {
      history,
      signal: abort.signal,
      onEvent: (e) => void (e.type === 'compressing' && bench.fake.waitForChats(2).then(() => abort.abort())),
    });
    expect(result.exitReason).toBe('interrupted');
    expect(bench.fake.chats).toHaveLength(2);
  });

  test('before the first call makes none', async () => {
    abort.abort();
    const { result } = await bench.run({}, { signal: abort.signal });
    expect(result).toMatchObject({ exitReason: 'interrupted', apiCalls: 0 });
    expect(bench.fake.chats).toHaveLength(0);
  });
});

describe('a consumer that leaves early', () => {
  test('stops the tools that run and the model call', async () => {
    let heard: AbortSignal | undefined;
    const long = toolNamed('long', (_, { signal, onOutput }) => {
      heard = signal;
      onOutput('working');
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    });
    bench.fake.script(callTool('long'));
    for await (const event of runAgent({ systemPrompt: 'S', maxTurns: 3 }, { history: [], input: [ask('x')] }, { ...bench.deps, tools: toolsOf(long) }, abort.signal)) {
      if (event.type === 'tool_output') break;
    }
    expect(heard!.aborted).toBe(true);

    bench.fake.script(together(say(['a', 'b']), gated('never', 1)));
    for await (const event of runAgent({ systemPrompt: 'S', maxTurns: 3 }, { history: [], input: [ask('x')] }, bench.deps, abort.signal)) {
      if (event.type === 'delta') break;
    }
    await bench.fake.chats.at(-1)!.done;
    expect(bench.fake.chats.at(-1)!.clientLeft).toBe(true);
  });
});
