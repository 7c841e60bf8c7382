import i18next, { type TFunction } from 'i18next';
import { expect, test } from 'vitest';
import zh from '../locales/zh-CN.json' with { type: 'json' };
import { refusalText } from './refusal.ts';

const i18n = i18next.createInstance();
await i18n.init({ lng: 'zh-CN', resources: { 'zh-CN': { batch: zh } }, interpolation: { escapeValue: false } });
const t = i18n.getFixedT('zh-CN', 'batch') as unknown as TFunction<['batch', 'app']>;

// Bug: the Chinese page says in English why a line was refused, or loses a reason that it has no word for.
test('a refused line is told in the language of the page', () => {
  const line = { line: 1, excerpt: '', reason: 'English.' };
  expect(refusalText({ ...line, code: 'not_json', params: { column: 12, problem: 'x' } }, t)).toBe('不是有效的 JSON，问题在第 12 列。');
  expect(refusalText({ ...line, code: 'not_json', params: {} }, t)).toBe('不是有效的 JSON。');
  expect(refusalText({ ...line, code: 'prompt_not_text', params: { kind: 'number' } }, t)).toBe('“prompt”必须是文本，这里是数字。');
  expect(refusalText({ ...line, code: 'no_prompt', params: { columns: '"q"' } }, t)).toContain('"q"');
  expect(refusalText(line, t)).toBe('English.');
});
