import { expect, test } from 'vitest';
import { formOf, hostOf, keyToSend, problemsOf } from './provider-form.ts';

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
