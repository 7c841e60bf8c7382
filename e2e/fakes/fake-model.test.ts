import { describe, expect, it } from 'vitest';
import {
  callTool, callTools, contextOverflow, cutAfter, drip, drop, empty, fail, gated, hangAfter, htmlError,
  malformedAfter, say, sliced, streamErrorAfter, think, together, toolCall,
} from './steps.ts';
import { callsOf, chunks, chunksOf, contentOf, dataOf, post, readBody, withFake, writtenPieces } from './testing.ts';

const UNICODE = 'grüße, 你好, 🪽🪽';

describe('answers', () => {
  // Bug: text lost, or a surrogate pair torn, when a text is cut in pieces.
  it('streams the pieces and keeps every character', () =>
    withFake(async (fake) => {
      fake.script(say(UNICODE, { pieceChars: 1 }), say(['a', 'b']));
      const first = await chunks(await post(fake));
      expect(contentOf(first)).toBe(UNICODE);
      expect(first.every((chunk) => (chunk.choices[0]?.delta.content ?? '').isWellFormed())).toBe(true);
      const second = await chunks(await post(fake));
      expect(second.map((chunk) => chunk.choices[0]?.delta)).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }, {}]);
      expect(second.at(-1)?.choices[0]?.finish_reason).toBe('stop');
      expect(fake.unused).toBe(0);
    }));

  // Bug: usage in the wrong chunk, or sent to clients that did not ask.
  it('sends usage in a last chunk without choices, only when asked', () =>
    withFake(async (fake) => {
      fake.respond(() => say('x', { usage: { prompt: 10, completion: 7, reasoning: 3, cached: 4 } }));
      const asked = await chunks(await post(fake, { stream_options: { include_usage: true } }));
      expect(asked.at(-1)).toMatchObject({
        choices: [],
        usage: {
          prompt_tokens: 10, completion_tokens: 7, total_tokens: 17,
          prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 3 },
        },
      });
      expect(asked.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
      const unasked = await chunks(await post(fake));
      expect(unasked.every((chunk) => chunk.usage === undefined)).toBe(true);
    }));

  // Bug: reasoning under a wrong name, or the signature missing, so that clients are tested against a form nobody sends.
  it('carries reasoning in each field', () =>
    withFake(async (fake) => {
      fake.script(
        think(['a', 'b'], 'reasoning'),
        think('ab', 'reasoning_content'),
        think(['a', 'b'], ['reasoning', 'reasoning_details'], { signature: 'sig' }),
      );
      const deltas = async () => (await chunks(await post(fake))).map((chunk) => chunk.choices[0]?.delta);
      expect(await deltas()).toEqual([{ role: 'assistant', content: null, reasoning: 'a' }, { reasoning: 'b' }, {}]);
      expect((await deltas())[0]).toMatchObject({ reasoning_content: 'ab' });
      expect((await deltas()).slice(0, 2)).toMatchObject([
        { reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] },
        { reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 'sig', index: 0 }] },
      ]);
    }));

  // Bug: calls mixed up or arguments changed by the splitting.
  it('streams parallel calls interleaved, split where it is told', () =>
    withFake(async (fake) => {
      const calls = [toolCall('a', '{"x":1}', { id: 'A', split: { borders: [2, 5] } }), toolCall('b', '{"y":2', { id: 'B', split: { borders: [3] } })];
      fake.script(callTools(calls, { interleaved: true }));
      const answer = await chunks(await post(fake));
      expect(callsOf(answer).map((call) => [call.index, call.function.arguments])).toEqual([
        [0, ''], [1, ''], [0, '{"'], [1, '{"y'], [0, 'x":'], [1, '":2'], [0, '1}'],
      ]);
      expect(answer.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
    }));

  // Bug: "random" borders that differ from run to run make failures that cannot be repeated.
  it('splits by seed, always the same way', () =>
    withFake(async (fake) => {
      const args = JSON.stringify({ text: UNICODE.repeat(5) });
      const pieces = async (seed: number) => {
        fake.script(callTool('a', args, { split: { seed } }));
        return callsOf(await chunks(await post(fake))).map((call) => call.function.arguments);
      };
      const first = await pieces(7);
      expect(first.join('')).toBe(args);
      expect(await pieces(7)).toEqual(first);
      expect(await pieces(8)).not.toEqual(first);
    }));

  // Bug: a quirk that is not really on the wire, so that clients only seem to bear it.
  it('plays the quirks of providers', () =>
    withFake(async (fake) => {
      const two = callTools([toolCall('a', {}), toolCall('b', {})]);
      fake.script(
        together(callTool('a', { text: 'long enough for two pieces' }), { quirks: { repeatToolName: true } }),
        together(two, { quirks: { toolIndex: 'omitted' } }),
        together(two, { quirks: { toolIndex: 'zero' } }),
        callTool('a', '{}', { split: 'whole' }),
      );
      const repeated = callsOf(await chunks(await post(fake)));
      expect(repeated.length).toBeGreaterThan(2);
      expect(repeated.every((call) => call.function.name === 'a')).toBe(true);
      const omitted = callsOf(await chunks(await post(fake)));
      expect(omitted.every((call) => !('index' in call))).toBe(true);
      expect(new Set(omitted.map((call) => call.id).filter(Boolean)).size).toBe(2);
      expect(callsOf(await chunks(await post(fake))).every((call) => call.index === 0)).toBe(true);
      expect(callsOf(await chunks(await post(fake)))).toMatchObject([{ index: 0, function: { name: 'a', arguments: '{}' } }]);
    }));

  // Bug: the answer that is not streamed says something else than the streamed one.
  it('answers without streaming', () =>
    withFake(async (fake) => {
      fake.script(together(think(['a', 'b'], ['reasoning', 'reasoning_details']), callTool('t', { x: 1 }, { id: 'A' }), callTool('u', {}, { id: 'B' })));
      const answer = (await (await post(fake, { stream: false })).json()) as { choices: unknown[]; usage: { prompt_tokens: number } };
      expect(answer.choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant', content: null, reasoning: 'ab', reasoning_details: [{ text: 'ab' }],
          tool_calls: [{ id: 'A', function: { name: 't', arguments: '{"x":1}' } }, { id: 'B', function: { name: 'u', arguments: '{}' } }],
        },
      });
      expect(answer.usage.prompt_tokens).toBeGreaterThan(0);
      fake.script(empty());
      expect(await (await post(fake, { stream: false })).json()).toMatchObject({ choices: [{ message: { content: '' }, finish_reason: 'stop' }] });
    }));
});

