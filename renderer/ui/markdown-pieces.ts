/** A part of a Markdown text that is shown by itself. Small enough that turning one into elements never blocks the page. */
export type Piece =
  | { kind: 'text'; text: string }
  /** Lines of one fenced block; a long one comes in several pieces. */
  | { kind: 'code'; text: string; lang: string; first: boolean; last: boolean };

/** A text piece ends at the next good border after so many characters … */
const SOFT_CHARS = 1_500;
/** … and at any line, or inside a line, after so many. */
const HARD_CHARS = 3_000;
const CODE_LINES = 150;
const CODE_CHARS = 8_000;

const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n?$/;
const LIST_ITEM = /^([-*+]|\d{1,9}[.)])(\s|$)/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-*:?\s*)*$/;

interface OpenFence {
  mark: string;
  indent: number;
  lang: string;
  first: boolean;
  lines: number;
}

function closes(fence: OpenFence, line: string): boolean {
  const mark = FENCE.exec(line);
  return mark?.[2]?.startsWith(fence.mark) === true && mark[3]?.trim() === '';
}

/**
 * Splits growing Markdown into pieces, reading each character once: borders are blank lines outside fences and lists, fences, and sizes.
 * Promise: a piece but the last stays as it is when text is added, and the pieces do not depend on how the text was cut into additions.
 */
export class PieceSplitter {
  readonly #settled: Piece[] = [];
  #piece = '';
  /** Repeated at the head of a piece that goes on with a table. */
  #head = '';
  #tableHead: string | null = null;
  #lineBefore = '';
  #fence: OpenFence | null = null;
  /** A fence inside a list item belongs to its item. */
  #innerMark: string | null = null;
  #blank = false;
  #rest = '';

  add(text: string): void {
    const source = this.#rest + text;
    let at = 0;
    for (let end = source.indexOf('\n', at); end >= 0; end = source.indexOf('\n', at)) {
      this.#line(source.slice(at, end + 1));
      at = end + 1;
    }
    this.#rest = source.slice(at);
    // A line without an end must not grow without one.
    while (this.#rest.length > 2 * HARD_CHARS) {
      const cut = cutInLine(this.#rest);
      this.#line(this.#rest.slice(0, cut));
      this.#rest = this.#rest.slice(cut);
    }
  }

  /** How many pieces are final. */
  get settled(): number {
    return this.#settled.length;
  }

  /** All pieces; those that are final keep their identity. */
  pieces(): Piece[] {
    const last = this.#last();
    return last ? [...this.#settled, last] : [...this.#settled];
  }

  /** The piece that may still grow. */
  #last(): Piece | null {
    const fence = this.#fence;
    if (fence) {
      // What may become the closing fence is not code. Most answers that end with one have no line end behind it.
      const closed = closes(fence, this.#rest);
      const rest = closed || fence.mark.startsWith(this.#rest.trim()) ? '' : this.#rest;
      return { kind: 'code', text: this.#piece + rest, lang: fence.lang, first: fence.first, last: closed };
    }
    const text = this.#piece + this.#rest;
    return text.trim() === '' ? null : { kind: 'text', text: this.#head + text };
  }

  #line(line: string): void {
    const long = line.length > HARD_CHARS;
    if (long) {
      // Only from lines that came whole: the same cuts as for one that grew.
      for (let rest = line; rest !== '';) {
        const cut = rest.length > 2 * HARD_CHARS ? cutInLine(rest) : rest.length;
        this.#shortLine(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
    } else this.#shortLine(line);
  }

  #shortLine(line: string): void {
    if (this.#fence) this.#codeLine(this.#fence, line);
    else this.#textLine(line);
  }

  #codeLine(fence: OpenFence, line: string): void {
    if (closes(fence, line)) {
      this.#settled.push({ kind: 'code', text: this.#piece, lang: fence.lang, first: fence.first, last: true });
      this.#piece = '';
      this.#fence = null;
      this.#blank = true;
      return;
    }
    if (fence.lines >= CODE_LINES || this.#piece.length >= CODE_CHARS) {
      this.#settled.push({ kind: 'code', text: this.#piece, lang: fence.lang, first: fence.first, last: false });
      this.#piece = '';
      fence.first = false;
      fence.lines = 0;
    }
    this.#piece += fence.indent > 0 ? line.replace(new RegExp(`^ {1,${fence.indent}}`), '') : line;
    fence.lines++;
  }

  #textLine(line: string): void {
    const empty = line.trim() === '';
    const inList = LIST_ITEM.test(this.#piece);
    if (this.#innerMark === null) {
      const mark = FENCE.exec(line);
      if (mark?.[2] && !(mark[2].startsWith('`') && mark[3]?.includes('`'))) {
        if (inList && mark[1] !== '') this.#innerMark = mark[2];
        else {
          this.#settle();
          this.#fence = { mark: mark[2], indent: mark[1]?.length ?? 0, lang: mark[3]?.trim().split(/\s/, 1)[0] ?? '', first: true, lines: 0 };
          return;
        }
      } else if (!empty && this.#border(line)) this.#settle();
    } else if (FENCE.exec(line)?.[2]?.startsWith(this.#innerMark)) this.#innerMark = null;
    if (this.#piece.length + line.length > HARD_CHARS && this.#piece !== '') this.#settle(this.#tableHead ?? '');
    // A table begins with a line of names above a line of dashes.
    if (this.#tableHead === null && this.#lineBefore.includes('|') && TABLE_RULE.test(line.trimEnd()) && line.includes('-')) this.#tableHead = this.#lineBefore + line;
    else if (empty) this.#tableHead = null;
    this.#lineBefore = line;
    this.#piece += line;
    this.#blank = empty;
  }

  /** Whether a piece may begin with this line. */
  #border(line: string): boolean {
    const outer = !/^\s/.test(line);
    const item = LIST_ITEM.test(line);
    if (this.#blank && outer && !item) return true;
    return this.#piece.length >= SOFT_CHARS && outer && (item || this.#blank);
  }

  /** @param head what the next piece begins with, because it goes on with the same table */
  #settle(head = ''): void {
    if (this.#piece.trim() !== '') this.#settled.push({ kind: 'text', text: this.#head + this.#piece });
    this.#piece = '';
    // A header longer than a row of it would grow what it heads without end.
    this.#head = head.length < HARD_CHARS / 4 ? head : '';
    if (head === '') {
      this.#tableHead = null;
      this.#lineBefore = '';
    }
  }
}

/** Where to cut a line that is too long: behind a space near the border, or in between two characters. */
function cutInLine(line: string): number {
  const space = line.lastIndexOf(' ', HARD_CHARS);
  if (space > HARD_CHARS - 200) return space + 1;
  return /[\uD800-\uDBFF]/.test(line.charAt(HARD_CHARS - 1)) ? HARD_CHARS - 1 : HARD_CHARS;
}

/** The pieces of a whole text. */
export function splitPieces(text: string): Piece[] {
  const splitter = new PieceSplitter();
  splitter.add(text);
  return splitter.pieces();
}

/** Containers nested deeper than this are shown as they were written: reading them would take time that grows with the square. */
const MAX_NESTING = 24;
const CONTAINERS = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${MAX_NESTING},}`, 'm');

export function isTooDeep(text: string): boolean {
  return CONTAINERS.test(text);
}
