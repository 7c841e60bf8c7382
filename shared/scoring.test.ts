import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScoreRule, parseScoreRules, rulesOfRow, SCORE_KINDS, scoreRuleText } from './scoring.ts';

const told = (text: string): string => {
  try {
    parseScoreRule(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`“${text}” was taken`);
};

describe('parseScoreRule', () => {
  // Bug: a part of `[name=]kind[:argument][*weight]` is read as another, e.g. the star of a pattern as a weight.
  it.each([
    ['numeric', { name: 'numeric', kind: 'numeric', weight: 1, tolerance: null }],
    ['numeric:0.5%*2', { kind: 'numeric', weight: 2, tolerance: { value: 0.005, relative: true } }],
    [' right = numeric:1e-3 ', { name: 'right', tolerance: { value: 0.001, relative: false } }],
    ['regex:/a*2/', { kind: 'regex', source: 'a*2', flags: '', weight: 1 }],
    ['regex:/a=b\\/*/i*-.5', { name: 'regex', source: 'a=b\\/*', flags: 'i', weight: -0.5 }],
    ['tests', { each: false, seconds: 30, command: null }],
    ['tests:each,20', { each: true, seconds: 20, command: null }],
    ['tests:20, pytest -q, quick', { each: false, seconds: 20, command: 'pytest -q, quick' }],
    ['tests:each 0.5 make test', { each: true, seconds: 0.5, command: 'make test' }],
    ['tests:each', { each: true, command: null }],
    ['tests:each2', { each: false, command: 'each2' }],
    ['tests:pytest -q*0.5', { command: 'pytest -q', weight: 0.5 }],
    ['tool_errors*-0.1', { kind: 'tool_errors', weight: -0.1 }],
    ['length:200..2000', { target: { min: 200, max: 2000 } }],
    ['length:..2000', { target: { min: 0, max: 2000 } }],
    ['Rating*0', { name: 'rating', weight: 0 }],
  ])('reads %s', (text, meant) => {
    expect(parseScoreRule(text)).toMatchObject({ ...meant, text: text.trim() });
  });

  // Bug: a rule that cannot work is taken, or refused with words that do not say what to write.
  it('says what is wrong', () => {
    expect(told('')).toContain('kinds: exact, numeric');
    expect(told('exakt')).toContain('“exakt” is no rule');
    expect(told('exact:42')).toContain('takes no argument');
    expect(told('numeric:near')).toContain('tolerance');
    expect(told('regex:foo')).toContain('slashes');
    expect(told('regex:/(/')).toContain('not a regular expression');
    expect(told('regex:/a/g')).toContain('only i, m, s and u');
    expect(told('regex:/(a+)+/')).toContain('very long');
    expect(told('tests:0')).toContain('seconds');
    // Bug: a wrong limit is run as a command, and every rollout scores 0.
    for (const limit of ['tests:-3', 'tests:each,-3', 'tests:.5.1']) expect(told(limit)).toContain('neither a time limit nor a command');
    expect(told('length:5..2')).toContain('range');
    expect(told('length:..')).toContain('range');
    expect(told('rating=exact')).toContain('another');
    expect(told('exact*1e999')).toContain('too large');
    expect(told('x'.repeat(3_000))).toContain('2,000');
  });

  // Bug: what the app writes back into a run file means something else.
  it('writes rules as it reads them', () => {
    const argument = fc.constantFrom('numeric:1%', 'numeric:0.25', 'regex:/a|b\\*3/im', 'tests:each,5', 'tests:make test', 'length:1..9', 'length:7..', 'json', 'turns');
    const weight = fc.oneof(fc.constant(1), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
    const name = fc.constantFrom('', 'first=', 'a-b.c=');
    fc.assert(
      fc.property(name, argument, weight, (n, a, w) => {
        const rule = parseScoreRule(`${n}${a}${w === 1 ? '' : `*${w}`}`);
        const { text: _, ...meant } = parseScoreRule(scoreRuleText(rule));
        expect(rule).toMatchObject(meant);
      }),
    );
  });

  // Bug: hostile text makes the reader throw something else than a sentence, or take very long.
  it('takes or refuses any text', () => {
    const start = fc.constantFrom('', 'a=', ...SCORE_KINDS, ...SCORE_KINDS.map((k) => `${k}:`));
    fc.assert(
      fc.property(start, fc.string({ unit: 'binary', maxLength: 60 }), (a, b) => {
        try {
          expect(SCORE_KINDS).toContain(parseScoreRule(a + b).kind);
        } catch (error) {
          expect((error as Error).message).toMatch(/[.:]/);
        }
      }),
    );
    expect(told(' '.repeat(100_000) + '*')).toContain('no rule');
  });
});

describe('parseScoreRules', () => {
  // Bug: two scores of one name, of which the store keeps only one.
  it('gives every rule its own name', () => {
    expect(parseScoreRules(['regex:/a/', 'regex:/b/', 'regex_2=regex:/c/', 'exact']).map((r) => r.name)).toEqual(['regex', 'regex_3', 'regex_2', 'exact']);
    expect(() => parseScoreRules(['a=exact', 'a=json'])).toThrow('called “a”');
  });

  // Bug: a row's own rules are ignored when the file could only hold text.
  it('reads the column of a row as text, lines, JSON or a list', () => {
    expect(rulesOfRow(undefined)).toBeUndefined();
    expect(rulesOfRow('')).toBeUndefined();
    for (const column of ['exact\njson*2', '\nexact, json*2\n', '["exact","json*2"]', ['exact', 'json*2']]) {
      expect(rulesOfRow(column)?.map((r) => [r.name, r.weight])).toEqual([['exact', 1], ['json', 2]]);
    }
    expect(rulesOfRow('tests:20, numeric')?.map((r) => r.text)).toEqual(['tests:20', 'numeric']);
    expect(rulesOfRow('tests:each,5,pytest -q')?.map((r) => r.text)).toEqual(['tests:each,5,pytest -q']);
    expect(rulesOfRow('exact, regex:/a,b\\/,c/i*2, tests:each 5')?.map((r) => r.text)).toEqual(['exact', 'regex:/a,b\\/,c/i*2', 'tests:each 5']);
    expect(() => rulesOfRow({ a: 1 })).toThrow('column “scoring”');
    expect(() => rulesOfRow('[oops')).toThrow('JSON list');
  });
});
