import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { withFake } from '../../../e2e/fakes/testing.ts';
import { listModels, testEndpoint } from './probe.ts';
import { PROVIDER_PRESETS } from './providers.ts';

/** A server that answers every path with the same body, or by path. */
async function withServer(answer: (path: string) => { status?: number; type?: string; body: string }, test: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const { status = 200, type = 'application/json', body } = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('testEndpoint', () => {
  // Bug: a good endpoint is reported as bad, or its models are miscounted.
  it('says how many models there are', () =>
    withFake(
      async (fake) => {
        const test = await testEndpoint({ baseUrl: `${fake.url}/`, apiKey: 'k' });
        expect(test).toMatchObject({ ok: true, modelCount: 2, hint: null, message: `127.0.0.1:${fake.port} answered: 2 models.` });
        expect(test.latencyMs).toBeGreaterThanOrEqual(0);
      },
      { models: ['b', 'a'], apiKey: 'k' },
    ));

  // Bug: the most common mistakes of all, a forgotten /v1 and a pasted endpoint, end in "404".
  it.each(['', '/', '/v1/chat/completions', '/api'])('finds the base URL that was meant for %j', (path) =>
    withFake(async (fake) => {
      const origin = `http://127.0.0.1:${fake.port}`;
      expect(await testEndpoint({ baseUrl: `${origin}${path}`, apiKey: null })).toMatchObject({ ok: false, hint: `Use ${origin}/v1 as the base URL.` });
    }),
  );

  // Bug: a missing key and a wrong key are not told apart.
  it('tells a missing key from a refused one', () =>
    withFake(
      async (fake) => {
        expect(await testEndpoint({ baseUrl: fake.url, apiKey: null })).toMatchObject({ ok: false, hint: 'Enter a key.' });
        const refused = await testEndpoint({ baseUrl: fake.url, apiKey: 'sk-wrongwrong' });
        expect(refused.message).toContain('refused the key');
        expect(JSON.stringify(refused)).not.toContain('sk-wrongwrong');
      },
      { apiKey: 'right' },
    ));

  // Bug: nothing listening, nonsense addresses and web pages give raw exceptions.
  it('explains servers that are not there or something else', async () => {
    let gone = '';
    await withServer(() => ({ type: 'text/html', body: '<!doctype html><p>Welcome</p>' }), async (origin) => {
      gone = origin;
      expect(await testEndpoint({ baseUrl: `${origin}/v1`, apiKey: null })).toMatchObject({ ok: false, message: expect.stringContaining('not an OpenAI-compatible API') as unknown });
    });
    expect(await testEndpoint({ baseUrl: `${gone}/v1`, apiKey: null })).toMatchObject({ ok: false, message: expect.stringContaining('Nothing listens at 127.0.0.1') as unknown, hint: expect.stringContaining('Start the server') as unknown });
    expect(await testEndpoint({ baseUrl: 'no address', apiKey: null })).toMatchObject({ ok: false, message: 'The base URL is not a web address.' });
    await withServer(() => ({ status: 503, body: '{"error":{"message":"loading model"}}' }), async (origin) => {
      expect((await testEndpoint({ baseUrl: origin, apiKey: null })).message).toContain('(503): loading model');
    });
  });

  // Bug: OpenRouter lists its models to anybody, so a bad key passes the test and fails in the run.
  it('checks the key of OpenRouter where it is really checked', () =>
    withServer(
      (path) => (path.endsWith('/key') ? { status: 401, body: '{"error":{"message":"No auth"}}' } : { body: '{"data":[{"id":"m"}]}' }),
      async (origin) => {
        const redirected: typeof fetch = (url, init) => fetch(String(url).replace('https://openrouter.ai', origin), init);
        const options = { fetch: redirected };
        expect(await testEndpoint({ baseUrl: 'https://openrouter.ai/api/v1', apiKey: 'x' }, undefined, options)).toMatchObject({ ok: false, message: 'openrouter.ai refused the key (401).' });
        expect(await testEndpoint({ baseUrl: 'https://openrouter.ai/api/v1', apiKey: null }, undefined, options)).toMatchObject({ ok: false, hint: 'Enter a key.' });
      },
    ));

  // Bug: the demo provider is tested over the network.
  it('knows the offline model', async () => {
    expect(await testEndpoint({ baseUrl: 'offline:', apiKey: null })).toMatchObject({ ok: true, modelCount: 1 });
    expect(await listModels({ baseUrl: 'offline:', apiKey: null })).toEqual([{ id: 'offline/demo', contextLength: null }]);
  });
});

describe('listModels', () => {
  // Bug: the context length is read under one provider's name only, or one odd entry spoils the list.
  it('reads the context length under its usual names', () => {
    const data = [
      { id: 'z', context_length: 8 }, { id: 'vllm', max_model_len: 16 }, { id: 'groq', context_window: 32 }, { id: 'llama', meta: { n_ctx_train: 64 } },
      { id: 'or', top_provider: { context_length: 128 } }, { id: 'plain' }, null, { name: '' },
    ];
    return withServer(() => ({ body: JSON.stringify({ data }) }), async (origin) => {
      const models = await listModels({ baseUrl: `${origin}/v1`, apiKey: null });
      expect(models.map((model) => [model.id, model.contextLength])).toEqual([['groq', 32], ['llama', 64], ['or', 128], ['plain', null], ['vllm', 16], ['z', 8]]);
    });
  });

  it('throws what is wrong', () =>
    withFake(async (fake) => {
      await expect(listModels({ baseUrl: fake.url, apiKey: 'bad' })).rejects.toMatchObject({ code: 'auth', stopsRun: true });
    }, { apiKey: 'good' }));
});

// Bug: two presets with one id, or a base URL that no client can use.
it('has sound presets', () => {
  expect(new Set(PROVIDER_PRESETS.map((preset) => preset.id)).size).toBe(PROVIDER_PRESETS.length);
  for (const preset of PROVIDER_PRESETS) {
    expect(URL.canParse(preset.baseUrl)).toBe(true);
    expect(preset.scripted).toBe(preset.id === 'offline');
  }
});
