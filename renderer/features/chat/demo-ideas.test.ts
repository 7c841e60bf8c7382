import { expect, test } from 'vitest';
import en from './locales/en.json' with { type: 'json' };
import zh from './locales/zh-CN.json' with { type: 'json' };

// The page's types know no Node.
const { readFileSync } = (await import('node:fs' as string)) as { readFileSync(path: URL, encoding: 'utf8'): string };
const dataset = readFileSync(new URL('../../../resources/demo/prompts.jsonl', import.meta.url), 'utf8');
const prompts = dataset.trim().split('\n').map((line) => (JSON.parse(line) as { prompt: string }).prompt);

// Bug: what a first chat offers is not in the script of the demo, which then can only say that it cannot do it.
test.each([en, zh])('the demo can do what it offers', ({ new: { demoIdea } }) => {
  for (const idea of Object.values(demoIdea)) expect(prompts).toContain(idea);
});
