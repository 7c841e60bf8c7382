import { createHash } from 'node:crypto';

/** Between two entries of a memory file (Hermes Agent's). It counts into the limit. */
const DELIMITER = '\n§\n';

/** A line that would be read as a delimiter, with the backslashes that keep it from being one. */
const DELIMITER_LINE = /^(\\*)§$/gm;

/**
 * The entries of a memory file: stripped, empty ones and repeats left out. Text without any delimiter is one entry, whatever it is. A
 * line with only "\§" is a line "§" of its entry: so what holds the delimiter comes back as it was.
 */
export function splitEntries(raw: string): string[] {
  const parts = raw.replaceAll('\r\n', '\n').split(/(?:^|\n)§(?=\n|$)/);
  return [...new Set(parts.map((part) => decoded(part.trim())).filter((entry) => entry !== ''))];
}

/** The file of these entries. `splitEntries(joinEntries(entries))` gives them back, when they are stripped, not empty and each once. */
export function joinEntries(entries: readonly string[]): string {
  return entries.map(encoded).join(DELIMITER);
}

function encoded(entry: string): string {
  return entry.replace(DELIMITER_LINE, '\\$1§');
}

function decoded(part: string): string {
  return part.replace(DELIMITER_LINE, (line, slashes: string) => (slashes === '' ? line : line.slice(1)));
}

/** Characters as people and Hermes count them: code points. */
export function countChars(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Of the file that these entries make. */
export function charsOf(entries: readonly string[]): number {
  return countChars(joinEntries(entries));
}

/** The first `chars` code points. */
export function cutChars(text: string, chars: number): string {
  let end = 0;
  let count = 0;
  for (const char of text) {
    if (count === chars) break;
    count++;
    end += char.length;
  }
  return text.slice(0, end);
}

/** One line, short enough to be shown beside others. */
export function preview(text: string, chars = 80): string {
  const line = cutChars(text, 4 * chars).replace(/\s+/g, ' ').trim();
  return countChars(line) > chars ? `${cutChars(line, chars - 1)}…` : line;
}

/** SHA-256, hex. */
export function entryId(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** E.g. "67% — 1,474/2,200 chars". */
export function usageOf(chars: number, limit: number): string {
  const grouped = new Intl.NumberFormat('en-US');
  return `${Math.floor((chars / limit) * 100)}% — ${grouped.format(chars)}/${grouped.format(limit)} chars`;
}
