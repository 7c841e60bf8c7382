import { endOf } from './answer.ts';
import { fencedBlocks } from './fences.ts';
import { type ScoreSubject, shown, unknown, type Verdict } from './types.ts';
import { because } from './why.ts';

/** Places in an answer at which a value is tried, and characters looked at for that: enough for prose with brackets in it. */
const MAX_STARTS = 50;
const MAX_SCANNED_CHARS = 4_000_000;

/** 1 when the first JSON value in the final answer (the whole, a fenced block, or bare in the text) is the row's `answer`, whatever the order of keys. */
export function scoreJson({ row, finalAnswer }: ScoreSubject): Verdict {
  const answer = row['answer'];
  if (answer === undefined || answer === null || answer === '') return unknown(because('no_column'));
  if (finalAnswer === null) return { value: 0, detail: because('no_answer') };
  const given = firstJson(endOf(finalAnswer));
  if (given === undefined) return { value: 0, detail: { ...because('no_json'), given: shown(finalAnswer) } };
  const expected = typeof answer === 'string' ? (parsed(answer) ?? { value: answer }).value : answer;
  return { value: sameJson(expected, given.value) ? 1 : 0, detail: { given: shown(given.text) } };
}

function firstJson(text: string): { value: unknown; text: string } | undefined {
  const candidates = [text.trim(), ...fencedBlocks(text).filter((b) => b.language === '' || b.language.startsWith('json')).slice(0, MAX_STARTS).map((b) => b.text)];
  for (const candidate of candidates) {
    const found = parsed(candidate);
    if (found) return { value: found.value, text: candidate };
  }
  return bareJson(text);
}

/** The first object or list that stands whole in a text. */
function bareJson(text: string): { value: unknown; text: string } | undefined {
  let scanned = 0;
  const starts = /[{[]/g;
  for (let tries = 0; tries < MAX_STARTS && scanned < MAX_SCANNED_CHARS; tries++) {
    const start = starts.exec(text)?.index;
    if (start === undefined) return undefined;
    const end = closingOf(text, start);
    scanned += (end ?? text.length) - start;
    if (end === undefined) continue;
    const candidate = text.slice(start, end);
    const found = parsed(candidate);
    if (found) return { value: found.value, text: candidate };
  }
  return undefined;
}

/** Index after the bracket that closes the one at `start`. */
function closingOf(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === '\\') i += 1;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === '{' || c === '[') depth += 1;
    else if ((c === '}' || c === ']') && --depth === 0) return i + 1;
  }
  return undefined;
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Structural equality of two JSON values, however deep. */
export function sameJson(a: unknown, b: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [x, y] = pair;
    if (x === y) continue;
    if (typeof x !== 'object' || typeof y !== 'object' || x === null || y === null || Array.isArray(x) !== Array.isArray(y)) return false;
    const keys = Object.keys(x);
    if (keys.length !== Object.keys(y).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(y, key)) return false;
      pairs.push([(x as Record<string, unknown>)[key], (y as Record<string, unknown>)[key]]);
    }
  }
  return true;
}
