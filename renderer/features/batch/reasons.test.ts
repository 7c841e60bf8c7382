import type { TFunction } from 'i18next';
import { expect, test } from 'vitest';
import { createI18n } from '../../lib/i18n.ts';
import { causeText, reasonText } from './reasons.ts';

// Bug: a code of the engine is shown to people; or a person's own filter is shown as a raw key of the texts.
test('causes and reasons have words, and what has none stays as it is', async () => {
  const t = (await createI18n('en')).getFixedT('en', ['batch', 'app'] as const) as unknown as TFunction<['batch', 'app']>;
  expect(causeText('rate_limit', t)).toBe('provider limit (429)');
  expect(causeText('max_turns', t)).toBe('max turns reached');
  expect(causeText('my own rule', t)).toBe('my own rule');
  expect(causeText('constructor', t)).toBe('constructor');
  expect(reasonText('The limit of 10 model calls was reached.', t)).toBe('max turns reached');
  expect(reasonText('Rate limit reached for kimi-k2', t)).toBe('Rate limit reached for kimi-k2');
  const zh = (await createI18n('zh-CN')).getFixedT('zh-CN', ['batch', 'app'] as const) as unknown as TFunction<['batch', 'app']>;
  expect(reasonText('The budget of this run is used up: $2.01 of $0.50. Resume it with a higher budget.', zh)).toBe('批次预算已用完：已花费 $2.01，上限 $0.50。请提高预算后继续。');
  expect(reasonText('The final answer has 41 characters; 200 are asked for.', zh)).toBe('最终回答有 41 个字符，要求至少 200 个');
  expect(reasonText('It calls "a\\nb", which is no tool that was offered.', zh)).toBe('调用了未提供的工具 "a\\nb"');
  expect(reasonText('It matches answer contains "x.".', zh)).toBe('符合规则 answer contains "x."');
});
