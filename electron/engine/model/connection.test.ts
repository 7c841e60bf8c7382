import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventReader } from './events.ts';
import { createOpenAiChatModel } from './openai-chat.ts';
import type { ChatAnswer } from './types.ts';

const chunk = (content: string, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let sockets: Set<unknown>;
const server = createServer((request, response) => {
  sockets.add(request.socket);
  request.resume().once('end', () => answer(request, response));
});
const baseUrl = (path = '/v1', user = ''): string => `http://${user}127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

beforeEach(async () => {
  sockets = new Set();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function ask(url = baseUrl(), headers: Record<string, string> = {}): Promise<ChatAnswer> {
  const model = createOpenAiChatModel({ provider: 'custom', baseUrl: url, apiKey: null, model: 'm' }, { maxAttempts: 1, headers });
  for await (const event of model.stream({ messages: [{ role: 'user', content: 'hi', createdAt: 1 }], tools: [] }, new AbortController().signal)) {
    if (event.type === 'answer') return event.answer;
  }
  throw new Error('There was no answer');
}

describe('a connection', () => {
  // Bug: a gateway that compresses without being asked makes every answer unreadable.
  it.each([['gzip', gzipSync], ['br', brotliCompressSync]] as const)('reads what was compressed with %s', async (encoding, compress) => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding }).end(compress(Buffer.from(chunk('plain', 'stop'))));
    expect((await ask()).content).toBe('plain');
  });

  it('a compressed answer that is damaged or that grows without end is a fault, not a wait', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(Buffer.from('no gzip at all'));
    await expect(ask()).rejects.toMatchObject({ name: 'ModelError', code: 'network' });
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(80 * 1024 * 1024, 'x')));
    await expect(ask()).rejects.toMatchObject({ code: 'bad_response', message: expect.stringContaining('more than 64 MB') as string });
  });

  // Bug: a server that says [DONE] and then holds the connection open holds up the answer.
  it('is done at [DONE], whether or not the response ends, and reads nothing behind it', async () => {
    answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${chunk('whole')}data: [DONE]\n\n${chunk(' and more')}`);
    expect((await ask()).content).toBe('whole');
  });

  // Bug: each call opens a connection of its own, which costs more than a short answer.
  it('is used again for the next call', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk('one', 'stop'));
    for (let i = 0; i < 12; i += 1) await ask();
    // two: the pool hears a moment after the answer that a connection is free
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('goes to the path below the base URL, with its query, and with the headers that were set', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      seen.push([request.method, request.url, request.headers['x-title'], request.headers.authorization, request.headers['content-type']]);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk('ok', 'stop'));
    };
    await ask(baseUrl('/v1/'), { 'X-Title': 'T' });
    await ask(baseUrl('/openai?api-version=1'));
    expect(seen).toEqual([['POST', '/v1/chat/completions', 'T', undefined, 'application/json'], ['POST', '/openai/chat/completions?api-version=1', undefined, undefined, 'application/json']]);
  });

  it('sends no password of a base URL anywhere', async () => {
    answer = (_, response) => response.end();
    await expect(ask(baseUrl('/v1', 'me:secret@'))).rejects.toMatchObject({ code: 'network' });
    expect(sockets.size).toBe(0);
  });

  // Bug: what a server says beside `error` is thrown away, so that an overlong conversation is never compressed.
  it('reads errors of servers that have no field for them', async () => {
    answer = (_, response) => response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'error', message: 'This model\'s maximum context length is 4096 tokens.' }));
    await expect(ask()).rejects.toMatchObject({ code: 'context_overflow', providerMessage: 'This model\'s maximum context length is 4096 tokens.' });
  });
});

describe('events', () => {
  const read = (bytes: Buffer, cuts: readonly number[]): [string, string][] => {
    const reader = createEventReader();
    const borders = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
    const pieces = borders.slice(1).map((border, i) => bytes.subarray(borders[i], border));
    return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()].map(({ event, data }) => [event, data]);
  };
  const text = '\ufeffdata: one\n\n: comment\r\nevent: error\r\ndata:two\r\ndata:  2\r\n\r\nevent: empty\n\nid: 7\ndata: drei €😀\r\rdata\n\nretry: 5\ndata: last';
  const events: [string, string][] = [['', 'one'], ['error', 'two\n 2'], ['', 'drei €😀'], ['', ''], ['', 'last']];

  it('are the same wherever the bytes are cut', () => {
    // Bug: a cut in a character, or between carriage return and line feed, makes other events.
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) expect(read(bytes, [cut])).toEqual(events);
    fc.assert(fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
      expect(read(bytes, cuts)).toEqual(events);
    }));
  });
});
