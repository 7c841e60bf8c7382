import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import {
  callTools, contextOverflow, cutAfter, drip, drop, empty, fail, gated, hangAfter, htmlError, malformedAfter, say, sliced, streamErrorAfter,
  think, together, toolCall, type Step,
} from '../../../e2e/fakes/steps.ts';
import { startFakeModel, type FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { withFake } from '../../../e2e/fakes/testing.ts';
import { createOpenAiChatModel, type OpenAiChatOptions } from './openai-chat.ts';
import { createProviderGate } from './provider-gate.ts';
import { ModelError, type ChatAnswer, type ChatRequest, type Endpoint, type ModelEvent } from './types.ts';

const KEY = 'sk-verysecretkey123456';
const user: Message = { role: 'user', content: 'hi', createdAt: 1 };
const REQUEST: ChatRequest = { messages: [user], tools: [] };

interface Ran {
  events: ModelEvent[];
  answer: ChatAnswer | null;
  error: ModelError | null;
  waits: number[];
}

/** Runs one call with a clock that only sleeping moves. */
async function ask(fake: { url: string }, options: OpenAiChatOptions & { request?: ChatRequest; endpoint?: Partial<Endpoint>; signal?: AbortSignal } = {}): Promise<Ran> {
  const { request = REQUEST, endpoint, signal = new AbortController().signal, ...more } = options;
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  const model = createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: KEY, model: 'm', ...endpoint }, { sleep, random: () => 1, ...more });
  const ran: Ran = { events: [], answer: null, error: null, waits };
  try {
    for await (const event of model.stream(request, signal)) {
      ran.events.push(event);
      if (event.type === 'answer') ran.answer = event.answer;
    }
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    ran.error = thrown;
    expect(JSON.stringify([thrown, thrown.message, thrown.providerMessage, thrown.stack, String(thrown.cause)])).not.toContain(KEY);
  }
  return ran;
}

const deltas = (ran: Ran, channel: string): string => ran.events.map((event) => (event.type === 'delta' && event.channel === channel ? event.text : '')).join('');
const withSteps = (steps: Step[], test: (fake: FakeModel) => Promise<void>): Promise<void> =>
  withFake(async (fake) => {
    fake.script(...steps);
    await test(fake);
    expect(fake.unused).toBe(0);
  });

