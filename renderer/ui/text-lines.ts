export interface ShownLine {
  text: string;
  /** Index of the line it begins, from 0; null for the further pieces of a very long line. */
  number: number | null;
}

/** Longest piece that is laid out at once, characters. */
export const PIECE_MAX = 2_000;

/** Lines for display: very long ones come in pieces, so that laying one out never blocks. A newline at the end opens no line. */
export function splitLines(text: string, pieceMax = PIECE_MAX): ShownLine[] {
  const shown: ShownLine[] = [];
  const lines = text.split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  lines.forEach((line, number) => {
    if (line.length <= pieceMax) {
      shown.push({ text: line, number });
      return;
    }
    for (let at = 0; at < line.length;) {
      let end = Math.min(line.length, at + pieceMax);
      if (end < line.length && /[\uD800-\uDBFF]/.test(line.charAt(end - 1)) && end - 1 > at) end--;
      shown.push({ text: line.slice(at, end), number: at === 0 ? number : null });
      at = end;
    }
  });
  return shown;
}
