import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScoreRule } from '#shared/scoring.ts';
import { matchPattern } from './pattern.ts';
import { rewardOf, scoreRollout } from './score.ts';
import type { ScoreSubject } from './types.ts';

const { signal } = new AbortController();
const subject = (finalAnswer: string | null, answer?: unknown, more: Partial<ScoreSubject> = {}): ScoreSubject => ({ prompt: 'p', row: answer === undefined ? {} : { answer }, finalAnswer, turns: 3, toolErrors: 2, rating: null, ...more });
const score = async (rule: string, ...given: Parameters<typeof subject>) => (await scoreRollout([parseScoreRule(rule)], subject(...given), { sandbox: null, signal }))[0]!;
const value = async (rule: string, ...given: Parameters<typeof subject>) => (await score(rule, ...given)).value;

describe('numeric', () => {
  // Bug: a right answer counts as wrong because of how it is written, or a wrong one as right because a part of it was read.
  it.each([
    ['So he has 18.', 'Janet sells 16 - 3 - 4 = 9.\n#### 18', 1],
    ['#### 1,234', '1234', 1],
    ['It is $1,234.50 in all.', '1234.5', 1],
    ['10,00,000', '1000000', 1],
    ['\\boxed{42} and 7 more words', '42', 1],
    ['first \\boxed{1}, then \\boxed{\\text{about } 2\\,500}', '2500', 1],
    ['\\boxed{\\frac{3}{4}}', '0.75', 1],
    ['\\boxed{-\\dfrac34}', '-3/4', 1],
    ['\\boxed{1\\frac{1}{2}}', '1.5', 1],
    ['x = 1 1/2', '3/2', 1],
    ['it is ½', '0.5', 1],
    ['50%', '0.5', 1],
    ['50 \\%', '50', 1],
    ['0.5%', '0.5', 1],
    ['0.5', '5%', 0],
    ['1.2e5 J', '120000', 1],
    ['1.2 \\times 10^{5}', '120000', 1],
    ['3×10⁴', '30000', 1],
    ['about −7 °C', '-7', 1],
    ['10-3', '3', 1],
    ['10 - 3', '3', 1],
    ['- 42', '42', 1],
    ['x = -42', '42', 0],
    ['the area is 12 m^2', '12', 1],
    ['the area is 12 m²', '12', 1],
    ['\\boxed{12 \\text{ cm}^2}', '12', 1],
    ['CO2 weighs 44 units', '44', 1],
    ['答案是42', '42', 1],
    ['答案是４２。', '42', 1],
    ['0.333333333', '1/3', 1],
    ['0.33', '1/3', 0],
    ['1000000', '1000001', 0],
    ['12345678901234567890', '12345678901234567891', 0],
    ['#### 4. Check\nThe answer is 9', '9', 1],
    ['\\boxed{\\sqrt{2}}', '2', 0],
    ['no idea', '2', 0],
    ['', '2', 0],
    ['7', '["5", "7"]', 1],
    ['7', 7, 1],
  ])('of %s against %s is %d', async (given, answer, expected) => {
    expect(await value('numeric', given, answer)).toBe(expected);
  });

  // Bug: a tolerance is used as a share when it is a difference, or not at all.
  it('takes the tolerance that the rule gives', async () => {
    expect(await value('numeric:0.1', '0.3', '0.2')).toBe(1);
    expect(await value('numeric:0.1', '0.31', '0.2')).toBe(0);
    expect(await value('numeric:1%', '1009', '1000')).toBe(1);
    expect(await value('numeric:1%', '1011', '1000')).toBe(0);
  });

  // Bug: a row that cannot be compared counts as a wrong answer of the model.
  it('cannot say where the row has no number', async () => {
    expect(await score('numeric', '5')).toMatchObject({ value: null, detail: { why: expect.stringContaining('no answer') } });
    expect(await score('numeric', '5', 'blue')).toMatchObject({ value: null, detail: { why: expect.stringContaining('no number') } });
  });

  // Bug: some number, written as people write numbers, is not read back as itself.
  it('reads every number in every spelling', async () => {
    const spelled = (n: number): string[] => [String(n), n.toLocaleString('en', { maximumFractionDigits: 6 }), `$${n}$`, `\\boxed{${n}}`, `#### ${n}`, `**${n}**.`, n.toExponential(), `${n} km`];
    const number = fc.oneof(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 1000));
    const cases = fc.sample(number, 60);
    for (const n of cases) for (const text of spelled(n)) expect([text, await value('numeric', `Hence: ${text}`.replace('Hence: ####', 'Hence:\n####'), String(n))]).toEqual([text, 1]);
    for (const n of cases) expect([n, await value('numeric', String(n), String(n * 1.01 + 1))]).toEqual([n, 0]);
    for (const [a, b] of fc.sample(fc.tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 999 })), 40)) expect([a, b, await value('numeric', `\\frac{${a}}{${b}}`, `${a}/${b}`)]).toEqual([a, b, 1]);
  });
});