/** A server that answers each request with the next of these bodies, not streamed. */
async function withServer(bodies: unknown[], test: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(bodies.shift())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('answers', () => {
  // Bug: text torn or lost at the borders of bytes, lines or chunks.
  it('assembles the same answer however it is cut', () =>
    withFake(async (fake) => {
      const content = 'Grüße, 你好 🪽: <think> stays.';
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 9 }), fc.nat(99), fc.boolean(), async (sliceBytes, pieceChars, seed, crlf) => {
          fake.script({
            ...together(
              think('Ich prüfe 🪽', ['reasoning', 'reasoning_details'], { signature: 's1' }),
              say(`<think>\ninline 好\n</think>\n${content}`, { pieceChars }),
              callTools([toolCall('terminal', { command: 'echo "ü"' }, { id: 'a', split: { seed } }), toolCall('read_file', { path: '好.txt' }, { id: 'b', split: { seed: seed + 1 } })], { interleaved: true }),
              sliced(sliceBytes),
              { wire: { crlf, comment: { text: 'PROCESSING' } }, usage: { prompt: 9, completion: 5, reasoning: 2, cached: 1 } },
            ),
          });
          const { answer, events } = await ask(fake);
          expect(answer).toMatchObject({
            content,
            reasoning: 'Ich prüfe 🪽\n\ninline 好',
            reasoningDetails: [{ type: 'reasoning.text', text: 'Ich prüfe 🪽', signature: 's1' }],
            toolCalls: [{ id: 'a', name: 'terminal', arguments: '{"command":"echo \\"ü\\""}' }, { id: 'b', name: 'read_file', arguments: '{"path":"好.txt"}' }],
            finishReason: 'tool_calls',
            unclosedReasoning: false,
            usage: { promptTokens: 9, completionTokens: 5, reasoningTokens: 2, cachedTokens: 1 },
          });
          expect(deltas({ events, answer, error: null, waits: [] }, 'content')).toBe(content);
        }),
        { numRuns: 25 },
      );
    }));

  // Bug: a slow, byte-wise stream, one without [DONE], or an empty answer counts as broken.
  it('takes slow, unterminated and empty answers', () =>
    withSteps([together(say('ok'), drip(0)), together(say('ok'), { wire: { omitDone: true } }), empty()], async (fake) => {
      expect((await ask(fake)).answer?.content).toBe('ok');
      expect((await ask(fake)).answer?.content).toBe('ok');
      expect((await ask(fake)).answer).toMatchObject({ content: '', toolCalls: [], reasoning: null });
    }));

  // Bug: a server that does not stream, or fails with status 200, gives an empty answer.
  it('takes an answer that is not streamed, and an error with status 200', () =>
    withServer([{ choices: [{ message: { content: '<think>a</think>b', tool_calls: [{ id: 'x', function: { name: 't', arguments: {} } }] }, finish_reason: 'stop' }] }, { error: { message: 'no', code: 401 } }], async (url) => {
      expect((await ask({ url })).answer).toMatchObject({ content: 'b', reasoning: 'a', toolCalls: [{ id: 'x', name: 't', arguments: '{}' }], finishReason: 'stop' });
      expect((await ask({ url })).error).toMatchObject({ code: 'auth', providerMessage: 'no' });
    }));

  // Bug: the conversation is not sent as providers want it, or reasoning is not replayed (400 from DeepSeek, Kimi).
  it('sends history, reasoning, tools and limits in the wire form', () =>
    withSteps([say('ok')], async (fake) => {
      const details = [{ type: 'reasoning.text', text: 'hm', signature: 's' }];
      const messages: Message[] = [
        { role: 'system', content: 'Be good.', createdAt: 0 },
        user,
        { role: 'assistant', content: '', reasoning: 'hm', reasoningDetails: details, toolCalls: [{ id: 'a', name: 't', arguments: '{"n":1.0}' }, { id: 'b', name: 't', arguments: '{"n":' }], createdAt: 1 },
        { role: 'tool', content: 'r', toolCallId: 'a', createdAt: 1 },
        { role: 'user', content: 'go on', synthetic: true, createdAt: 1 },
      ];
      const tools = [{ name: 't', description: 'd', parameters: { type: 'object' } }];
      await ask(fake, { request: { messages, tools, maxTokens: 7, temperature: 0.5, reasoningEffort: 'high' } });
      expect(fake.chats[0]?.body).toEqual({
        model: 'm', stream: true, stream_options: { include_usage: true }, max_tokens: 7, temperature: 0.5, reasoning_effort: 'high',
        messages: [
          { role: 'system', content: 'Be good.' },
          { role: 'user', content: 'hi' },
          {
            role: 'assistant', content: '', reasoning_content: 'hm', reasoning_details: details,
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 't', arguments: '{"n":1.0}' } },
              { id: 'b', type: 'function', function: { name: 't', arguments: '{"invalid_arguments":"{\\"n\\":"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'a', content: 'r' },
          { role: 'tool', tool_call_id: 'b', content: expect.stringContaining('error') as unknown },
          { role: 'user', content: 'go on' },
        ],
        tools: [{ type: 'function', function: tools[0] }],
      });
      expect(fake.chats[0]?.authorization).toBe(`Bearer ${KEY}`);
      expect(Object.keys(fake.chats[0]?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
    }));

  // Bug: a key from the environment is sent to a host it was not meant for.
  it('sends no key when it was given none', () =>
    withSteps([say('ok')], async (fake) => {
      const before = process.env.OPENAI_API_KEY;
      process.env.OPENAI_API_KEY = 'sk-from-environment';
      try {
        expect((await ask(fake, { endpoint: { apiKey: null } })).answer?.content).toBe('ok');
      } finally {
        if (before === undefined) delete process.env.OPENAI_API_KEY;
        else process.env.OPENAI_API_KEY = before;
      }
      expect(fake.chats[0]?.authorization).toBeUndefined();
    }));

  // Bug: a server that refuses replayed reasoning can never be used for a second turn.
  it('leaves a refused optional field out, from then on', () =>
    withSteps([fail(400, { message: "property 'reasoning_content' is unsupported" }), say('ok')], async (fake) => {
      const request: ChatRequest = { messages: [user, { role: 'assistant', content: 'x', reasoning: 'y', createdAt: 1 }, user], tools: [] };
      const ran = await ask(fake, { request });
      expect(ran.answer?.content).toBe('ok');
      expect(ran.events.some((event) => event.type === 'retry')).toBe(false);
      expect(fake.chats.map((chat) => 'reasoning_content' in (chat.body.messages[1] ?? {}))).toEqual([true, false]);
    }));
});

describe('faults that are not retried', () => {
  it.each([
    // Bug: a run goes on with a key that can never work, or with an empty account.
    ['401', fail(401, { message: `Incorrect API key provided: ${KEY}` }), 'auth', true, /refused by 127\.0\.0\.1/],
    ['403', fail(403), 'auth', true, /does not permit m/],
    ['402', fail(402), 'payment', true, /no credit/],
    ['429 without credit', fail(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }), 'payment', true, /no credit/],
    // Bug: one flagged prompt stops the whole run.
    ['403 moderation', fail(403, { message: 'Your input was flagged by moderation' }), 'bad_request', false, /content rules/],
    ['404', fail(404, { message: 'No such model' }), 'not_found', false, /model name and the base URL/],
    ['404 page', htmlError(404), 'not_found', false, /No OpenAI-compatible API/],
    // Bug: an overlong conversation is not told apart from a bad request, so nobody compresses it.
    ['overflow', contextOverflow(), 'context_overflow', false, /longer than m/],
    ['413', fail(413), 'context_overflow', false, /longer/],
    ['overflow in the stream', streamErrorAfter(1, { message: 'prompt is too long: 9 tokens' }), 'context_overflow', false, /longer/],
    ['400', fail(400, { message: 'temperature must be positive' }), 'bad_request', false, /temperature must be positive/],
  ] as const)('%s', (_, step, code, stopsRun, sentence) =>
    withSteps([step], async (fake) => {
      const { error, events, waits } = await ask(fake);
      expect(error).toMatchObject({ code, stopsRun });
      expect(error?.message).toMatch(sentence);
      expect(events.filter((event) => event.type === 'retry')).toEqual([]);
      expect(waits).toEqual([]);
    }),
  );

  // Bug: prompts (or the key) follow a redirect to a host that nobody chose.
  it('goes nowhere but to the base URL', () =>
    withSteps([], async (elsewhere) => {
      const server = createServer((_, response) => response.writeHead(307, { location: `${elsewhere.url}/chat/completions` }).end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { error } = await ask({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
      server.closeAllConnections();
      server.close();
      expect(error).toMatchObject({ code: 'not_found', message: expect.stringMatching(/sends requests on to 127\.0\.0\.1:\d+/) as string });
      expect(elsewhere.requests).toEqual([]);
    }));

  // Bug: a provider's page-long error, or one that echoes the key, is stored with the trajectory.
  it('shortens and redacts what the provider said', () =>
    withSteps([fail(400, { message: `Bad key ${KEY}, ${'x'.repeat(900)}` })], async (fake) => {
      const { error } = await ask(fake);
      expect(error?.providerMessage).toMatch(/^Bad key \[key\], x+…$/);
      expect(error?.providerMessage?.length).toBe(500);
    }));
});

describe('faults that are retried', () => {
  it.each([
    ['500', fail(500), 'server'],
    ['HTML page', htmlError(502), 'server'],
    ['529', fail(529), 'rate_limit'],
    // Bug: a limit per minute that speaks of quota or tokens is taken for an empty account or an overlong conversation.
    ['429 per minute', fail(429, { message: 'You exceeded your current quota: too many tokens, please wait' }), 'rate_limit'],
    ['drop', drop(), 'network'],
    ['cut', together(say('half an answer'), cutAfter(1)), 'network'],
    ['quiet end', together(say('half an answer'), cutAfter(1, 'end')), 'network'],
    ['malformed chunk', together(say('half an answer'), malformedAfter(1)), 'bad_response'],
    ['error in the stream', together(say('half an answer'), streamErrorAfter(1, { code: 502 })), 'server'],
    ['web page', htmlError(200), 'bad_response'],
    ['408', fail(408), 'timeout'],
  ] as const)('%s: announced, waited for, made again', (_, step, code) =>
    withSteps([step, step, say('whole')], async (fake) => {
      const { answer, events, waits } = await ask(fake);
      expect(answer?.content).toBe('whole');
      expect(events.flatMap((event) => (event.type === 'retry' ? [[event.attempt, event.waitMs, event.error.code]] : []))).toEqual([[1, 2000, code], [2, 4000, code]]);
      expect(waits).toEqual([2000, 4000]);
    }),
  );

  // Bug: retries without end, or one too few.
  it('gives up after the last attempt', () =>
    withSteps([fail(500), fail(503, { message: 'overloaded' })], async (fake) => {
      const { error } = await ask(fake, { maxAttempts: 2 });
      expect(error).toMatchObject({ code: 'server', status: 503, providerMessage: 'overloaded' });
    }));

  // Bug: Retry-After is ignored, read in the wrong unit, or waited for without limit.
  it.each([
    [{ retryAfter: 7 }, 7000, 7000],
    [{ retryAfterMs: 1234 }, 1234, 1234],
    [{ retryAfter: 86_400 }, 600_000, 600_000],
    [{ retryAfterDate: 30 }, 25_000, 31_000],
  ])('waits as told by %j, up to six attempts', (how, least, most) =>
    withSteps([...Array<Step>(5).fill(fail(429, how)), say('ok')], async (fake) => {
      const { answer, waits } = await ask(fake);
      expect(answer?.content).toBe('ok');
      expect(waits.length).toBe(5);
      for (const wait of waits) {
        expect(wait).toBeGreaterThanOrEqual(least);
        expect(wait).toBeLessThanOrEqual(most);
      }
    }),
  );

  it('stops waiting after six, and after three without Retry-After', () =>
    withSteps([...Array<Step>(6).fill(fail(429, { retryAfter: 1 })), ...Array<Step>(3).fill(fail(429))], async (fake) => {
      expect((await ask(fake)).error?.code).toBe('rate_limit');
      expect((await ask(fake)).error?.code).toBe('rate_limit');
    }));

  // Bug: a server that falls silent holds a worker for ever, before or in the middle of an answer.
  it('ends silent attempts', () =>
    withSteps([hangAfter(0), together(say('half an answer'), hangAfter(1))], async (fake) => {
      expect((await ask(fake, { firstByteTimeoutMs: 50, maxAttempts: 1 })).error?.code).toBe('timeout');
      expect((await ask(fake, { idleTimeoutMs: 50, maxAttempts: 1 })).error?.code).toBe('timeout');
      await Promise.all(fake.requests.map((request) => request.done));
    }));

  // Bug: "fetch failed", where a person needs to hear that no server runs or that the name is wrong.
  it('says what is wrong with the connection', async () => {
    const fake = await startFakeModel();
    await fake.close();
    expect((await ask(fake)).error?.message).toBe(`Nothing listens at 127.0.0.1:${fake.port}: is the server running?`);
    expect((await ask({ url: 'http://no-such-host.invalid/v1' }, { maxAttempts: 1 })).error?.message).toContain('no-such-host.invalid cannot be found');
  });
});

describe('abort', () => {
  // Bug: stop waits for the server, for the next chunk, or for the end of a back-off.
  it.each(['headers', 'middle', 'sleep', 'gate', 'before'] as const)('ends at once: %s', (where) =>
    withFake(async (fake) => {
      const stop = new AbortController();
      const stopping = new Error('stop');
      const never = (_: number, signal: AbortSignal): Promise<void> => {
        queueMicrotask(() => stop.abort(stopping));
        return new Promise((__, reject) => signal.addEventListener('abort', () => reject(stopping), { once: true }));
      };
      const gate = createProviderGate({ sleep: never });
      if (where === 'headers') fake.script(gated('never'));
      if (where === 'middle') fake.script(together(say('half an answer'), gated('never', 1)));
      if (where === 'sleep') fake.script(fail(500));
      if (where === 'gate') gate.closeUntil(Date.now() + 1e9);
      if (where === 'before') stop.abort(stopping);
      if (where === 'headers') void fake.waitForChats(1).then(() => stop.abort(stopping));
      const model = createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: null, model: 'm' }, { sleep: never, gate });
      const running = (async () => {
        for await (const event of model.stream(REQUEST, stop.signal)) if (event.type === 'delta') stop.abort(stopping);
      })();
      await expect(running).rejects.toMatchObject({ name: 'ModelError', code: 'aborted' });
      await Promise.all(fake.requests.map((request) => request.done));
    }),
  );

  // Bug: a consumer that stops reading leaves the request running and paid for.
  it('closes the connection when the consumer leaves', () =>
    withSteps([together(say('half an answer'), gated('never', 1))], async (fake) => {
      const model = createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: null, model: 'm' });
      for await (const event of model.stream(REQUEST, new AbortController().signal)) if (event.type === 'delta') break;
      await fake.requests[0]?.done;
      expect(fake.requests[0]?.clientLeft).toBe(true);
    }));
});

describe('with a shared gate', () => {
  // Bug: 64 workers each find the rate limit out for themselves, again and again.
  it('one 429 holds all others back until it is over', () =>
    withSteps([fail(429, { retryAfter: 5 }), say('a'), say('b'), say('c')], async (fake) => {
      let clock = 1_000_000;
      const askedAt: number[] = [];
      const gate = createProviderGate({ now: () => clock, sleep: async (ms) => void (clock += ms) });
      const options = { gate, now: () => clock };
      const first = await ask(fake, { ...options, sleep: () => Promise.reject(new Error('The gate waits, not the call.')) });
      askedAt.push(clock);
      expect(first.answer?.content).toBe('a');
      expect(askedAt).toEqual([1_005_000]);
      gate.closeUntil(clock + 3000);
      await ask(fake, options);
      await ask(fake, options);
      expect(clock).toBeGreaterThanOrEqual(1_008_000);
      expect(fake.chats.length).toBe(4);
    }));
});
