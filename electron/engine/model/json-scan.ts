/** Finds where a JSON value that streams in ends; what was seen is not looked at again. */
export interface JsonEnd {
  /** Takes the whole text so far; answers with the index behind the value, or null while it goes on. */
  find(text: string): number | null;
}

/** For an object or array that begins at `start`. Brackets in strings do not count; nothing else is checked. */
export function jsonEnd(start: number): JsonEnd {
  let at = start;
  let depth = 0;
  let inString = false;
  let end: number | null = null;
  return {
    find(text) {
      for (; end === null && at < text.length; at += 1) {
        const char = text[at];
        if (inString) {
          if (char === '\\') {
            // The escaped character may still be on its way.
            if (at + 1 >= text.length) break;
            at += 1;
          } else if (char === '"') inString = false;
        } else if (char === '"') inString = true;
        else if (char === '{' || char === '[') depth += 1;
        else if (char === '}' || char === ']') {
          depth -= 1;
          if (depth <= 0) end = at + 1;
        }
      }
      return end;
    },
  };
}

/**
 * The members of a JSON object as they are written, by key: the raw text of each value, or of what there is of it when the text
 * breaks off. Numbers and the order of keys stay as the model wrote them.
 */
export function rawMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const key = text.slice(at + 1, keyEnd - 1);
    const colon = skipSpace(text, keyEnd);
    if (text[colon] !== ':') break;
    const start = skipSpace(text, colon + 1);
    const end = valueEnd(text, start);
    members.set(key, text.slice(start, end).trim());
    const comma = skipSpace(text, end);
    if (text[comma] !== ',') break;
    at = skipSpace(text, comma + 1);
  }
  return members;
}

function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first === '{' || first === '[') return jsonEnd(start).find(text) ?? text.length;
  const end = text.slice(start).search(/[,}\]]/);
  return end === -1 ? text.length : start + end;
}

/** Index behind a string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}
