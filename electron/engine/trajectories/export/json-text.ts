/**
 * Functions on JSON as text. Numbers, key order and escapes of what a model wrote stay as they are, which parsing and re-serialising
 * would not keep (1.0, 1e-07, integers over 2^53).
 */

/** Re-spaces JSON text the way Python's `json.dumps` does (`", "` and `": "`), which is what chat templates were trained on. */
export function pythonSpacing(json: string): string {
  let out = '';
  let i = 0;
  while (i < json.length) {
    const c = json[i]!;
    if (c === '"') {
      const end = stringEnd(json, i);
      out += json.slice(i, end);
      i = end;
      continue;
    }
    if (c === ',' || c === ':') out += `${c} `;
    else if (c !== ' ' && c !== '\n' && c !== '\r' && c !== '\t') out += c;
    i++;
  }
  return out;
}

function stringEnd(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    if (json[i] === '\\') i++;
    else if (json[i] === '"') return i + 1;
  }
  return json.length;
}

/** Whether the text is one JSON object. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A string as JSON, well-formed for every reader (no lone surrogates). */
export function jsonString(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** One JSONL line without its newline: separators that some readers split on are escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029\u0085]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * A number that `JSON.stringify` writes with a decimal point or exponent, also a whole one: loaders of typed columns take a first value
 * without one for an integer.
 */
export function decimal(value: number): unknown {
  const text = JSON.stringify(value);
  return Number.isInteger(value) && /^-?\d+$/.test(text) ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${text}.0`) : value;
}
