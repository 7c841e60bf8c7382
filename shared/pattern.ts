/** A regular expression that a person wrote, as plain data. */
export interface Pattern {
  pattern: string;
  flags: string;
}

const MAX_PATTERN_CHARS = 500;

/** Reads `/pattern/flags`. Throws an Error with a sentence for people. */
export function parsePattern(text: string): Pattern {
  const [, pattern, flags] = /^\/([\s\S]+)\/([a-z]*)$/.exec(text) ?? [];
  if (pattern === undefined || flags === undefined) throw new Error(`Write the pattern between slashes: /${text.replaceAll('/', '\\/')}/.`);
  return { pattern, flags };
}

export function patternText({ pattern, flags }: Pattern): string {
  return `/${pattern}/${flags}`;
}

/**
 * The regular expression of a pattern that other people's texts will be held against. Throws an Error with a sentence when it is no
 * regular expression, is too long, or is of a shape that can take longer than anybody can wait: repetition within repetition, as in
 * `(a+)+`, and back references. (What remains can still be slow on long texts: give it a time limit.)
 */
export function compileSafePattern({ pattern, flags }: Pattern): RegExp {
  if (pattern.length > MAX_PATTERN_CHARS) throw new Error(`The pattern is too long: ${MAX_PATTERN_CHARS} characters are the most.`);
  if (!/^[imsu]*$/.test(flags)) throw new Error('After the second slash of a pattern only i, m, s and u may stand.');
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern, flags);
  } catch (error) {
    throw new Error(`/${pattern}/ is not a regular expression: ${error instanceof Error ? error.message.replace(/^.*\/[a-z]*: /s, '') : ''}.`, { cause: error });
  }
  refuseSlowShapes(pattern);
  return compiled;
}

function refuseSlowShapes(pattern: string): void {
  /** For each open group: whether something in it repeats. */
  const open: boolean[] = [false];
  let closed: boolean | null = null;
  for (let i = 0; i < pattern.length; i += 1) {
    const c = pattern[i]!;
    const group = closed;
    closed = null;
    if (c === '\\') {
      if (/[1-9k]/.test(pattern[i + 1] ?? '')) throw new Error('A pattern with back references can take very long. Write it without them.');
      i += 1;
    } else if (c === '[') {
      for (i += 1; i < pattern.length && pattern[i] !== ']'; i += 1) if (pattern[i] === '\\') i += 1;
    } else if (c === '(') open.push(false);
    else if (c === ')') {
      closed = open.pop() ?? false;
      if (open.length === 0) open.push(false);
      if (closed) open[open.length - 1] = true;
    } else {
      const times = /^(?:[*+]|\{\d+(?:,\d*)?\})/.exec(pattern.slice(i, i + 24))?.[0];
      if (times === undefined) continue;
      if (group) throw new Error('The pattern repeats something that repeats already, as in (a+)+, which can take very long. Write it without that.');
      // a{3} alone is as quick as aaa
      open[open.length - 1] = true;
      i += times.length - 1;
      if (pattern[i + 1] === '?') i += 1;
    }
  }
}
