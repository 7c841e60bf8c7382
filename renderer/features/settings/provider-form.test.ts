import { expect, test } from 'vitest';
import { formOf, hasLimits, hostOf, keyToSend, limitsToSend, problemsOf } from './provider-form.ts';

const empty = formOf(null);

test('says what is wrong with each field', () => {
  expect(problemsOf(empty)).toEqual({ name: 'name', baseUrl: 'baseUrl' });
  expect(problemsOf({ ...empty, name: 'x'.repeat(61), baseUrl: 'ftp://host/v1' })).toEqual({ name: 'nameLong', baseUrl: 'baseUrl' });
  expect(problemsOf({ ...empty, name: 'Lab', baseUrl: 'http://me:secret@host/v1' })).toEqual({ baseUrl: 'credentials' });
  expect(problemsOf({ ...empty, name: 'Lab', baseUrl: ' http://127.0.0.1:8000/v1 ' })).toEqual({});
});

// Bug: saving a form without touching its key forgets the key.
test('an untouched key is kept, an emptied one only on request', () => {
  expect(keyToSend(empty)).toEqual({});
  expect(keyToSend({ ...empty, forgetKey: true })).toEqual({ apiKey: '' });
  expect(keyToSend({ ...empty, apiKey: ' sk-1 ', forgetKey: true })).toEqual({ apiKey: 'sk-1' });
});

test('lists show host and port', () => {
  expect(hostOf('http://10.0.0.8:8000/v1')).toBe('10.0.0.8:8000');
  expect(hostOf('offline:')).toBe('offline:');
});

// Bug: an empty limit is saved as 0 and stops every call; half a route is saved as a fallback.
test('limits: empty is none, and wrong ones are said by field', () => {
  const good = { ...empty, name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1' };
  expect(limitsToSend(good, null)).toEqual({ contextLength: null, concurrency: null, requestsPerMinute: null, tokensPerMinute: null, fallback: null, routing: null });
  const set = { ...good, limits: { ...good.limits, concurrency: '4', contextLength: '32768' }, fallback: ' openrouter/a/b ' };
  expect(limitsToSend(set, null)).toMatchObject({ concurrency: 4, contextLength: 32_768, requestsPerMinute: null, fallback: 'openrouter/a/b' });
  expect([hasLimits(good), hasLimits(set)]).toEqual([false, true]);
  expect(problemsOf({ ...good, limits: { ...good.limits, concurrency: '0', contextLength: '999' }, fallback: 'openrouter' })).toEqual({ concurrency: 'atLeastOne', contextLength: 'contextShort', fallback: 'route' });
});

// Bug: what was set comes back changed, or another provider's form wipes a routing it does not show.
test('routing: the same out as in, and only for OpenRouter', () => {
  const routing = { order: ['anthropic', 'azure'], quantizations: ['fp8'], sort: 'price' as const, allow_fallbacks: false, data_collection: 'deny' as const };
  const limits = { contextLength: null, concurrency: 2, requestsPerMinute: null, tokensPerMinute: null, fallback: null, routing };
  const provider = { id: 'openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', defaultModel: null, key: 'none' as const, keyEnv: null, scripted: false, limits };
  expect(limitsToSend(formOf(provider), limits)).toEqual(limits);
  const form = { ...formOf(provider), routing: { ...formOf(provider).routing, order: ' anthropic ，, azure\n', sort: '' as const } };
  expect(limitsToSend(form, limits).routing).toEqual({ order: ['anthropic', 'azure'], quantizations: ['fp8'], allow_fallbacks: false, data_collection: 'deny' });
  expect(limitsToSend({ ...form, baseUrl: 'http://proxy/v1' }, limits).routing).toEqual(routing);
});
