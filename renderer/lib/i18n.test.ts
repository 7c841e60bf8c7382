import { expect, test } from 'vitest';
import { resolveLanguage, resources } from './i18n.ts';

type Words = { [key: string]: string | Words };

/** Dotted keys with the plural ending cut off: languages differ in how many plurals they have. */
function flat(words: Words, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(words)) {
    if (typeof value === 'string') found.set(prefix + key.replace(/_(zero|one|two|few|many|other)$/, ''), value);
    else for (const [k, v] of flat(value, `${prefix}${key}.`)) found.set(k, v);
  }
  return found;
}

const NAMESPACES = Object.keys(resources.en) as (keyof (typeof resources)['en'])[];
const holes = (text: string): string[] => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((m) => m[1] ?? '').toSorted();

// Bug: a Chinese screen with an English sentence, or a raw key, in it.
test.each(NAMESPACES)('%s has the same keys in both languages', (namespace) => {
  const en = flat(resources.en[namespace] as Words);
  const zh = flat(resources['zh-CN'][namespace] as Words);
  expect([...zh.keys()].toSorted()).toEqual([...en.keys()].toSorted());
});

// Bug: "{{count}} 条" never filled because the name of the value differs.
test.each(NAMESPACES)('%s fills the same values in both languages', (namespace) => {
  const zh = flat(resources['zh-CN'][namespace] as Words);
  for (const [key, text] of flat(resources.en[namespace] as Words)) {
    const wanted = new Set(holes(text));
    // `count` chooses the plural; a language may leave the number itself to another value.
    const given = holes(zh.get(key) ?? '').filter((name) => name !== 'count');
    expect(
      given.filter((name) => !wanted.has(name)),
      key,
    ).toEqual([]);
  }
});

// Bug: Chinese needs "_other"; a key with "_one" alone would show as a raw key.
test('every plural has the form that all languages fall back to', () => {
  const check = (words: Words, path: string): void => {
    for (const [key, value] of Object.entries(words)) {
      if (typeof value !== 'string') check(value, `${path}${key}.`);
      else if (key.endsWith('_one')) expect(words, path + key).toHaveProperty([key.replace(/_one$/, '_other')]);
    }
  };
  for (const language of Object.values(resources)) for (const [name, words] of Object.entries(language)) check(words as Words, `${name}:`);
});

test('the system language is the first one the page can speak', () => {
  expect(resolveLanguage('system', ['de-DE', 'zh-Hans-CN', 'en'])).toBe('zh-CN');
  expect(resolveLanguage('system', ['fr', 'en-GB'])).toBe('en');
  expect(resolveLanguage('system', ['fr'])).toBe('en');
  expect(resolveLanguage('zh-CN', ['en'])).toBe('zh-CN');
});
