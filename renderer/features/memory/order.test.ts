import { expect, it } from 'vitest';
import type { MemoryEntry } from '#shared/contract/memory.ts';
import { partsOf } from './hidden.ts';
import { countChars, shownEntries } from './order.ts';

const entry = (text: string, createdAt: number, uses: number, usedAt: number | null = null): MemoryEntry => ({
  id: text, text, createdAt, usedAt, uses, author: 'agent', trajectoryId: null, trajectoryTitle: null, reviewId: null, warnings: [], blocked: false, inPrompt: 'whole',
});

it('finds by all words and sorts without touching the order of what is equal (catches rows that jump)', () => {
  const entries = [entry('Uses PNPM here', 3, 1), entry('port 80', 1, 5, 9), entry('uses vim', 2, 1)];
  const texts = (query: string, order: Parameters<typeof shownEntries>[2]) => shownEntries(entries, query, order).map((e) => e.text);
  expect(texts('uses', 'file')).toEqual(['Uses PNPM here', 'uses vim']);
  expect(texts(' here  pnpm ', 'file')).toEqual(['Uses PNPM here']);
  expect(texts('', 'oldest')).toEqual(['port 80', 'uses vim', 'Uses PNPM here']);
  expect(texts('', 'newest')).toEqual(['Uses PNPM here', 'uses vim', 'port 80']);
  expect(texts('', 'most')).toEqual(['port 80', 'Uses PNPM here', 'uses vim']);
  expect(texts('', 'least')).toEqual(['Uses PNPM here', 'uses vim', 'port 80']);
  expect(countChars('😀a')).toBe(2);
});

it('shows what is hidden in a text, and leaves emoji and scripts alone (catches an attack that a person cannot see)', () => {
  expect(partsOf('a\u200b\u202eb')).toEqual([{ text: 'a', hidden: null }, { text: '\u200b\u202e', hidden: ['U+200B', 'U+202E'] }, { text: 'b', hidden: null }]);
  const tags = String.fromCodePoint(0xe0049, 0xe0067, 0xe006e, 0xe006f, 0xe0072);
  expect(partsOf(`x${tags}`)[1]!.hidden).toEqual(['U+E0049', 'U+E0067', 'U+E006E', '+2']);
  expect(partsOf('👩‍👩‍👧 line\nnext\ttab')).toEqual([{ text: '👩‍👩‍👧 line\nnext\ttab', hidden: null }]);
});
