import { indentColumns } from './text-lines.ts';

/** A text made simpler for comparing, with the source range [from, to) of each of its UTF-16 units. */
export interface Folded {
  text: string;
  from: number[];
  to: number[];
}

const QUOTES_AND_DASHES: Readonly<Record<string, string>> = {
  '\u2018': "'", '\u2019': "'", '\u201a': "'", '\u201b': "'", '\u2032': "'",
  '\u201c': '"', '\u201d': '"', '\u201e': '"', '\u201f': '"', '\u2033': '"', '\u00ab': '"', '\u00bb': '"',
  '\u2010': '-', '\u2011': '-', '\u2012': '-', '\u2013': '-', '\u2014': '-', '\u2015': '-', '\u2212': '-',
  '\u200b': '', '\u200c': '', '\u200d': '', '\u2060': '', '\ufeff': '',
};

class Folder {
  private readonly parts: string[] = [];
  private readonly from: number[] = [];
  private readonly to: number[] = [];

  put(text: string, from: number, to: number): void {
    this.parts.push(text);
    for (let i = 0; i < text.length; i++) {
      this.from.push(from);
      this.to.push(to);
    }
  }

  get result(): Folded {
    return { text: this.parts.join(''), from: this.from, to: this.to };
  }
}

/**
 * Runs of blanks inside a line become one space, blanks at line ends go, tabs in the indentation become columns, and CR LF is LF.
 * Indentation still counts.
 */
export function foldWhitespace(text: string): Folded {
  const folder = new Folder();
  const pattern = /([ \t\u00a0]*\r?\n)|([ \t\u00a0]+$)|([ \t\u00a0]+)|([^ \t\u00a0\r\n]+|\r)/g;
  let atLineStart = true;
  for (const match of text.matchAll(pattern)) {
    const at = match.index;
    const whole = match[0];
    if (match[1] !== undefined) folder.put('\n', at, at + whole.length);
    else if (match[3] !== undefined) folder.put(atLineStart ? ' '.repeat(indentColumns(whole)) : ' ', at, at + whole.length);
    else if (match[4] !== undefined) for (let i = 0; i < whole.length; i++) folder.put(whole.charAt(i), at + i, at + i + 1);
    atLineStart = match[1] !== undefined;
  }
  return folder.result;
}

/** Typographic quotes and dashes become plain ones, invisible characters go, and everything is in compatibility form (NFKD). */
export function foldUnicode(text: string): Folded {
  const folder = new Folder();
  let at = 0;
  for (const char of text) {
    const plain = QUOTES_AND_DASHES[char] ?? (char < '\u0080' ? char : char.normalize('NFKD'));
    folder.put(plain, at, at + char.length);
    at += char.length;
  }
  return folder.result;
}
