import { expect, test } from 'vitest';
import { withEndsOf, withPlainEnds } from './lines.ts';

// Bug: saving one word in a file made on Windows changes every line of it.
test('a file keeps the ends of its lines', () => {
  const file = '---\r\nname: a\r\n---\r\nBody\r\n';
  expect(withPlainEnds(file)).toBe('---\nname: a\n---\nBody\n');
  expect(withEndsOf(withPlainEnds(file), file)).toBe(file);
  expect(withEndsOf('a\nb\n', 'a\r\nb\n')).toBe('a\nb\n');
  expect(withEndsOf('a\nb', 'one line')).toBe('a\nb');
});
