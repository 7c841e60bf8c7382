import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanTerminal, headOf, lineCount } from './clean-text.ts';

describe('cleanTerminal', () => {
  it('takes colours, links and titles out (catches [31m in the view)', () => {
    expect(cleanTerminal('\u001b[1;31merror\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\u001b[K')).toBe('error link');
  });
  it('shows the last state of a progress bar, and leaves CRLF alone (catches a thousand lines of progress in one)', () => {
    expect(cleanTerminal('10%\r50%\r100%\ndone\r\nnext\r\n')).toBe('100%\ndone\nnext\n');
  });
});

describe('headOf', () => {
  it('answers a beginning of the text and counts what is hidden (catches "show 0 more lines")', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 12 }).map((s) => s.replace(/\n/g, '')), { maxLength: 20 }), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 }), (lines, maxLines, maxChars) => {
        const text = lines.join('\n');
        const { head, hidden } = headOf(text, maxLines, maxChars);
        expect(text.startsWith(head)).toBe(true);
        expect(head.length).toBeLessThanOrEqual(Math.max(maxChars, hidden === 0 ? text.length : 0));
        expect(hidden === 0).toBe(head === text);
        if (head === text) expect(lineCount(text)).toBeLessThanOrEqual(maxLines);
      }),
    );
  });
});
