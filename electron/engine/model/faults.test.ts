import { describe, expect, it } from 'vitest';
import { modelErrorOf, networkCode, statusFault, streamedFault, type FaultContext } from './faults.ts';

const context: FaultContext = { endpoint: { baseUrl: 'https://user:pw@api.example.org:8443/v1?key=abc', apiKey: 'verysecret', model: 'm' }, midAnswer: false, now: 0 };
const fault = (status: number, body: unknown, headers?: Record<string, string>) => statusFault(status, body, new Headers(headers), context);

describe('statusFault', () => {
  // Bug: one provider's wording for "too long" is not known, and the conversation is never compressed.
  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    'the request exceeds the available context size (4096 tokens), try increasing it',
    'Trying to keep the first 5000 tokens when context the overflows. Reduce the prompt.',
    'prompt is too long: 213462 tokens > 200000 maximum',
    'The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'Input is too long for requested model.',
  ])('knows an overlong conversation: %s', (message) => {
    expect(fault(400, { message }).code).toBe('context_overflow');
    expect(streamedFault({ message }, context).code).toBe('context_overflow');
  });

  // Bug: an ordinary complaint that mentions tokens or prompts counts as overlong.
  it.each(['max_tokens must be at least 1', 'Invalid token in prompt', 'The prompt must not be empty'])('does not see one in: %s', (message) => {
    expect(fault(400, { message }).code).toBe('bad_request');
  });

  // Bug: the wait that Google gives in the body is ignored, or its list-shaped body gives no message.
  it('reads Google error bodies', () => {
    const body = [{ error: { code: 429, message: 'Quota exceeded, retry in 22s', details: [{ retryDelay: '22.5s' }] } }];
    expect(fault(429, body)).toMatchObject({ code: 'rate_limit', retryAfterMs: 22_500, providerMessage: 'Quota exceeded, retry in 22s' });
    expect(fault(429, body, { 'retry-after': '3' }).retryAfterMs).toBe(3000);
  });

  // Bug: the provider's own words are lost in one of the shapes that servers use.
  it.each([
    [{ message: 'words' }],
    [{ error: 'words' }],
    [{ error: { message: 'words' } }],
    [{ detail: 'words' }],
    ['{"error":{"message":"words"}}'],
    ['words'],
  ])('finds the words in %j', (body) => {
    expect(fault(400, body).providerMessage).toBe('words');
  });

  it('adds what the upstream of OpenRouter said', () => {
    expect(fault(400, { message: 'Provider returned error', metadata: { raw: 'bad tool schema' } }).providerMessage).toBe('Provider returned error: bad tool schema');
  });

  // Bug: user name, password or a key in the URL or in the answer shows up in an error.
  it('shows no secret', () => {
    for (const status of [400, 401, 402, 403, 404, 413, 429, 500]) {
      const error = fault(status, { message: 'key verysecret, sk-abcdef123456, Authorization: Bearer abcdefghij12345=' });
      expect(`${error.message} ${String(error.providerMessage)}`).not.toMatch(/verysecret|sk-abc|abcdefghij|pw@|key=abc/);
      expect(error.message).toContain('api.example.org:8443');
    }
  });
});

describe('connection faults', () => {
  // Bug: the code hides in the cause of a cause, or in the attempts on several addresses.
  it('finds the code of the cause', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(networkCode(new TypeError('fetch failed', { cause: new AggregateError([refused]) }))).toBe('ECONNREFUSED');
    expect(networkCode(new Error('x'))).toBeNull();
  });

  it.each([
    ['ECONNREFUSED', 'network', 'Nothing listens at api.example.org:8443: is the server running?'],
    ['ENOTFOUND', 'network', 'The name api.example.org cannot be found'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout', 'did not answer in time'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'network', 'is not trusted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'network', 'try http://'],
    ['ECONNRESET', 'network', 'failed (ECONNRESET) before an answer came'],
  ])('%s', (code, kind, sentence) => {
    const error = modelErrorOf(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }), context);
    expect(error.code).toBe(kind);
    expect(error.message).toContain(sentence);
  });
});
