import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTooDeep, PieceSplitter, splitPieces } from './markdown-pieces.ts';

const line = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('para', '', '', '```', '```sh', '~~~', '- item', '  more', '1. one', '# head', '> quote', '| a | b |', '|---|---|', '    code', '  ```py', 'a `b` ``` c') },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(3_500), 'word '.repeat(1_500), '- long item '.repeat(150), 'y'.repeat(14_000)) },
);
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));

describe('PieceSplitter', () => {
  it('gives the same pieces however the text arrives (catches an answer that looks different once it is stored)', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(4_000), { maxLength: 30 }), (whole, sizes) => {
        const splitter = new PieceSplitter();
        let at = 0;
        for (const size of sizes) {
          splitter.add(whole.slice(at, at + size));
          at += size;
        }
        splitter.add(whole.slice(at));
        expect(splitter.pieces()).toEqual(splitPieces(whole));
      }),
    );
  });

  it('never changes a settled piece, not even its identity (catches flicker, and rendering everything for each word)', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const splitter = new PieceSplitter();
        for (let at = 0; at < whole.length; at += 97) {
          const before = splitter.pieces().slice(0, splitter.settled);
          splitter.add(whole.slice(at, at + 97));
          const after = splitter.pieces();
          before.forEach((piece, i) => expect(after[i]).toBe(piece));
        }
      }),
    );
  });

  it('keeps every piece small (catches one endless line, list or fence that freezes the page)', () => {
    const endless = ['x'.repeat(200_000), 'word '.repeat(40_000), '- item\n'.repeat(20_000), `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(20_000)}`, `\`\`\`\n${'code\n'.repeat(50_000)}`, `\`\`\`\n${'z'.repeat(300_000)}`, '> quote\n'.repeat(20_000)];
    for (const whole of endless) for (const piece of splitPieces(whole)) expect(piece.text.length).toBeLessThanOrEqual(12_000);
  });

  it('takes a fence as code with its language, blank lines and all (catches code read as Markdown)', () => {
    expect(splitPieces('a\n\n```py title="x"\nx = 1\n\n# no heading\n```\nb\n')).toEqual([
      { kind: 'text', text: 'a\n\n' },
      { kind: 'code', text: 'x = 1\n\n# no heading\n', lang: 'py', first: true, last: true },
      { kind: 'text', text: 'b\n' },
    ]);
  });

  it('leaves a fence of a list item in its list (catches steps that lose their command)', () => {
    expect(splitPieces('1. one\n\n   ```sh\n   ls\n\n   ```\n2. two\n')).toHaveLength(1);
  });

  it('closes a fence that ends the text without a line end (catches a code block at the end of an answer without its lower edge)', () => {
    expect(splitPieces('a\n\n```py\nx\n```')).toEqual(splitPieces('a\n\n```py\nx\n```\n'));
  });

  it('does not show the beginning of a closing fence as code (catches a flicker of backticks)', () => {
    expect(splitPieces('```\nx\n``').at(-1)).toEqual({ kind: 'code', text: 'x\n', lang: '', first: true, last: false });
  });

  it('repeats the head of a table that goes on (catches rows shown as lines of bars)', () => {
    const pieces = splitPieces(`| a | b |\n|---|---|\n${'| one | two |\n'.repeat(1_000)}`);
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(piece.text.startsWith('| a | b |\n|---|---|\n')).toBe(true);
  });

  it('loses no line of text or code (catches words that vanish at a border)', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('alpha', '', '- beta', '# gamma', '> delta', '  epsilon'), { maxLength: 400 }), (lines) => {
        const shown = splitPieces(lines.map((l, i) => (l === '' ? '' : `${l}${i}`)).join('\n')).map((p) => p.text).join('');
        expect(shown.split(/\n+/).filter(Boolean)).toEqual(lines.flatMap((l, i) => (l === '' ? [] : [`${l}${i}`])));
      }),
    );
  });
});

describe('isTooDeep', () => {
  it('finds nesting that would take seconds (catches a thousand quotes or lists in one line)', () => {
    expect(isTooDeep('>'.repeat(1_000))).toBe(true);
    expect(isTooDeep(`fine\n${'- '.repeat(500)}x`)).toBe(true);
    expect(isTooDeep('> > - 1. fine')).toBe(false);
    expect(isTooDeep('-'.repeat(400))).toBe(false);
  });
});
