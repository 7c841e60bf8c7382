import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charsOf, cutChars, joinEntries, splitEntries, usageOf } from './text.ts';

test('entries come back as they were, whatever they hold (#54403, #17471)', () => {
  // Bug: a line "§" in an entry became a delimiter, and one entry two.
  const line = fc.constantFrom('§', '\\§', '\\\\§', ' §', '§ 5 BGB', 'a', '', '# title', '═══');
  const entry = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n').trim()).filter((text) => text !== '');
  fc.assert(
    fc.property(fc.uniqueArray(entry, { maxLength: 5 }), (entries) => {
      expect(splitEntries(joinEntries(entries))).toEqual(entries);
    }),
  );
});

test('the file is the one that Hermes reads and writes', () => {
  // Bug: a delimiter of our own, so that a memory could not be carried from one to the other.
  expect(joinEntries(['one', 'two\nlines'])).toBe('one\n§\ntwo\nlines');
  expect(splitEntries('one\n§\ntwo\nlines\n§\n  one \n§\n\n§\n')).toEqual(['one', 'two\nlines']);
});

test('what people write by hand is kept: raw Markdown, Windows lines, delimiters at the ends (#32965, #56464)', () => {
  // Bug: a file without delimiters, or with \r\n around them, counted as empty.
  const markdown = '# Me\n\n- likes tea\n- uses *vim*\n\n```sh\nls\n```';
  expect(splitEntries(`${markdown}\n`)).toEqual([markdown]);
  expect(splitEntries('§\r\na\r\n§\r\nb\r\n§\r\n')).toEqual(['a', 'b']);
});

test('characters are code points, delimiters included', () => {
  // Bug: emoji and rare Chinese counted twice, so that usage differed from that of Hermes.
  expect(charsOf(['😀𠮷', 'ab'])).toBe(2 + 3 + 2);
  expect(cutChars('😀𠮷x', 2)).toBe('😀𠮷');
  expect(usageOf(1_474, 2_200)).toBe('67% — 1,474/2,200 chars');
});
