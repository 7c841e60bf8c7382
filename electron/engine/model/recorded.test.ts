import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '#shared/trajectory.ts';
import { createOpenAiChatModel } from './openai-chat.ts';
import type { ChatAnswer, ModelEvent } from './types.ts';

const FOLDER = join(import.meta.dirname, '../../../e2e/fakes/recorded');
const TOOLS: ToolSpec[] = ['terminal', 'read_file'].map((name) => ({ name, description: '', parameters: { type: 'object' } }));
const LS = { name: 'terminal', arguments: '{"command": "ls"}' };

/** What each stream comes to. The files are written by hand in the shapes that each provider documents; they name where. */
const EXPECTED: Record<string, Partial<ChatAnswer>> = {
  openai: {
    content: '', reasoning: null, finishReason: 'tool_calls',
    toolCalls: [{ id: 'call_Qx7', name: 'terminal', arguments: '{"command":"ls -la \\"ü\\""}' }, { id: 'call_Rz8', name: 'read_file', arguments: '{"path":"a.txt"}' }],
    usage: { promptTokens: 82, completionTokens: 317, reasoningTokens: 256, cachedTokens: 64 }, costUsd: null,
  },
  openrouter: {
    content: 'I look first.', reasoning: 'The person wants the files. 好',
    reasoningDetails: [{ type: 'reasoning.text', text: 'The person wants the files. 好', signature: 'EuYBCkQYAiJA+/=', format: 'anthropic-claude-v1', index: 0 }],
    toolCalls: [{ id: 'toolu_01A', ...LS }], usage: { promptTokens: 420, completionTokens: 65, reasoningTokens: 31, cachedTokens: 400 }, costUsd: 0.00223,
  },
  'openrouter-encrypted': {
    reasoning: '**Looking**\n\nat files',
    reasoningDetails: [
      { type: 'reasoning.summary', summary: '**Looking**\n\nat files', format: 'openai-responses-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'gAAAAABp+/=', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    ],
    toolCalls: [{ id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' }], costUsd: 0.0024,
  },
  deepseek: {
    content: '好的，我看一下。', reasoning: '用户要看文件。', toolCalls: [{ id: 'call_00_x', ...LS }],
    usage: { promptTokens: 300, completionTokens: 80, reasoningTokens: 50, cachedTokens: 256 },
  },
  ollama: {
    content: '', reasoning: 'Two files to read.',
    toolCalls: [{ id: 'call_abc1', name: 'read_file', arguments: '{"path":"a"}' }, { id: 'call_abc2', name: 'read_file', arguments: '{"path":"b"}' }],
    usage: { promptTokens: 150, completionTokens: 42, reasoningTokens: 0, cachedTokens: 0 },
  },
  'vllm-text-calls': {
    content: 'I look first.', reasoning: '\nOne command is enough.\n', finishReason: 'stop',
    toolCalls: [{ id: 'call_0_0', name: 'terminal', arguments: '{"command": "ls -la"}' }, { id: 'call_0_1', name: 'read_file', arguments: '{"path": "a"}' }],
  },
  vllm: { content: '', reasoning: 'Hm', toolCalls: [{ id: 'chatcmpl-tool-7f', ...LS }] },
  mistral: { content: 'I look.', reasoning: 'I should look.', toolCalls: [{ id: 'D681PevKs', ...LS }], usage: { promptTokens: 90, completionTokens: 30, reasoningTokens: 0, cachedTokens: 0 } },
  llamacpp: { content: '', reasoning: 'Let me see', toolCalls: [{ id: 'Zx81', name: 'terminal', arguments: '{"command":"ls"}' }] },
  moonshot: {
    reasoning: 'The files first.', toolCalls: [{ id: 'terminal:0', name: 'terminal', arguments: '{"command":"ls"}' }],
    usage: { promptTokens: 70, completionTokens: 25, reasoningTokens: 0, cachedTokens: 64 },
  },
  nous: { content: '', reasoning: 'I need the list.', toolCalls: [{ id: 'call_0_0', ...LS }] },
};

/** Serves `bytes` cut at these places, each piece written by itself. */
async function replay(bytes: Buffer, cuts: readonly number[]): Promise<{ answer: ChatAnswer; events: ModelEvent[] }> {
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length)), bytes.length].toSorted((a, b) => a - b);
  const server = createServer({ noDelay: true }, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    let from = 0;
    const next = (): void => {
      const to = ends.shift();
      if (to === undefined) return void response.end();
      const piece = bytes.subarray(from, to);
      from = to;
      if (piece.length === 0) next();
      else response.write(piece, () => setImmediate(next));
    };
    next();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const model = createOpenAiChatModel({ provider: 'custom', baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, apiKey: null, model: 'm' }, { maxAttempts: 1 });
    const events: ModelEvent[] = [];
    for await (const event of model.stream({ messages: [{ role: 'user', content: 'hi', createdAt: 1 }], tools: TOOLS }, new AbortController().signal)) events.push(event);
    const last = events.at(-1);
    if (last?.type !== 'answer') throw new Error('no answer');
    return { answer: last.answer, events };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('recorded streams', () => {
  // Bug: a stream that is recorded is never played.
  it('are all expected', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(EXPECTED).map((name) => `${name}.sse`).toSorted());
  });

  // Bug: a provider's own way to stream calls, reasoning or usage is misread, or only when the network cuts it in an unlucky place.
  it.each(Object.entries(EXPECTED))('%s comes to the same answer however it is cut', async (name, expected) => {
    const bytes = readFileSync(join(FOLDER, `${name}.sse`));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 80 }), async (cuts) => {
        const { answer, events } = await replay(bytes, cuts);
        expect(answer).toMatchObject(expected);
        const shown = events.map((event) => (event.type === 'delta' && event.channel === 'content' ? event.text : '')).join('');
        expect(shown.trim()).toBe(answer.content);
      }),
      { numRuns: 6 },
    );
    const everyByte = Array.from({ length: bytes.length }, (_, at) => at);
    expect((await replay(bytes, everyByte)).answer).toMatchObject(expected);
  });
});
