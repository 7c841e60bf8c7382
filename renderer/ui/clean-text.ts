const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/**
 * Terminal output as it would stand on a screen, without colours: escape sequences are taken out and a line that was overwritten
 * (carriage return) shows what it said last.
 */
export function cleanTerminal(text: string): string {
  const plain = text.includes('\u001b') ? text.replace(ANSI, '') : text;
  if (!plain.includes('\r')) return plain;
  return plain
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line))
    .join('\n');
}

/**
 * Cuts a text to its first lines. `hidden` counts the lines left out; a text cut inside a line hides at least one.
 * @param maxLines, maxChars whichever comes first
 */
export function headOf(text: string, maxLines: number, maxChars: number): { head: string; hidden: number } {
  let at = -1;
  for (let i = 0; i < maxLines; i++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0) break;
  }
  const end = at < 0 || at === text.length - 1 ? text.length : at;
  const cut = Math.min(end, maxChars);
  if (cut === text.length || (cut === end && end === text.length)) return { head: text, hidden: 0 };
  const head = text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(cut - 1)) ? cut - 1 : cut);
  return { head, hidden: Math.max(1, lineCount(text) - lineCount(head)) };
}

/** Lines of a text; a newline at the very end opens no further one. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
