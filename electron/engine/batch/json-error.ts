const STRING_PART = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const SPACE = /[ \t\n\r]*/y;

export interface JsonFault {
  /** In characters, from 0. */
  at: number;
  problem: string;
}

/**
 * Where and why a text is not one JSON value (RFC 8259), or null when it is. `JSON.parse` gives a position for some faults only, in
 * words that differ between engines.
 */
export function findJsonFault(text: string): JsonFault | null {
  let i = 0;
  const open: ('{' | '[')[] = [];
  const space = (): void => {
    SPACE.lastIndex = i;
    SPACE.test(text);
    i = SPACE.lastIndex;
  };
  const expected = (what: string): JsonFault => {
    if (i >= text.length) return { at: i, problem: `the line ends where ${what} should come` };
    return { at: i, problem: `${what} was expected, not ${JSON.stringify(String.fromCodePoint(text.codePointAt(i)!))}` };
  };
  const string = (): JsonFault | null => {
    if (text[i] !== '"') return expected('a text in double quotes');
    const start = i++;
    for (;;) {
      STRING_PART.lastIndex = i;
      if (STRING_PART.test(text)) i = STRING_PART.lastIndex;
      else if (text[i] === '"') {
        i += 1;
        return null;
      }
      else if (i >= text.length) return { at: start, problem: 'a text begins here and is never closed' };
      else if (text[i] === '\\') return { at: i, problem: 'this escape does not exist in JSON' };
      else return { at: i, problem: 'a control character must be written as an escape' };
    }
  };
  const key = (): JsonFault | null => {
    space();
    const fault = string();
    if (fault) return fault;
    space();
    if (text[i] !== ':') return expected('":"');
    i += 1;
    return null;
  };

  for (;;) {
    // a value
    space();
    const c = text[i];
    if (c === '{' || c === '[') {
      i += 1;
      space();
      if (text[i] !== (c === '{' ? '}' : ']')) {
        open.push(c);
        const fault = c === '{' ? key() : null;
        if (fault) return fault;
        continue;
      }
      i += 1;
    } else if (c === '"') {
      const fault = string();
      if (fault) return fault;
    } else {
      LITERAL.lastIndex = i;
      if (!LITERAL.test(text)) return expected('a value');
      i = LITERAL.lastIndex;
    }
    // what may follow it
    for (;;) {
      space();
      const inside = open.at(-1);
      if (inside === undefined) return i >= text.length ? null : { at: i, problem: 'there is more after the end of the JSON value' };
      if (text[i] === ',') {
        i += 1;
        const fault = inside === '{' ? key() : null;
        if (fault) return fault;
        break;
      }
      if (text[i] !== (inside === '{' ? '}' : ']')) return expected(inside === '{' ? '"," or "}"' : '"," or "]"');
      i += 1;
      open.pop();
    }
  }
}
