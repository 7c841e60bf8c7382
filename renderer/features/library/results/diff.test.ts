import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksLikeDiff, parseDiff } from './diff.ts';

describe('parseDiff', () => {
  it('gives both files back (catches lines lost, miscounted or taken for headers)', () => {
    const line = fc.constantFrom('alpha', '-- a comment of SQL', '++ more', '', '@@ -1 +1 @@', 'beta', ' indented');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (before, after) => {
        const text = (lines: string[]): string => lines.map((l) => `${l}\n`).join('');
        const patch = createTwoFilesPatch('a', 'b', text(before), text(after), '', '', { context: 100 });
        const { lines, added, removed } = parseDiff(patch);
        const of = (kinds: string[]): string[] => lines.filter((l) => kinds.includes(l.kind)).map((l) => l.text);
        if (text(before) === text(after)) return;
        expect(of(['context', 'del'])).toEqual(before);
        expect(of(['context', 'add'])).toEqual(after);
        expect(added).toBe(of(['add']).length);
        expect(removed).toBe(of(['del']).length);
      }),
    );
  });

  it('numbers lines on both sides (catches numbers that run on over deleted lines)', () => {
    const { lines } = parseDiff('--- a\n+++ b\n@@ -3,3 +3,3 @@\n same\n-old\n+new\n end\n');
    expect(lines.filter((l) => l.kind !== 'file' && l.kind !== 'hunk').map((l) => [l.old, l.new])).toEqual([[3, 3], [4, null], [null, 4], [5, 5]]);
  });

  it('never throws on other text (catches a crash of the view on a cut diff)', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseDiff(text)));
    expect(parseDiff('@@ -1,5 +1,5 @@\n-cut').lines.map((l) => l.kind)).toEqual(['hunk', 'del']);
  });

  it('tells a diff from prose (catches Markdown lists drawn as diffs)', () => {
    expect(looksLikeDiff('- one\n- two\n+ three')).toBe(false);
    expect(looksLikeDiff('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b')).toBe(true);
  });
});