describe('the wire', () => {
  // Bug: slices that follow the events, so that no border ever falls inside a character.
  it('slices the body in the middle of characters and lines', () =>
    withFake(async (fake) => {
      fake.script(together(say(UNICODE), sliced(3)), together(say(UNICODE), drip(1, 2)));
      for (const size of [3, 2]) {
        const pieces = await writtenPieces(fake);
        const text = Buffer.concat(pieces).toString('utf8');
        expect(Math.max(...pieces.map((piece) => piece.length))).toBe(size);
        expect(pieces.some((piece) => piece.toString('utf8').includes('\ufffd'))).toBe(true);
        expect(contentOf(chunksOf(text))).toBe(UNICODE);
        expect(dataOf(text).at(-1)).toBe('[DONE]');
      }
    }));

  // Bug: all slices leave in one go, so that clients on fetch, as the SDK is, never see a border.
  it('lets fetch see torn characters too', () =>
    withFake(async (fake) => {
      fake.script(together(say(UNICODE.repeat(20)), sliced(3)));
      const { pieces, text } = await readBody(await post(fake));
      expect(pieces.filter((piece) => piece.toString('utf8').includes('\ufffd')).length).toBeGreaterThan(1);
      expect(contentOf(chunksOf(text))).toBe(UNICODE.repeat(20));
    }));

  // Bug: CRLF or comments that break the events themselves.
  it('ends lines with CRLF, inserts comments, leaves [DONE] out', () =>
    withFake(async (fake) => {
      fake.script(together(say(['a', 'b', 'c']), { wire: { crlf: true, comment: { text: 'OPENROUTER PROCESSING', everyChunks: 2 }, omitDone: true } }));
      const { text } = await readBody(await post(fake));
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(text.match(/^: OPENROUTER PROCESSING$/gm)).toHaveLength(2);
      expect(contentOf(chunksOf(text))).toBe('abc');
      expect(text).not.toContain('[DONE]');
    }));
});

