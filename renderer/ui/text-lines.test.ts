import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitLines } from './text-lines.ts';

it('shows every character once and tears no surrogate pair (catches text lost at the border of two pieces)', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 30 })), fc.integer({ min: 2, max: 9 }), (parts, pieceMax) => {
      const text = parts.join('\n');
      const shown = splitLines(text, pieceMax);
      let back = '';
      shown.forEach((line, i) => (back += (line.number !== null && i > 0 ? '\n' : '') + line.text));
      expect(back).toBe(text.endsWith('\n') && text !== '\n' ? text.slice(0, -1) : text === '\n' ? '' : text);
      for (const line of shown) expect(line.text.length).toBeLessThanOrEqual(pieceMax);
      if (text.isWellFormed()) for (const line of shown) expect(line.text.isWellFormed()).toBe(true);
    }),
  );
});
