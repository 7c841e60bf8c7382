import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOpenAiChatModel } from './openai-chat.ts';
import { ModelError } from './types.ts';

const PIECE = 'x'.repeat(16 * 1024);
const MAX_ANSWER_BYTES = 256 * 1024;

let pour: { type: string; start: string; piece: string };
let closed: Promise<void>[];
const server = createServer((_, response) => {
  closed.push(new Promise((resolve) => void response.once('close', resolve)));
  response.writeHead(200, { 'content-type': pour.type });
  response.write(pour.start);
  go(response);
});

/** Sends as fast as it is taken, for ever. */
function go(response: ServerResponse): void {
  while (!response.destroyed) {
    if (!response.write(pour.piece)) return void response.once('drain', () => go(response));
  }
}

beforeEach(async () => {
  closed = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

// an endless answer fills the memory of the engine and takes every run with it
it.each([
  ['one line', { type: 'text/event-stream', start: 'data: {"choices":[{"delta":{"content":"', piece: PIECE }],
  ['comments', { type: 'text/event-stream', start: '', piece: `: ${PIECE}\n\n` }],
  ['chunks', { type: 'text/event-stream', start: '', piece: `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: PIECE } }] })}\n\n` }],
  ['JSON', { type: 'application/json', start: '"', piece: PIECE }],
])('an answer without end is broken off: %s', async (_, endless) => {
  pour = endless;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = createOpenAiChatModel({ provider: 'custom', baseUrl, apiKey: null, model: 'm' }, { maxAnswerBytes: MAX_ANSWER_BYTES, maxAttempts: 2, sleep: async () => {} });
  let error: unknown;
  try {
    for await (const event of model.stream({ messages: [{ role: 'user', content: 'hi', createdAt: 1 }], tools: [] }, new AbortController().signal)) void event;
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ code: 'bad_response', message: expect.stringContaining('sent an answer of more than 1 MB') as string });
  expect(closed).toHaveLength(2);
  await Promise.all(closed);
});
