import { expect, test } from 'vitest';
import { Redactor } from './redact.ts';

// data keeps what only looks like a key, and stand-ins such as "lm-studio"; a key that is added later counts too
test('in data only whole known keys are replaced, in all the forms in which they may stand', () => {
  const redactor = new Redactor({ LOCAL_API_KEY: 'lm-studio', OPENAI_API_KEY: 'abcdefgh"12345678/9' });
  const text = 'lm-studio sk-aaaaaaaaaaaaaaaaaaaaaaaa';
  expect(redactor.redactData(text)).toBe(text);
  expect(redactor.redact(text)).toBe('[secret] [secret]');
  expect(redactor.redactData(`${JSON.stringify({ a: 'abcdefgh"12345678/9' })} abcdefgh%2212345678%2F9`)).toBe('{"a":"[secret]"} [secret]');
  redactor.add('another-long-key-42');
  expect(redactor.redactData('another-long-key-42')).toBe('[secret]');
});
