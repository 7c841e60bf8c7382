/** One line of a text; `end` is before its line end (CR LF or LF). */
export interface Line {
  text: string;
  start: number;
  end: number;
}

const TAB_COLUMNS = 4;

/** The lines of a text. A final line end does not start another line; an empty text has none. */
export function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const stop = text.indexOf('\n', start);
    const next = stop === -1 ? text.length : stop;
    const end = stop > start && text[stop - 1] === '\r' ? stop - 1 : next;
    lines.push({ text: text.slice(start, end), start, end });
    start = next + 1;
  }
  return lines;
}

/** The width of a line's indentation; a tab counts as four columns. */
export function indentColumns(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === ' ') columns += 1;
    else if (char === '\t') columns += TAB_COLUMNS;
    else break;
  }
  return columns;
}

/**
 * Moves every line of `text` by the difference between two lines' indentation, and indents with what `found` indents with.
 * @param written the line as the model wrote it. @param found the same line as it stands in the file.
 */
export function reindent(text: string, written: string, found: string): string {
  const foundIndent = /^[ \t]*/.exec(found)?.[0] ?? '';
  const writtenIndent = /^[ \t]*/.exec(written)?.[0] ?? '';
  if (foundIndent === writtenIndent) return text;
  const shift = indentColumns(found) - indentColumns(written);
  const tabs = foundIndent.includes('\t') || (foundIndent === '' && writtenIndent.includes('\t'));
  return text
    .split('\n')
    .map((line) => {
      if (line.trim() === '') return line;
      const columns = Math.max(0, indentColumns(line) + shift);
      const indent = tabs ? '\t'.repeat(Math.floor(columns / TAB_COLUMNS)) + ' '.repeat(columns % TAB_COLUMNS) : ' '.repeat(columns);
      return indent + line.trimStart();
    })
    .join('\n');
}
