import { foldUnicode } from './fold-text.ts';
import { closestLines } from './match-text.ts';
import { reindent, splitLines } from './text-lines.ts';
import { ToolError } from './define.ts';
import type { Hunk } from './v4a-parse.ts';

/** How lines are compared, strictest first. */
const KEYS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => line.trim().replace(/\s+/g, ' '),
  (line) => plain(line.trim().replace(/\s+/g, ' ')),
];

function plain(line: string): string {
  return /[^\u0000-\u007f]/.test(line) ? foldUnicode(line).text : line;
}

interface Place {
  at: number;
  remove: number;
  /** Without an end of its own, a line gets the one that most lines of the file have. */
  insert: { text: string; end?: string | undefined }[];
}

/**
 * The content after all hunks of one file. Lines that a hunk keeps stay as they are in the file, with their own line ends.
 * @param path for messages. @throws ToolError when a hunk does not fit, fits in several places, or overlaps another.
 */
export function applyHunks(path: string, content: string, hunks: readonly Hunk[]): string {
  const lines = splitLines(content).map((line) => line.text);
  const ends = content.match(/\r?\n/g) ?? [];
  const crlf = ends.filter((end) => end === '\r\n').length * 2 > ends.length ? '\r\n' : '\n';
  const places: Place[] = [];
  let cursor = 0;
  for (const hunk of hunks) {
    const place = locate(path, content, { lines, ends }, hunk, cursor);
    if (places.some((other) => place.at < other.at + other.remove && other.at < place.at + place.remove)) {
      throw new ToolError(`Two changes of "${path}" touch the same lines (around line ${place.at + 1}). Join them into one. Nothing was changed.`);
    }
    places.push(place);
    cursor = place.at + place.remove;
  }
  return rebuild(lines, ends, crlf, places, /\n$/.test(content) || content === '');
}

function rebuild(lines: readonly string[], ends: readonly string[], newEnd: string, places: readonly Place[], endsWithNewline: boolean): string {
  const out: string[] = [];
  let next = 0;
  const copy = (until: number): void => {
    for (; next < until; next += 1) out.push(lines[next] ?? '', ends[next] ?? newEnd);
  };
  // Stable sort: insertions at one place stay in the order of the patch.
  for (const place of [...places].sort((a, b) => a.at - b.at)) {
    copy(place.at);
    for (const line of place.insert) out.push(line.text, line.end ?? newEnd);
    next += place.remove;
  }
  copy(lines.length);
  if (!endsWithNewline) out.pop();
  return out.join('');
}

function locate(path: string, content: string, file: { lines: readonly string[]; ends: readonly string[] }, hunk: Hunk, cursor: number): Place {
  const { lines, ends } = file;
  const wanted = hunk.lines.filter((line) => line.kind !== 'add').map((line) => line.text);
  const from = afterAnchors(path, content, lines, hunk, cursor);
  if (wanted.length === 0) {
    const at = hunk.anchors.length > 0 && !hunk.atEnd ? from : lines.length;
    return { at, remove: 0, insert: hunk.lines.map((line) => ({ text: line.text })) };
  }
  for (const key of KEYS) {
    const found = find(lines, wanted, key);
    const later = found.filter((at) => at >= from);
    const choice = hunk.atEnd ? found.at(-1) : (later[0] ?? (hunk.anchors.length === 0 ? found[0] : undefined));
    if (choice === undefined) continue;
    if (later.length > 1 && hunk.anchors.length === 0 && !hunk.atEnd) {
      throw new ToolError(
        `The change at line ${hunk.patchLine} of the patch fits ${later.length} places of "${path}" (lines ${later.slice(0, 5).map((at) => at + 1).join(', ')}). ` +
          'Add unchanged lines around it, or a line "@@ …" with a line that stands above it. Nothing was changed.',
      );
    }
    return { at: choice, remove: wanted.length, insert: newLines(hunk, lines, ends, choice) };
  }
  const near = closestLines(content, wanted.join('\n'));
  throw new ToolError(
    `The change at line ${hunk.patchLine} of the patch does not fit "${path}": its unchanged and removed lines do not stand there${hunk.anchors.length > 0 ? ` below "${hunk.anchors.at(-1)}"` : ''}. ` +
      'Read the file again and copy the lines exactly. Nothing was changed.',
    near === null ? {} : { closest_lines: near },
  );
}

/** The lines that replace the found ones: kept lines as they stand in the file, new ones indented as the file is. */
function newLines(hunk: Hunk, lines: readonly string[], ends: readonly string[], at: number): Place['insert'] {
  const out: Place['insert'] = [];
  let index = at;
  let written = '';
  let found = '';
  for (const line of hunk.lines) {
    if (line.kind === 'add') continue;
    if (line.text.trim() !== '') {
      written = line.text;
      found = lines[index] ?? '';
      break;
    }
    index += 1;
  }
  index = at;
  for (const line of hunk.lines) {
    if (line.kind === 'add') out.push({ text: reindent(line.text, written, found) });
    else {
      if (line.kind === 'keep') out.push({ text: lines[index] ?? '', end: ends[index] });
      index += 1;
    }
  }
  return out;
}

/** The first line below all anchors. Each is looked for below the one before, first as a whole line, then as a part of one. */
function afterAnchors(path: string, content: string, lines: readonly string[], hunk: Hunk, cursor: number): number {
  let from = cursor;
  hunk.anchors.forEach((anchor, i) => {
    for (const start of i === 0 ? [from, 0] : [from]) {
      const whole = lines.findIndex((line, at) => at >= start && line.trim() === anchor);
      const part = whole === -1 ? lines.findIndex((line, at) => at >= start && line.includes(anchor)) : whole;
      if (part === -1) continue;
      from = part + 1;
      return;
    }
    const near = closestLines(content, anchor);
    throw new ToolError(`The line "@@ ${anchor}" does not stand in "${path}". Copy a line of the file exactly. Nothing was changed.`, near === null ? {} : { closest_lines: near });
  });
  // A hunk often repeats its anchor as its own first line.
  const repeated = hunk.anchors.length > 0 && hunk.lines[0]?.kind !== 'add' && hunk.lines[0]?.text.trim() === lines[from - 1]?.trim();
  return repeated ? from - 1 : from;
}

function find(lines: readonly string[], wanted: readonly string[], key: (line: string) => string): number[] {
  const keys = wanted.map(key);
  const own = lines.map(key);
  const found: number[] = [];
  for (let at = 0; at + keys.length <= lines.length; at++) {
    if (keys.every((line, j) => own[at + j] === line)) found.push(at);
  }
  return found;
}
