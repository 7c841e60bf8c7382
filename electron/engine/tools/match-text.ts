import { similarTo } from './similarity.ts';
import { foldUnicode, foldWhitespace } from './fold-text.ts';
import type { Folded } from './fold-text.ts';
import { reindent, splitLines } from './text-lines.ts';
import type { Line } from './text-lines.ts';

/** The ways in which a text is looked for, strictest first. */
export const STRATEGIES = [
  'exact', 'line_trimmed', 'whitespace_normalised', 'indentation_flexible', 'escape_normalised', 'trimmed_boundary', 'unicode_normalised', 'block_anchor', 'context_aware',
] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** One place, and what comes there instead. Offsets are UTF-16 units of the content. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

export interface Matched {
  strategy: Strategy;
  edits: Edit[];
}

/** The forgiving strategies compare letter by letter; larger contents only get the first two, so that the engine stays responsive. */
const MAX_FUZZY_CHARS = 400_000;
/** Places that are looked at closely, and how often a line may occur to be a hint of a place. */
const MAX_CANDIDATES = 30;
const MAX_REPEATS = 100;
/** Blocks that are compared. When there are more, no place is certain. */
const MAX_COMPARISONS = 100;
const MAX_CLOSEST_LINES = 5_000;
const BLOCK_MIN_LINES = 3;
const BLOCK_MIN_SIMILARITY = 0.6;
const BLOCK_LENGTH_SLACK = 0.25;
const CONTEXT_MIN_AVERAGE = 0.8;
const CONTEXT_MIN_LINE = 0.4;
/** A second candidate this close to the best one makes the place uncertain. */
const CONTEXT_MARGIN = 0.1;

/**
 * Finds every place where `oldText` stands in `content` by the first strategy that finds any, and says how to put `newText` there:
 * with the indentation, line ends and typography of the file where only those differed. Empty when nothing is found.
 * @param options.all only strategies that are certain about every place.
 */
export function matchText(content: string, oldText: string, newText: string, options: { all?: boolean } = {}): Matched | null {
  const search: Search = { content, oldText, newText: withLineEndsOf(content, newText), lines: splitLines(content), oldLines: oldLinesOf(oldText) };
  const fuzzy = content.length <= MAX_FUZZY_CHARS && oldText.trim() !== '';
  const steps: [Strategy, (search: Search) => Edit[], boolean][] = [
    ['exact', exact, true],
    ['line_trimmed', lineTrimmed, oldText.trim() !== ''],
    ['whitespace_normalised', (s) => folded(s, foldWhitespace), fuzzy],
    ['indentation_flexible', indentationFlexible, fuzzy],
    ['escape_normalised', escapeNormalised, fuzzy],
    ['trimmed_boundary', trimmedBoundary, fuzzy],
    ['unicode_normalised', (s) => folded(s, foldUnicode), fuzzy && !(isAscii(content) && isAscii(oldText))],
    ['block_anchor', blockAnchor, fuzzy && !options.all],
    ['context_aware', contextAware, fuzzy && !options.all],
  ];
  for (const [strategy, find, enabled] of steps) {
    const edits = enabled ? find(search) : [];
    if (edits.length > 0) return { strategy, edits };
  }
  return null;
}

/** The content with all edits in place. Edits must not overlap. */
export function applyEdits(content: string, edits: readonly Edit[]): string {
  let out = '';
  let from = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    out += content.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return out + content.slice(from);
}

interface Search {
  content: string;
  oldText: string;
  newText: string;
  lines: readonly Line[];
  oldLines: readonly string[];
}

/** Without the empty piece after a final line end. */
function oldLinesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

function withLineEndsOf(content: string, text: string): string {
  const crlf = content.split('\r\n').length - 1;
  return crlf > 0 && crlf * 2 > content.split('\n').length - 1 && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}

function exact({ content, oldText, newText }: Search): Edit[] {
  const direct = occurrences(content, oldText, newText);
  if (direct.length > 0 || !oldText.includes('\n') || oldText.includes('\r')) return direct;
  return occurrences(content, oldText.replaceAll('\n', '\r\n'), newText);
}

function occurrences(content: string, wanted: string, text: string): Edit[] {
  const edits: Edit[] = [];
  if (wanted === '') return edits;
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, at + wanted.length)) {
    edits.push({ start: at, end: at + wanted.length, text });
  }
  return edits;
}

