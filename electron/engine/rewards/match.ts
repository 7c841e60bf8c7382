import type { Tolerance } from '#shared/scoring.ts';
import { endOf, expectedAnswers, markedAnswer } from './answer.ts';
import { answerNumber, sameNumber } from './numbers.ts';
import { type ScoreSubject, shown, unknown, type Verdict } from './types.ts';
import { because } from './why.ts';

/**
 * 1 when the final answer, or what it marks as its answer, is the row's `answer` or one of several: apart from letter case, spaces,
 * Markdown's emphasis, quotation marks and a full stop at the end.
 */
export function scoreExact({ row, finalAnswer }: ScoreSubject): Verdict {
  const expected = expectedAnswers(row['answer']);
  if (expected.length === 0) return unknown(because('no_column'));
  if (finalAnswer === null) return { value: 0, detail: { ...because('no_answer'), expected: expected.map((e) => shown(e)) } };
  const whole = endOf(finalAnswer);
  const given = new Set([whole, markedAnswer(whole) ?? whole].map(normalised));
  const found = expected.some((answer) => given.has(normalised(answer)) || given.has(normalised(markedAnswer(answer) ?? answer)));
  return { value: found ? 1 : 0, detail: { expected: expected.slice(0, 20).map((e) => shown(markedAnswer(e) ?? e)), given: shown(markedAnswer(whole) ?? whole) } };
}

/** 1 when the number that the final answer gives is that of the row's `answer` or one of several. See `answerNumber`, `sameNumber`. */
export function scoreNumeric({ row, finalAnswer }: ScoreSubject, tolerance: Tolerance | null): Verdict {
  const answers = expectedAnswers(row['answer']);
  if (answers.length === 0) return unknown(because('no_column'));
  const expected = answers.map((answer) => answerNumber(endOf(answer))).filter((n) => n !== null);
  if (expected.length === 0) return unknown(because('no_number_in_row'), { expected: answers.slice(0, 20).map((e) => shown(e)) });
  const numbers = expected.slice(0, 20).map((n) => written(n));
  if (finalAnswer === null) return { value: 0, detail: { ...because('no_answer'), expected: numbers } };
  const given = answerNumber(endOf(finalAnswer));
  if (given === null) return { value: 0, detail: { ...because('no_number'), expected: numbers, given: shown(finalAnswer) } };
  return { value: expected.some((n) => sameNumber(n, given, tolerance)) ? 1 : 0, detail: { expected: numbers, given: written(given) } };
}

function written({ value, percent, integer }: { value: number; percent: boolean; integer: bigint | null }): string {
  return `${integer === null ? value : shown(String(integer))}${percent ? '%' : ''}`;
}

function normalised(text: string): string {
  return stripEnds(text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' '));
}

const AROUND = new Set(' *_`"\'“”‘’«»$'.split(''));

/** Without regular expressions: `[…]+$` takes quadratic time on a long text of such characters. */
function stripEnds(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && AROUND.has(text[from]!)) from += 1;
  while (to > from && (AROUND.has(text[to - 1]!) || (text[to - 1] === '.' && text[to - 2] !== '.') || text[to - 1] === '!')) to -= 1;
  return text.slice(from, to);
}
