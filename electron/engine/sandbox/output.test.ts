import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnsiStripper, HeadTailBuffer, OutputCollector, stripAnsi } from './output.ts';

describe('AnsiStripper', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['title (OSC, both ends)', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b', 'ab'],
    ['charset', '\u001b(Bx', 'x'],
    ['8-bit CSI', '\u009b2Jx', 'x'],
    ['broken CSI keeps the rest', '\u001b[12\nnext', '\nnext'],
    ['endless OSC is given up at the line end', '\u001b]0;oops\nnext line', '\nnext line'],
    ['restarted sequence', '\u001b[1\u001b[2mx', 'x'],
    ['no sequence', 'plain 文本 😀\r\n\t', 'plain 文本 😀\r\n\t'],
  ])('%s', (_, input, expected) => expect(stripAnsi(input)).toBe(expected));

  it('gives the same text wherever the pieces are cut', () => {
    const piece = fc.constantFrom('\u001b', '[', ']', '31m', '0;t', '\u0007', '\\', 'a', '\n', '\u009b', '(', 'B', '文');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (pieces, size) => {
        const text = pieces.join('');
        const stripper = new AnsiStripper();
        let out = '';
        for (let i = 0; i < text.length; i += size) out += stripper.push(text.slice(i, i + size));
        expect(out).toBe(stripAnsi(text));
      }),
    );
  });
});

describe('HeadTailBuffer', () => {
  it('keeps everything up to the cap and never more than its bounds, however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 30 }), (pieces) => {
        const buffer = new HeadTailBuffer(100);
        for (const piece of pieces) {
          buffer.push(piece);
          expect(buffer.held).toBeLessThanOrEqual(160);
        }
        const text = pieces.join('');
        const shown = buffer.toString();
        if (text.length <= 100) {
          expect(shown).toBe(text);
          return;
        }
        const match = /^([^]*)\n\n\[… ([\d,]+) characters of output left out[^\]]*\]\n\n([^]*)$/.exec(shown);
        const [head = '', left = '', tail = ''] = match?.slice(1) ?? [];
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        expect(head.length + tail.length + Number(left.replaceAll(',', ''))).toBe(text.length);
        expect(head.length).toBeGreaterThanOrEqual(39);
        expect(tail.length).toBeGreaterThanOrEqual(59);
        expect(shown.isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});

describe('OutputCollector', () => {
  it('decodes each stream by itself: a character cut on one must not be torn by bytes of the other', () => {
    const seen: string[] = [];
    const collector = new OutputCollector((text) => seen.push(text));
    const [out, err] = [collector.stream(), collector.stream()];
    const bytes = Buffer.from('é');
    out.write(bytes.subarray(0, 1));
    err.write(Buffer.from('x'));
    out.write(bytes.subarray(1));
    out.write(Buffer.from([0xe4, 0xbd]));
    out.end();
    err.end();
    expect(collector.toString()).toBe('xé\ufffd');
    expect(seen.join('')).toBe('xé\ufffd');
  });

  it('drops control characters: as JSON escapes they would make binary output six times as long', () => {
    const collector = new OutputCollector();
    collector.stream().write(Buffer.from('a\0\u0008b\tc\r\nd\u007f'));
    expect(collector.toString()).toBe('ab\tc\r\nd');
  });
});
