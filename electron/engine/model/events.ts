import { StringDecoder } from 'node:string_decoder';

/** One event of a stream, as the server named it and with its data lines joined. */
export interface ServerEvent {
  event: string;
  data: string;
}

const LINE_END = /\r\n|\r|\n/;

/**
 * Reads server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) from bytes cut anywhere. `push` gives the events that
 * are complete, `end` the last one, whose blank line some servers leave out.
 */
export function createEventReader(): { push(bytes: Buffer): ServerEvent[]; end(): ServerEvent[] } {
  const decoder = new StringDecoder('utf8');
  /** Of a line that goes on. Joined when it ends: a long one may come in thousands of pieces. */
  let begun: string[] = [];
  let first = true;
  /** The last piece ended with a carriage return: a line feed at the start of the next one belongs to it. */
  let afterReturn = false;
  let event = '';
  let data: string[] = [];

  function take(line: string, out: ServerEvent[]): void {
    if (line === '') {
      if (data.length > 0) out.push({ event, data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const from = colon === -1 ? line.length : line[colon + 1] === ' ' ? colon + 2 : colon + 1;
    if (name === 'data') data.push(line.slice(from));
    else if (name === 'event') event = line.slice(from);
  }

  function read(decoded: string, out: ServerEvent[]): void {
    let text = decoded;
    if (text === '') return;
    if (first && text.startsWith('\ufeff')) text = text.slice(1);
    first = false;
    if (afterReturn && text.startsWith('\n')) text = text.slice(1);
    if (text === '') {
      afterReturn = false;
      return;
    }
    afterReturn = text.endsWith('\r');
    const lines = text.split(LINE_END);
    for (let i = 0; i < lines.length - 1; i += 1) {
      begun.push(lines[i]!);
      take(begun.length === 1 ? lines[i]! : begun.join(''), out);
      begun = [];
    }
    const rest = lines.at(-1)!;
    if (rest !== '') begun.push(rest);
  }

  return {
    push(bytes) {
      const out: ServerEvent[] = [];
      read(decoder.write(bytes), out);
      return out;
    },
    end() {
      const out: ServerEvent[] = [];
      read(decoder.end(), out);
      if (begun.length > 0) take(begun.join(''), out);
      begun = [];
      take('', out);
      return out;
    },
  };
}