describe('faults', () => {
  // Bug: an error body that is not OpenAI's shape, or a missing wait.
  it.each([400, 401, 402, 403, 404, 429, 500, 502, 503, 529])('answers %i with an error object', (status) =>
    withFake(async (fake) => {
      fake.script(fail(status));
      const response = await post(fake);
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({
        error: { message: expect.any(String), type: expect.any(String), param: null, code: expect.toSatisfy((code) => code === null || typeof code === 'string') },
      });
    }));

  it('says how long to wait, in each of the three ways', () =>
    withFake(async (fake) => {
      fake.script(fail(429, { retryAfter: 7 }), fail(429, { retryAfterDate: 30 }), fail(503, { retryAfterMs: 250 }));
      expect((await post(fake)).headers.get('retry-after')).toBe('7');
      const dated = (await post(fake)).headers.get('retry-after') ?? '';
      const { arrivedAt } = fake.chats[1] ?? { arrivedAt: 0 };
      expect(Date.parse(dated)).toBeGreaterThanOrEqual(arrivedAt + 30_000);
      expect((await post(fake)).headers.get('retry-after-ms')).toBe('250');
    }));

  it('sends the context error and the HTML page', () =>
    withFake(async (fake) => {
      fake.script(contextOverflow(100, 200), htmlError(502));
      expect(await (await post(fake)).json()).toMatchObject({ error: { code: 'context_length_exceeded', message: expect.stringContaining('maximum context length is 100 tokens') } });
      const page = await post(fake);
      expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html']);
      expect(await page.text()).toContain('<html>');
    }));

  // Bug: the chunks before the cut never leave the server, so that "cut in the middle" is never tested.
  it('cuts the stream after the given chunks', () =>
    withFake(async (fake) => {
      const text = say(['a', 'b', 'c']);
      fake.script(together(text, cutAfter(2)), together(text, cutAfter(99)), together(text, cutAfter(0)), together(text, cutAfter(2), sliced(5)));
      for (const kept of ['ab', 'abc', '', 'ab']) {
        const { text: body, error } = await readBody(await post(fake));
        expect(contentOf(chunksOf(body))).toBe(kept);
        expect(body).not.toContain('[DONE]');
        expect(body).not.toContain('"finish_reason":"stop"');
        expect(error).toBeInstanceOf(TypeError);
      }
      await Promise.all(fake.requests.map((request) => request.done));
      expect(fake.requests.map((request) => request.clientLeft)).toEqual([false, false, false, false]);
    }));

  it('ends the stream in good order, but too early', () =>
    withFake(async (fake) => {
      fake.script(together(say(['a', 'b', 'c']), cutAfter(1, 'end')));
      const { text, error } = await readBody(await post(fake));
      expect([contentOf(chunksOf(text)), error]).toEqual(['a', null]);
      expect(text).not.toContain('[DONE]');
    }));

  it('drops the connection before any answer', () =>
    withFake(async (fake) => {
      fake.script(drop());
      await expect(post(fake)).rejects.toThrow(TypeError);
    }));

  it('puts a malformed chunk between good ones, and an error object in the stream', () =>
    withFake(async (fake) => {
      fake.script(together(say(['a', 'b']), malformedAfter(1)), together(say(['a', 'b']), streamErrorAfter(1, { message: 'gone', code: 503 })));
      const broken = dataOf((await readBody(await post(fake))).text);
      expect(broken).toHaveLength(5);
      expect(() => JSON.parse(broken[1] ?? '') as unknown).toThrow(SyntaxError);
      const failed = await chunks(await post(fake));
      expect(failed.map((chunk) => [chunk.choices[0]?.delta.content, chunk.error, chunk.choices[0]?.finish_reason])).toEqual([
        ['a', undefined, null],
        ['', { message: 'gone', code: 503 }, 'error'],
      ]);
    }));

  // Bug: the faults are only thought of for streams.
  it('plays the faults without streaming too', () =>
    withFake(async (fake) => {
      fake.script(together(say('x'), cutAfter(1)), together(say('x'), malformedAfter(1)), together(say('x'), streamErrorAfter(0)));
      await expect((await post(fake, { stream: false })).text()).rejects.toThrow(TypeError);
      await expect((await post(fake, { stream: false })).json()).rejects.toThrow(SyntaxError);
      expect(await (await post(fake, { stream: false })).json()).toMatchObject({ error: { code: 502 } });
    }));

  // Bug: a hung answer that keeps its timer or is not seen as left by the client.
  it('hangs after the given chunks until the client leaves', () =>
    withFake(async (fake) => {
      fake.script(together(say(['a', 'b']), hangAfter(1)));
      const leave = new AbortController();
      const response = await post(fake, {}, { signal: leave.signal });
      const reader = response.body?.getReader();
      expect(contentOf(chunksOf(Buffer.from((await reader?.read())?.value ?? []).toString()))).toBe('a');
      leave.abort();
      await fake.chats[0]?.done;
      expect(fake.chats[0]).toMatchObject({ clientLeft: true, status: 200 });
    }));

  // Bug: close() waits for answers that never end, and the test run with it.
  it('closes while an answer hangs, waits or is held', () =>
    withFake(async (fake) => {
      fake.script(hangAfter(), { ...say('x'), pace: { firstByteMs: 3_600_000 } }, together(say('x'), gated('never')));
      const open = Array.from({ length: 3 }, () => post(fake).then((response) => response.text()).catch(() => 'failed'));
      await fake.waitForChats(3);
      await fake.close();
      expect(await Promise.all(open)).toEqual(['failed', 'failed', 'failed']);
      expect(fake.requests.some((request) => request.clientLeft)).toBe(false);
    }));
});

