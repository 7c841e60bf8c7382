export interface DiffLine {
  kind: 'file' | 'hunk' | 'add' | 'del' | 'context' | 'note';
  text: string;
  /** Line number in the old or new file, where there is one. */
  old: number | null;
  new: number | null;
}

export interface ParsedDiff {
  lines: DiffLine[];
  added: number;
  removed: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Whether a text reads as a unified diff. */
export function looksLikeDiff(text: string): boolean {
  return /^(--- |diff --git |@@ -\d)/m.test(text) && /^@@ -\d/m.test(text);
}

/**
 * Reads a unified diff line by line. The lengths in each hunk header decide what is body, so a removed line that begins with
 * "-- " is not taken for a file header. Never throws: what is not understood becomes a note.
 */
export function parseDiff(text: string): ParsedDiff {
  const parsed: ParsedDiff = { lines: [], added: 0, removed: 0 };
  let oldLeft = 0;
  let newLeft = 0;
  let oldAt = 0;
  let newAt = 0;
  const push = (kind: DiffLine['kind'], line: string, o: number | null = null, n: number | null = null): void => {
    parsed.lines.push({ kind, text: line, old: o, new: n });
  };
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) {
    const hunk = HUNK.exec(line);
    const inBody = oldLeft > 0 || newLeft > 0;
    if (hunk && !(inBody && line.startsWith(' '))) {
      oldAt = Number(hunk[1]);
      oldLeft = Number(hunk[2] ?? 1);
      newAt = Number(hunk[3]);
      newLeft = Number(hunk[4] ?? 1);
      push('hunk', line);
    } else if (inBody && line.startsWith('+')) {
      parsed.added++;
      newLeft--;
      push('add', line.slice(1), null, newAt++);
    } else if (inBody && line.startsWith('-')) {
      parsed.removed++;
      oldLeft--;
      push('del', line.slice(1), oldAt++, null);
    } else if (inBody && (line.startsWith(' ') || line === '')) {
      oldLeft--;
      newLeft--;
      push('context', line.slice(1), oldAt++, newAt++);
    } else if (/^(diff --git|index |--- |\+\+\+ |new file|deleted file|rename |similarity )/.test(line)) {
      push('file', line);
    } else {
      push('note', line);
    }
  }
  return parsed;
}
