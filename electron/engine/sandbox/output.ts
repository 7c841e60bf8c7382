import { StringDecoder } from 'node:string_decoder';

/** Most characters that one command's output keeps, and the share of it that comes from the beginning. */
export const OUTPUT_CAP_CHARS = 50_000;
const HEAD_SHARE = 0.4;

const ESC = '\u001b';
const C1_CSI = '\u009b';
/** Control characters that say nothing in a text; only tab and line ends stay. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/**
 * Takes terminal escape sequences (ECMA-48: CSI, OSC, DCS and two-character ones) out of text that comes in pieces;
 * a sequence may be cut anywhere. A control string that never ends is given up at the next line, so that it cannot swallow
 * everything that follows.
 */
export class AnsiStripper {
  private state: 'text' | 'escape' | 'intermediate' | 'csi' | 'string' | 'string_escape' = 'text';

  push(text: string): string {
    let out = '';
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      if (this.state === 'text') {
        const next = nextEscape(text, i);
        out += text.slice(from, next);
        if (next === text.length) return out;
        i = next;
        this.state = text[i] === ESC ? 'escape' : 'csi';
      } else if (!this.inside(text.charCodeAt(i))) {
        i--;
        this.state = 'text';
      }
      from = i + 1;
    }
    return out;
  }

  /** Takes one character of a sequence; false when it does not belong to it and is text again. */
  private inside(code: number): boolean {
    if (code === 0x1b) {
      this.state = this.state === 'string' ? 'string_escape' : 'escape';
      return true;
    }
    switch (this.state) {
      case 'escape':
        if (code === 0x5b) this.state = 'csi';
        else if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) this.state = 'string';
        else if (code >= 0x20 && code <= 0x2f) this.state = 'intermediate';
        else if (code >= 0x30 && code <= 0x7e) this.state = 'text';
        else return false;
        return true;
      case 'intermediate':
        if (code >= 0x30 && code <= 0x7e) this.state = 'text';
        else if (code < 0x20 || code > 0x2f) return false;
        return true;
      case 'csi':
        if (code >= 0x40 && code <= 0x7e) this.state = 'text';
        else if (code < 0x20 || code > 0x3f) return false;
        return true;
      case 'string_escape':
        this.state = 'text';
        return code === 0x5c;
      default:
        if (code === 0x0a) return false;
        if (code === 0x07) this.state = 'text';
        return true;
    }
  }
}

function nextEscape(text: string, from: number): number {
  const esc = text.indexOf(ESC, from);
  const c1 = text.indexOf(C1_CSI, from);
  if (esc === -1) return c1 === -1 ? text.length : c1;
  return c1 === -1 ? esc : Math.min(esc, c1);
}

/** Takes escape sequences out of a whole text. */
export function stripAnsi(text: string): string {
  return new AnsiStripper().push(text);
}

/** Keeps the first 40 % and the last 60 % of `cap` characters of a text of any length, in memory proportional to the cap. */
export class HeadTailBuffer {
  private readonly headCap: number;
  private readonly tailCap: number;
  private head = '';
  private tail = '';
  private total = 0;

  constructor(cap: number = OUTPUT_CAP_CHARS) {
    this.headCap = Math.floor(cap * HEAD_SHARE);
    this.tailCap = cap - this.headCap;
  }

  push(text: string): void {
    this.total += text.length;
    let rest = text;
    if (this.head.length < this.headCap) {
      const room = this.headCap - this.head.length;
      this.head += rest.slice(0, room);
      rest = rest.slice(room);
    }
    if (rest.length >= this.tailCap) this.tail = rest.slice(-this.tailCap);
    else if (this.tail.length + rest.length > 2 * this.tailCap) this.tail = (this.tail + rest).slice(-this.tailCap);
    else this.tail += rest;
  }

  /** Characters held right now; never more than the cap plus one tail. */
  get held(): number {
    return this.head.length + this.tail.length;
  }

  /** The text, with a line that says how much was left out when it was too long. Never cuts a character in two. */
  toString(): string {
    let head = this.head;
    let tail = this.tail.slice(-this.tailCap);
    if (head.length + tail.length === this.total) return head + tail;
    if (isHighSurrogate(head.charCodeAt(head.length - 1))) head = head.slice(0, -1);
    if (isLowSurrogate(tail.charCodeAt(0))) tail = tail.slice(1);
    const left = this.total - head.length - tail.length;
    return `${head}\n\n[… ${left.toLocaleString('en-US')} characters of output left out here; the beginning and the end are shown …]\n\n${tail}`;
  }
}

/** Turns the bytes of a command's streams into capped text without escape sequences and control characters. Each stream has its own decoder: characters may be cut anywhere. */
export class OutputCollector {
  private readonly buffer: HeadTailBuffer;
  private readonly onText: ((text: string) => void) | undefined;

  constructor(onText?: (text: string) => void, cap: number = OUTPUT_CAP_CHARS) {
    this.buffer = new HeadTailBuffer(cap);
    this.onText = onText;
  }

  /** A sink for one stream; `end` flushes what a cut character left. */
  stream(): { write(bytes: Buffer): void; end(): void } {
    const decoder = new StringDecoder('utf8');
    const ansi = new AnsiStripper();
    const take = (text: string): void => {
      const clean = ansi.push(text).replace(CONTROLS, '');
      if (clean === '') return;
      this.buffer.push(clean);
      this.onText?.(clean);
    };
    return { write: (bytes) => take(decoder.write(bytes)), end: () => take(decoder.end()) };
  }

  toString(): string {
    return this.buffer.toString();
  }
}