function lineTrimmed(search: Search): Edit[] {
  return windows(search, (line) => line.trimEnd()).map((first) => editOf(search, first, search.oldLines.length, search.newText));
}

function indentationFlexible(search: Search): Edit[] {
  return windows(search, (line) => line.trim()).map((first) => indented(search, first, search.oldLines.length));
}

/** First lines of all windows whose lines equal the wanted ones by `key`, without overlap. */
function windows({ lines, oldLines }: Search, key: (line: string) => string): number[] {
  const wanted = oldLines.map(key);
  const found: number[] = [];
  for (let i = 0; i + wanted.length <= lines.length; i++) {
    if (!wanted.every((line, j) => key(lines[i + j]?.text ?? '') === line)) continue;
    found.push(i);
    i += wanted.length - 1;
  }
  return found;
}

/** Replaces whole lines; the last line end only when the old text had one. */
function editOf({ content, lines, oldText }: Search, first: number, count: number, text: string): Edit {
  const last = lines[first + count - 1];
  const end = last?.end ?? content.length;
  if (!oldText.endsWith('\n')) return { start: lines[first]?.start ?? 0, end, text };
  const next = content.startsWith('\r\n', end) ? end + 2 : Math.min(content.length, end + 1);
  return { start: lines[first]?.start ?? 0, end: next, text };
}

/** As `editOf`, with the new text moved to where the found lines are indented. */
function indented(search: Search, first: number, count: number): Edit {
  const at = search.oldLines.findIndex((line) => line.trim() !== '');
  const found = search.lines.slice(first, first + count).find((line) => line.text.trim() !== '');
  return editOf(search, first, count, reindent(search.newText, search.oldLines[at] ?? '', found?.text ?? ''));
}

/**
 * Finds by folded text. What the old and the new text have in common at both ends is left in the file as it stands, so that a
 * change of one word does not also straighten the quotes around it.
 */