describe('the server', () => {
  // Bug: a test cannot see what the client really sent.
  it('records requests and lists models', () =>
    withFake(async (fake) => {
      await (await post(fake, { temperature: 0.5 }, { headers: { authorization: 'Bearer k' } })).text();
      const models = (await (await fetch(`${fake.url}/models`)).json()) as { data: { id: string }[] };
      expect(models.data.map((model) => model.id)).toEqual(['one', 'two']);
      expect(fake.requests.map((request) => `${request.method} ${request.path}`)).toEqual(['POST /v1/chat/completions', 'GET /v1/models']);
      expect(fake.chats[0]).toMatchObject({ authorization: 'Bearer k', body: { temperature: 0.5 }, status: 200, clientLeft: false });
    }, { models: ['one', 'two'] }));

  it('asks for the key when it has one', () =>
    withFake(async (fake) => {
      expect((await post(fake)).status).toBe(401);
      expect((await post(fake, {}, { headers: { authorization: 'Bearer right' } })).status).toBe(200);
    }, { apiKey: 'right' }));

  // Bug: a held answer cannot be let go, or a gate lets chunks through that come after it.
  it('holds an answer at its gate', () =>
    withFake(async (fake) => {
      fake.script(together(say(['a', 'b']), gated('go', 1)));
      const response = await post(fake);
      const reader = response.body?.getReader();
      const read = async () => contentOf(chunksOf(Buffer.from((await reader?.read())?.value ?? []).toString()));
      expect(await read()).toBe('a');
      fake.release('go');
      expect(await read()).toBe('b');
    }));

  // Bug: under concurrency, answers follow the order of arrival instead of the prompt.
  it('decides by the prompt, whatever the order, and counts what is open', () =>
    withFake(async (fake) => {
      fake.respond(({ prompt, assistantTurns, turnsSinceUser }) => together(say(`${prompt}/${assistantTurns}/${turnsSinceUser}`), gated('all')));
      const ask = async (prompt: string) => {
        const messages = [{ role: 'user', content: prompt }, { role: 'assistant', content: '…' }, { role: 'user', content: 'more' }];
        return contentOf(await chunks(await post(fake, { messages })));
      };
      const answers = Promise.all(Array.from({ length: 50 }, (_, at) => ask(`p${at}`)));
      await fake.waitForChats(50);
      fake.release('all');
      expect(await answers).toEqual(Array.from({ length: 50 }, (_, at) => `p${at}/1/0`));
      expect(fake.counts).toMatchObject({ chats: 50, mostOpen: 50 });
    }));

  // Bug: an error in a test's own responder shows up as a client that waits for ever.
  it('answers 500 when the responder throws, 400 for a bad body, 404 elsewhere', () =>
    withFake(async (fake) => {
      fake.respond(() => {
        throw new Error('no such prompt');
      });
      const failed = await post(fake);
      expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining('no such prompt')]);
      expect((await post(fake, {}, { body: '{' })).status).toBe(400);
      expect((await post(fake, { messages: [] })).status).toBe(400);
      expect((await fetch(`${fake.url}/embeddings`, { method: 'POST', body: '{}' })).status).toBe(404);
      expect(fake.chats).toHaveLength(1);
    }));

  // Bug: a client that leaves calls unanswered works here and fails with a real provider.
  it.each<[string, object[]]>([
    ['an unanswered call', [{ role: 'assistant', tool_calls: [{ id: 'A', type: 'function', function: { name: 't', arguments: '{}' } }] }, { role: 'user', content: 'x' }]],
    ['an answer to nothing', [{ role: 'user', content: 'x' }, { role: 'tool', tool_call_id: 'A', content: 'y' }]],
    ['an unknown role', [{ role: 'robot', content: 'x' }]],
  ])('refuses %s, unless lenient', async (_, messages) => {
    await withFake(async (fake) => expect((await post(fake, { messages })).status).toBe(400));
    await withFake(async (fake) => expect((await post(fake, { messages })).status).toBe(200), { strict: false });
  });

  it('gives no steps away to requests that it refuses', () =>
    withFake(async (fake) => {
      fake.script(say('kept'));
      await post(fake, { messages: [] });
      expect(contentOf(await chunks(await post(fake)))).toBe('kept');
    }));
});
