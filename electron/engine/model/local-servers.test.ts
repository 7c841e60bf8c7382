import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { findLocalServers } from './local-servers.ts';
import { listModels } from './probe.ts';

type Answers = Record<string, unknown>;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server that knows these paths; a function is given the request's body, `null` never answers. */
async function serve(answers: Answers): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const known = answers[path];
      if (known === null) return;
      const value: unknown = typeof known === 'function' ? (known as (body: unknown) => unknown)(JSON.parse(Buffer.concat(parts).toString() || 'null')) : known;
      response.writeHead(value === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? { error: 'no such path' }));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, asked };
}

const list = (...data: object[]) => ({ object: 'list', data });

// Shapes: docs.ollama.com/api, lmstudio.ai/docs/developer/rest, tools/server/README.md of llama.cpp, docs.vllm.ai.
const OLLAMA: Answers = {
  '/v1/models': list({ id: 'qwen3:8b', owned_by: 'library' }, { id: 'set:1b', owned_by: 'library' }, { id: 'loaded:1b', owned_by: 'library' }),
  '/api/version': { version: '0.12.6' },
  '/api/show': ({ model }: { model: string }) => ({ parameters: model === 'set:1b' ? 'num_ctx                        16384\nstop  "<x>"' : '', model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40_960 } }),
  '/api/ps': { models: [{ name: 'loaded:1b', context_length: 4096 }] },
};
const LM_STUDIO: Answers = {
  '/v1/models': list({ id: 'small', object: 'model', owned_by: 'organization_owner' }, { id: 'big', object: 'model', owned_by: 'organization_owner' }),
  '/api/v0/models': list({ id: 'small', state: 'loaded', max_context_length: 32_768, loaded_context_length: 8192 }, { id: 'big', state: 'not-loaded', max_context_length: 131_072 }),
};
const LLAMA_CPP: Answers = {
  '/v1/models': list({ id: 'smol.gguf', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } }),
  '/props': { default_generation_settings: { n_ctx: 4096 }, model_path: 'smol.gguf' },
};
const VLLM: Answers = { '/v1/models': list({ id: 'Qwen/Qwen3-8B', owned_by: 'vllm', max_model_len: 40_960 }), '/version': { version: '0.26.0' } };
const SGLANG: Answers = { '/v1/models': list({ id: 'q', owned_by: 'sglang', max_model_len: 32_768 }), '/get_model_info': { model_path: 'q' } };

describe('findLocalServers', () => {
  // Bug: a server that runs is not found, is taken for another kind, or is offered with the context it was trained with.
  it('tells the kinds apart, with their models and context lengths', async () => {
    const shown = await Promise.all([OLLAMA, LM_STUDIO, LLAMA_CPP, VLLM, SGLANG].map((answers) => serve(answers)));
    const found = await findLocalServers(undefined, { ports: shown.map(({ port }) => port) });
    expect(found.map(({ kind, name, models }) => [kind, name, models])).toEqual([
      ['ollama', 'Ollama', [{ id: 'loaded:1b', contextLength: 4096 }, { id: 'qwen3:8b', contextLength: 40_960 }, { id: 'set:1b', contextLength: 16_384 }]],
      ['lmstudio', 'LM Studio', [{ id: 'big', contextLength: 131_072 }, { id: 'small', contextLength: 8192 }]],
      ['llamacpp', 'llama.cpp', [{ id: 'smol.gguf', contextLength: 4096 }]],
      ['vllm', 'vLLM', [{ id: 'Qwen/Qwen3-8B', contextLength: 40_960 }]],
      ['sglang', 'SGLang', [{ id: 'q', contextLength: 32_768 }]],
    ]);
    expect(found[0]?.baseUrl).toBe(`http://127.0.0.1:${shown[0]?.port}/v1`);
  });

  // Bug: a list without owners is not told apart; a server that wants a key is overlooked; any web server is taken for a model server.
  it('goes by other signs, and leaves out what is no model server', async () => {
    const [quiet, plain, web, silent] = await Promise.all([
      serve({ ...OLLAMA, '/v1/models': list({ id: 'x' }) }),
      serve({ '/v1/models': list({ id: 'x', owned_by: 'me' }) }),
      serve({ '/': 'hello' }),
      serve({ '/v1/models': null }),
    ]);
    const locked = createServer((_, response) => response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no key"}}'));
    servers.push(locked);
    await new Promise<void>((resolve) => locked.listen(0, '127.0.0.1', resolve));
    const lockedPort = (locked.address() as AddressInfo).port;
    const found = await findLocalServers(undefined, { ports: [quiet.port, plain.port, web.port, silent.port, lockedPort, 1], timeoutMs: 500 });
    expect(found.map(({ kind, name, needsKey }) => [kind, name, needsKey])).toEqual([
      ['ollama', 'Ollama', false],
      ['other', `127.0.0.1:${plain.port}`, false],
      ['other', `127.0.0.1:${lockedPort}`, true],
    ]);
  });

  it('can be stopped', async () => {
    const { port } = await serve({ '/v1/models': null });
    const stop = new AbortController();
    const found = findLocalServers(stop.signal, { ports: [port], timeoutMs: 60_000 });
    stop.abort();
    await expect(found).rejects.toThrow();
  });
});

describe('listModels', () => {
  // Bug: the size of a context is guessed from the training although the server tells the real one.
  it('asks llama.cpp for the context it was started with, and keeps the list when that is not answered', async () => {
    const { port } = await serve(LLAMA_CPP);
    expect(await listModels({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: null })).toEqual([{ id: 'smol.gguf', contextLength: 4096 }]);
    const bare = await serve({ '/v1/models': LLAMA_CPP['/v1/models'] });
    expect(await listModels({ baseUrl: `http://127.0.0.1:${bare.port}/v1`, apiKey: null })).toEqual([{ id: 'smol.gguf', contextLength: 131_072 }]);
    // Nobody else is asked for paths of their own.
    const { asked, port: other } = await serve({ '/v1/models': list({ id: 'x' }) });
    await listModels({ baseUrl: `http://127.0.0.1:${other}/v1`, apiKey: null });
    expect(asked).toEqual(['/v1/models']);
  });

  // Bug: prices for one token are shown as prices for a million, or "depends" as a negative price.
  it('reads the prices of a list', async () => {
    const { port } = await serve({
      '/v1/models': list(
        { id: 'a', context_length: 200_000, pricing: { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' } },
        { id: 'auto', pricing: { prompt: '-1', completion: '-1' } },
        { id: 'free', pricing: { prompt: '0', completion: '0' } },
      ),
    });
    expect(await listModels({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: null })).toEqual([
      { id: 'a', contextLength: 200_000, prices: { input: 3, output: 15, cached: 0.3 } },
      { id: 'auto', contextLength: null },
      { id: 'free', contextLength: null, prices: { input: 0, output: 0 } },
    ]);
  });
});