function folded({ content, oldText, newText }: Search, fold: (text: string) => Folded): Edit[] {
  const wanted = fold(oldText);
  const here = fold(content);
  if (wanted.text === '' || wanted.text === '\n') return [];
  const before = commonStart(oldText, newText);
  const after = commonEnd(oldText, newText, before);
  const keepStart = wanted.to.findIndex((end) => end > before);
  const skip = keepStart === -1 ? wanted.text.length : keepStart;
  let drop = 0;
  while (drop < wanted.text.length - skip && (wanted.from[wanted.text.length - 1 - drop] ?? 0) >= oldText.length - after) drop += 1;
  const newStart = skip === 0 ? 0 : (wanted.to[skip - 1] ?? 0);
  const newEnd = drop === 0 ? newText.length : newText.length - (oldText.length - (wanted.from[wanted.text.length - drop] ?? oldText.length));
  return occurrences(here.text, wanted.text, '').map(({ start, end }) => {
    const from = skip === 0 ? (here.from[start] ?? 0) : (here.to[start + skip - 1] ?? 0);
    const to = drop === 0 ? (here.to[end - 1] ?? content.length) : (here.from[end - drop] ?? content.length);
    return { start: from, end: Math.max(from, to), text: newText.slice(newStart, Math.max(newStart, newEnd)) };
  });
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

function commonStart(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i += 1;
  return i;
}

function commonEnd(a: string, b: string, start: number): number {
  let i = 0;
  while (i < Math.min(a.length, b.length) - start && a[a.length - 1 - i] === b[b.length - 1 - i]) i += 1;
  return i;
}

/** The model wrote `\n` for a line end: JSON escapes once too often. */
function escapeNormalised({ content, oldText, newText }: Search): Edit[] {
  const plain = unescape(oldText);
  return plain === oldText ? [] : exact({ content, oldText: plain, newText: withLineEndsOf(content, unescape(newText)), lines: [], oldLines: [] });
}

function unescape(text: string): string {
  const plain: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
  return text.replace(/\\([ntr"'`\\])/g, (_, char: string) => plain[char] ?? char);
}

/** White space before and behind the text does not count; what was left out of the old text is left out of the new one too. */
function trimmedBoundary({ content, oldText, newText }: Search): Edit[] {
  const inner = oldText.trim();
  if (inner === oldText) return [];
  let text = newText;
  if (oldText.trimStart() !== oldText) text = text.trimStart();
  if (oldText.trimEnd() !== oldText) text = text.trimEnd();
  return exact({ content, oldText: inner, newText: text, lines: [], oldLines: [] });
}

/** First and last line are right, what is between is nearly right. */
function blockAnchor(search: Search): Edit[] {
  const wanted = search.oldLines.map((line) => line.trim());
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (wanted.length < BLOCK_MIN_LINES || !first || !last) return [];
  const slack = Math.ceil(wanted.length * BLOCK_LENGTH_SLACK);
  const alike = similarTo(wanted.slice(1, -1).join('\n'));
  const trimmed = search.lines.map((line) => line.text.trim());
  const edits: Edit[] = [];
  let comparisons = 0;
  for (let i = trimmed.indexOf(first); i !== -1; i = trimmed.indexOf(first, i + 1)) {
    let best = { score: 0, count: 0 };
    for (let count = Math.max(BLOCK_MIN_LINES, wanted.length - slack); count <= wanted.length + slack; count++) {
      if (trimmed[i + count - 1] !== last) continue;
      if (++comparisons > MAX_COMPARISONS) return [];
      const score = alike(trimmed.slice(i + 1, i + count - 1).join('\n'));
      if (score > best.score) best = { score, count };
    }
    if (best.score >= BLOCK_MIN_SIMILARITY) edits.push(indented(search, i, best.count));
  }
  return withoutOverlap(edits);
}

function withoutOverlap(edits: readonly Edit[]): Edit[] {
  let last = -1;
  return edits.filter((edit) => {
    if (edit.start < last) return false;
    last = edit.end;
    return true;
  });
}

/** As many lines, some of them exactly right and all of them alike. */
function contextAware(search: Search): Edit[] {
  const wanted = search.oldLines.map((line) => line.trim());
  if (wanted.length < 2) return [];
  const alike = wanted.map(similarTo);
  const scored = candidates(search.lines, wanted)
    .map((first) => {
      const scores = alike.map((score, j) => score(search.lines[first + j]?.text.trim() ?? ''));
      return { first, average: scores.reduce((sum, score) => sum + score, 0) / scores.length, worst: Math.min(...scores) };
    })
    .filter(({ average, worst }) => average >= CONTEXT_MIN_AVERAGE && worst >= CONTEXT_MIN_LINE)
    .sort((a, b) => b.average - a.average);
  const best = scored[0]?.average ?? 0;
  return scored.filter(({ average }) => average > best - CONTEXT_MARGIN).map(({ first }) => indented(search, first, wanted.length));
}

/** First lines of the windows in which most lines are exactly where they should be. */
function candidates(lines: readonly Line[], wanted: readonly string[]): number[] {
  const places = new Map<string, number[]>(wanted.filter((line) => line.length >= 4).map((line) => [line, []]));
  lines.forEach((line, i) => places.get(line.text.trim())?.push(i));
  const votes = new Map<number, number>();
  wanted.forEach((line, j) => {
    const found = places.get(line) ?? [];
    if (found.length > MAX_REPEATS) return;
    for (const i of found) {
      if (i >= j && i - j + wanted.length <= lines.length) votes.set(i - j, (votes.get(i - j) ?? 0) + 1);
    }
  });
  return [...votes].sort((a, b) => b[1] - a[1]).slice(0, MAX_CANDIDATES).map(([first]) => first);
}

/** The part of `content` that is most like `wanted`, numbered, for an error message; null when nothing is like it. */
export function closestLines(content: string, wanted: string): string | null {
  const lines = splitLines(content).slice(0, MAX_CLOSEST_LINES);
  const oldLines = wanted.split('\n');
  const longest = oldLines.reduce((best, line, i) => (line.trim().length > (oldLines[best]?.trim().length ?? 0) ? i : best), 0);
  const key = oldLines[longest]?.trim().slice(0, 300) ?? '';
  const alike = similarTo(key);
  let best = { score: 0.4, at: -1 };
  lines.forEach((line, at) => {
    const score = alike(line.text.trim().slice(0, 300));
    if (score > best.score) best = { score, at };
  });
  if (best.at === -1) return null;
  const from = Math.max(0, best.at - longest - 1);
  const to = Math.min(lines.length, from + Math.min(oldLines.length, 12) + 2);
  return lines.slice(from, Math.max(to, best.at + 1)).slice(0, 15).map((line, i) => `${from + i + 1}|${line.text.slice(0, 300)}`).join('\n');
}

