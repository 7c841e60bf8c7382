import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitBlocks } from './markdown-blocks.ts';

const line = fc.constantFrom('para', '', '', '```', '```sh', '~~~', '- item', '  more', '1. one', '# head', '> quote', '| a | b |', '    code');

describe('splitBlocks', () => {
  it('loses nothing, and settled blocks never change as text streams in (catches flicker and doubled text)', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const text = lines.join('\n');
        let before: string[] = [];
        for (let end = 0; end <= text.length; end++) {
          const blocks = splitBlocks(text.slice(0, end));
          expect(blocks.join('')).toBe(text.slice(0, end));
          expect(blocks.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
          before = blocks;
        }
      }),
    );
  });

  it('keeps a fence in one piece (catches blank lines inside code that split it)', () => {
    expect(splitBlocks('a\n\n```\nx\n\ny\n```\n\nb\n')).toEqual(['a\n\n', '```\nx\n\ny\n```\n\n', 'b\n']);
  });

  it('keeps a loose list in one piece (catches numbering that starts anew)', () => {
    expect(splitBlocks('1. one\n\n2. two\n\n   more\n\nend\n')).toEqual(['1. one\n\n2. two\n\n   more\n\n', 'end\n']);
  });
});