describe('exact', () => {
  // Bug: emphasis, quotation marks or letter case make of the right answer a wrong one; or a part of an answer counts as the whole.
  it.each([
    ['**Paris.**', 'paris', 1],
    ['  New\n York ', 'new york', 1],
    ['“Yes!”', 'yes', 1],
    ['The capital is Paris', 'Paris', 0],
    ['so \\boxed{x^2+1}', '$x^2+1$', 1],
    ['so \\boxed{x^{2}+\\{1\\}}', 'thus \\boxed{x^{2}+\\{1\\}}.', 1],
    ['#### blue', 'blue', 1],
    ['B', ['A', 'B'], 1],
    ['true', true, 1],
    ['...', '.', 0],
  ])('of %s against %s is %d', async (given, answer, expected) => {
    expect(await value('exact', given, answer)).toBe(expected);
  });
});

describe('json', () => {
  // Bug: the order of keys or the prose around a value decides.
  it.each([
    ['{"b":[1,2],"a":null}', { a: null, b: [1, 2] }, 1],
    ['Here you are:\n```json\n{"a": 1.0}\n```\nBye {', '{"a":1}', 1],
    ['I think {not json} but {"a": "}"} is', '{"a":"}"}', 1],
    ['[1,2]', [2, 1], 0],
    ['{"a":1,"b":2}', { a: 1 }, 0],
    ['{"__proto__":1}', {}, 0],
    ['{"__proto__":1}', '{"__proto__":1}', 1],
    ['"yes"', 'yes', 1],
    ['none', { a: 1 }, 0],
    ['[]', {}, 0],
  ])('of %s against %j is %d', async (given, answer, expected) => {
    expect(await value('json', given, answer)).toBe(expected);
  });
});

describe('the other rules', () => {
  // Bug: a count, a length or a rating has another value than the contract of its kind says.
  it('give their values', async () => {
    expect(await value('turns', 'x')).toBe(3);
    expect(await value('tool_errors', 'x')).toBe(2);
    expect(await value('length', 'four')).toBe(4);
    expect(await value('length:8..', 'four')).toBe(0.5);
    expect(await value('length:..2', 'four')).toBe(0.5);
    expect(await value('length:2..4', 'four')).toBe(1);
    expect(await value('length:2..', null)).toBe(0);
    expect(await value('rating', 'x')).toBeNull();
    expect(await value('rating', 'x', undefined, { rating: 4 })).toBe(0.75);
    expect(await score('regex:/(so )?be it/i', 'So be it!')).toMatchObject({ value: 1, detail: { found: 'So be it' } });
    expect(await value('regex:/^x$/', 'xy')).toBe(0);
    expect(await value('regex:/^$/', null)).toBe(0);
    expect(await score('tests', 'x')).toMatchObject({ value: null, detail: { why: expect.stringContaining('no tests') } });
  });

  // Bug: an unknown value counts as 0 in the reward, or a rule that is only kept counts at all.
  it('add up to a reward', () => {
    expect(rewardOf([{ value: 1, weight: 2 }, { value: null, weight: 5 }, { value: 3, weight: -0.5 }, { value: 9, weight: 0 }])).toBe(0.5);
    expect(rewardOf([{ value: null, weight: 1 }, { value: 9, weight: 0 }])).toBeNull();
    expect(rewardOf([])).toBeNull();
  });
});

describe('hostile answers', () => {
  const rules = ['exact', 'numeric', 'json', 'length', 'regex:/^x+$/', 'turns'].map((r) => parseScoreRule(r));
  const all = async (text: string) => (await scoreRollout(rules, subject(text, '42'), { sandbox: null, signal })).map((s) => s.value);

  // Bug: a long answer of an unlucky shape holds the engine up for minutes, or throws.
  it.each([
    ['brackets', '['.repeat(10_000_000)],
    ['pairs of brackets', '[1,'.repeat(3_000_000)],
    ['closed brackets', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
    ['digits', '9'.repeat(10_000_000)],
    ['groups of digits', '11,'.repeat(3_000_000)],
    ['spaces', ' '.repeat(10_000_000)],
    ['stars', `x${'*'.repeat(10_000_000)}x`],
    ['open boxes', '\\boxed{'.repeat(1_000_000)],
    ['fences', '```\n'.repeat(1_000_000)],
    ['lone surrogates', '\ud800 42 \udfff'.repeat(100)],
    ['NULs', '\0'.repeat(1_000_000)],
  ])('%s are looked at in little time', async (_, text) => {
    const before = performance.now();
    const values = await all(text);
    expect(values).toHaveLength(rules.length);
    expect(values.at(-3)).toBe(text.length);
    // minutes when the work grows with the square of the length; generous for a machine that has much to do
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  // Bug: a pattern that takes for ever stops the engine, or every pattern after it.
  it('patterns are given up after a while, and the next one works', async () => {
    const slow = matchPattern('a*a*a*a*a*b', '', 'a'.repeat(100_000), signal, 100);
    const next = matchPattern('b+', '', 'abb', signal);
    expect(await slow).toContain('took longer than 0.1 seconds');
    expect(await next).toEqual({ found: 'bb' });
    expect(await matchPattern('b', '', 'b', AbortSignal.abort())).toBe('It was stopped.');
  });
});
