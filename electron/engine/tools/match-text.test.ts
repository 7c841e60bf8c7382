import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, closestLines, matchText, STRATEGIES } from './match-text.ts';

function replace(content: string, oldText: string, newText: string, all = false): { strategy: string; count: number; result: string } | null {
  const matched = matchText(content, oldText, newText, { all });
  return matched && { strategy: matched.strategy, count: matched.edits.length, result: applyEdits(content, matched.edits) };
}

/** One case per strategy that no stricter one can solve: if a strategy breaks, its row fails. */
const CASES: [strategy: string, content: string, oldText: string, newText: string, result: string][] = [
  ['exact', 'a = 1\nb = 2\n', 'b = 2', 'b = 3', 'a = 1\nb = 3\n'],
  ['line_trimmed', 'if x:  \n    y()\t\nz()\n', 'if x:\n    y()\n', 'if x:\n    w()\n', 'if x:\n    w()\nz()\n'],
  ['whitespace_normalised', 'call(a,   b)\nnext\n', 'call(a, b)', 'call(a, c)', 'call(a,   c)\nnext\n'],
  ['whitespace_normalised', '\tif (x) {\n\t\ty();\n\t}\n', '    if (x) {\n        y();\n    }', '    if (x) {\n        z();\n    }', '\tif (x) {\n\t\tz();\n\t}\n'],
  ['indentation_flexible', 'class A:\n    def f(self):\n        return 1\n', 'def f(self):\n    return 1\n', 'def f(self):\n    if x:\n        return 2\n', 'class A:\n    def f(self):\n        if x:\n            return 2\n'],
  ['indentation_flexible', 'x\n\tf();\n\tg();\n', '    f();\n  g();', '    f();\n    h();', 'x\n\tf();\n\th();\n'],
  ['escape_normalised', 'print("a")\nprint("b")\n', 'print(\\"a\\")\\nprint(\\"b\\")', 'print(\\"c\\")', 'print("c")\n'],
  ['trimmed_boundary', 'head\n  one(two)\n', '\n\none(two)  \n', '\n\nthree\n', 'head\n  three\n'],
  ['unicode_normalised', 'say(“héllo” – you’re)\n', 'say("he\u0301llo" - you\'re)', 'say("he\u0301llo" - we\'re)', 'say(“héllo” – we’re)\n'],
  ['unicode_normalised', 'a\u00a0b\u200bc ﬁle\n', 'a bc file', 'a bc file!', 'a\u00a0b\u200bc ﬁle!\n'],
  [
    'block_anchor',
    'function total(items) {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n}\n',
    'function total(items) {\n  let sum = 0;\n  for (const it of items) sum += it.price;\n  return sum\n}',
    'function total(items) {\n  return 1;\n}',
    'function total(items) {\n  return 1;\n}\n',
  ],
  [
    'context_aware',
    'start\nconst colour = "red";\nconst width = 10;\nconst heigth = 20;\nend\n',
    'const colour = "red";\nconst width = 10;\nconst height = 20;',
    'const size = 1;',
    'start\nconst size = 1;\nend\n',
  ],
];

describe('matchText', () => {
  it.each(CASES)('%s: %j', (strategy, content, oldText, newText, result) => {
    expect(replace(content, oldText, newText)).toEqual({ strategy, count: 1, result });
  });

  it('has a case for every strategy', () => expect([...new Set(CASES.map(([strategy]) => strategy))]).toEqual([...STRATEGIES]));

  it.each([
    ['exact, side by side', 'aaaa', 'aa', 'b', 'exact', 2, 'bb'],
    ['lines', 'x \ny\nx \ny\n', 'x\ny', 'z', 'line_trimmed', 2, 'z\nz\n'],
    ['white space', 'f(a,  b) f(a,   b)', 'f(a, b)', 'g', 'whitespace_normalised', 2, 'g g'],
    ['quotes', '‘a’ “a” ‘a’', "'a'", 'b', 'unicode_normalised', 2, 'b “a” b'],
  ])('finds every place: %s', (_, content, oldText, newText, strategy, count, result) => {
    expect(replace(content, oldText, newText, true)).toEqual({ strategy, count, result });
  });

  it('keeps the line ends of the file (a patch of one line must not turn all lines)', () => {
    expect(replace('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny')?.result).toBe('x\r\ny\r\nc\r\n');
    expect(replace('a\r\nb\r\nc\r\n', 'b', 'x\ny')?.result).toBe('a\r\nx\r\ny\r\nc\r\n');
    expect(replace('a \r\nb\r\nc\n', 'a\nb\n', 'x\n')?.result).toBe('x\r\nc\n');
    expect(replace('a\nb\n', 'b', 'x\r\ny')?.result).toBe('a\nx\r\ny\n');
  });

  it('deletes whole lines when the old text has the line end', () => {
    expect(replace('a\n  b \nc\n', '  b\n', '')?.result).toBe('a\nc\n');
  });

  it('is not sure about blocks when asked for all, nor about very different ones', () => {
    const [, content = '', oldText = ''] = CASES.find(([strategy]) => strategy === 'block_anchor') ?? [];
    expect(replace(content, oldText, 'x', true)).toBeNull();
    expect(replace('begin\nalpha\nbeta\nend\n', 'begin\nsomething else entirely\nunlike it\nend', 'x')).toBeNull();
    expect(replace('some text\n', 'other words here', 'x')).toBeNull();
    expect(replace('a  b', '   ', 'x')).toBeNull();
  });

  it('reports two equally good blocks as two places', () => {
    const block = 'start();\nvalue = compute(1);\nfinish();\n';
    expect(replace(block + block, 'start();\nvalue = compute(2);\nfinish();', 'x')?.count).toBe(2);
  });

  it('an exact text is replaced exactly as by hand, whatever it is', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\t', '“', '\\n', 'é'), maxLength: 30 });
    fc.assert(
      fc.property(text, text, text, text, (before, oldText, after, newText) => {
        const content = before + oldText + after;
        // once, also counting places that overlap: of "aa" in "aaa" nobody can say which one was meant
        fc.pre(oldText !== '' && content.indexOf(oldText) === content.lastIndexOf(oldText));
        expect(replace(content, oldText, newText)).toEqual({ strategy: 'exact', count: 1, result: before + newText + after });
      }),
    );
  });

  it('never breaks what it does not replace: edits lie inside the content, in order, without overlap', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '  ', '\n', '\r\n', '\t', '“', '"', '\\n', 'é', 'ﬁ', '😀'), maxLength: 40 });
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (content, oldText, newText, all) => {
        const matched = matchText(content, oldText, newText, { all });
        let last = 0;
        for (const edit of [...(matched?.edits ?? [])].sort((a, b) => a.start - b.start)) {
          expect(edit.start).toBeGreaterThanOrEqual(last);
          expect(edit.end).toBeGreaterThanOrEqual(edit.start);
          last = edit.end;
        }
        expect(last).toBeLessThanOrEqual(content.length);
        expect(applyEdits(content, matched?.edits ?? []).isWellFormed()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('closestLines', () => {
  it('shows the lines that were probably meant, numbered', () => {
    const content = Array.from({ length: 40 }, (_, i) => (i === 19 ? 'def compute_total(items, tax):' : `line ${i + 1}`)).join('\n');
    expect(closestLines(content, 'def compute_totals(items):\n    pass')).toBe('19|line 19\n20|def compute_total(items, tax):\n21|line 21\n22|line 22');
    expect(closestLines('abc\n', 'zzzzzz')).toBeNull();
    expect(closestLines('', 'x')).toBeNull();
  });
});
