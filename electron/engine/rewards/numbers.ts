import type { Tolerance } from '#shared/scoring.ts';
import { boxedAnswer, hashedAnswer } from './answer.ts';

/** A number as it stood in a text. */
export interface FoundNumber {
  value: number;
  percent: boolean;
  /** All of its digits when it is a whole number, however large; null otherwise. */
  integer: bigint | null;
}

/** Without a tolerance whole numbers must be equal, others may differ by this share, for the digits that somebody rounded off. */
const ROUNDING: Tolerance = { value: 1e-6, relative: true };
/** Of a text without a mark, how much of its end is searched for its last number. */
const SEARCHED_CHARS = 20_000;

/** After `####` stands a number, perhaps with a currency and a unit; otherwise it is a heading of Markdown. */
const HASHED = /^[-+−]?\s?[$€£¥]?\s?[-+−]?(?:\d[\d,]{0,60}(?:\.\d{1,40})?|\.\d{1,40})(?:\s?\/\s?\d{1,15})?\s?\\?%?(?:\s?[\p{L}°$€£¥]{1,20})?\.?$/u;
/** What makes of the numbers in a formula something else than a number. */
const SYMBOLIC = /\\(?:sqrt|pi|log|ln|exp|sin|cos|tan|theta|infty|pm|mp|cup|sum|prod|binom|int)(?![a-zA-Z])/;

/**
 * The number that a text gives as its answer: within `\boxed{…}` or after `####` where it has them, else its last one. Null when there is
 * none, and for a marked answer that is a formula: √2 is not 2.
 */
export function answerNumber(text: string): FoundNumber | null {
  const boxed = boxedAnswer(text);
  if (boxed !== null) return SYMBOLIC.test(boxed) ? null : lastNumber(boxed);
  const hashed = hashedAnswer(text);
  return lastNumber(hashed !== null && HASHED.test(hashed) ? hashed : text);
}

/**
 * Whether `given` is `expected`. A percentage is also equal to its share: 50 % and 0.5.
 * @param tolerance null for the default: whole numbers exactly, others within a millionth.
 */
export function sameNumber(expected: FoundNumber, given: FoundNumber, tolerance: Tolerance | null): boolean {
  if (close(expected, given, tolerance)) return true;
  if (expected.percent === given.percent) return false;
  const share = (n: FoundNumber): FoundNumber => (n.percent ? { value: n.value / 100, percent: false, integer: null } : n);
  return close(share(expected), share(given), tolerance);
}

function close(expected: FoundNumber, given: FoundNumber, tolerance: Tolerance | null): boolean {
  if (tolerance === null && expected.integer !== null && given.integer !== null) return expected.integer === given.integer;
  if (expected.value === given.value) return true;
  const { value, relative } = tolerance ?? ROUNDING;
  // a hair more, so that 0.3 is within 0.1 of 0.2 in binary too
  return Math.abs(expected.value - given.value) <= (relative ? value * Math.abs(expected.value) : value) * (1 + 1e-9) + (tolerance ? Number.EPSILON : 0);
}

const DIGITS = String.raw`(?:\d{1,3}(?:,\d{2,3}){0,12},\d{3}(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)`;
/** Sign, then a mixed number, a fraction (plain or LaTeX), or a number with perhaps a power of ten; then perhaps a percent sign. */
const NUMBER = new RegExp(
  String.raw`(?<![A-Za-z\d_^.]|[_^][{(]?-?)(?<sign>[-+]\s?(?:\$\s?)?)?(?:` +
    String.raw`(?:(?<whole>\d{1,15})\s?)?\\[dt]?frac\s?(?:\{\s?(?<texSign>-?)\s?(?<texNum>${DIGITS})\s?\}|(?<texNum1>\d))\s?(?:\{\s?(?<texDen>${DIGITS})\s?\}|(?<texDen1>\d))` +
    String.raw`|(?:(?<mixed>\d{1,15})\s)?(?<num>\d{1,15})\s?[/⁄]\s?(?<den>\d{1,15})(?![\d/]|\.\d)` +
    String.raw`|(?<base>${DIGITS})(?:\s?(?:×|x|\*|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?[{(]?\s?(?<power>[-+]?\d{1,4})\s?[})]?|[eE](?<exponent>[-+]?\d{1,4})(?![\p{L}\d]))?` +
    String.raw`)(?<percent>\s?(?:\\?%|percent\b))?`,
  'gu',
);

function lastNumber(text: string): FoundNumber | null {
  let last: RegExpExecArray | null = null;
  const end = plain(text.length > SEARCHED_CHARS ? text.slice(-SEARCHED_CHARS) : text);
  for (const match of end.matchAll(NUMBER)) last = match;
  return last === null ? null : numberOf(last, end);
}

/** `10 - 3` and the bullet of `- 3` have no sign; `= - 3` has. */
function isNegative(sign: string | undefined, before: string): boolean {
  if (!sign?.startsWith('-')) return false;
  return !/\s/.test(sign) || /[:=({$≈]\s{0,3}$/.test(before);
}

function numberOf(match: RegExpExecArray, text: string): FoundNumber {
  const g = match.groups as Record<string, string | undefined>;
  const negative = isNegative(g['sign'], text.slice(Math.max(0, match.index - 5), match.index)) !== (g['texSign'] === '-');
  const percent = g['percent'] !== undefined;
  const sign = negative ? -1 : 1;
  if (g['base'] === undefined) {
    const numerator = number(g['texNum'] ?? g['texNum1'] ?? g['num']!);
    const denominator = number(g['texDen'] ?? g['texDen1'] ?? g['den']!);
    const value = sign * (number(g['whole'] ?? g['mixed'] ?? '0') + numerator / denominator);
    return { value, percent, integer: Number.isSafeInteger(value) ? BigInt(value) : null };
  }
  const digits = g['base'].replaceAll(',', '');
  const power = g['power'] ?? g['exponent'];
  const value = sign * Number(power === undefined ? digits : `${digits}e${power}`);
  const integer = power === undefined && /^\d+(?:\.0*)?$/.test(digits) ? BigInt(digits.split('.')[0]!) * BigInt(sign) : Number.isSafeInteger(value) ? BigInt(value) : null;
  return { value, percent, integer };
}

function number(text: string): number {
  return Number(text.replaceAll(',', ''));
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** One spelling for signs, spaces within numbers, powers and full-width digits; a power stays apart from what it is the power of. */
function plain(text: string): string {
  return text
    .replace(/[⁰¹²³⁴-⁹⁻]+/g, (power) => `^${[...power].map((c) => (c === '⁻' ? '-' : SUPERSCRIPTS.indexOf(c))).join('')}`)
    .replace(/[¼½¾⅐-⅞]/g, (c) => ` ${c}`)
    .normalize('NFKC')
    .replace(/[−–‒]/g, '-')
    .replace(/\{,\}/g, ',')
    .replace(/(?<=\d)(?:\\[,!;:]|[\u00a0\u2009\u202f'’_])(?=\d{3}(?!\d))/g, '')
    .replace(/\\(?:left|right|displaystyle|text|mathrm|mathbf)(?![a-z])/g, ' ')
    .replace(/\\[$]/g, '$');
}
