/**
 * JSON values for a chat template so that what it prints is what Python's `json.dumps` would print. JavaScript prints 1.0 as 1, 1e-07 as
 * 1e-7, loses digits over 2^53 and puts keys that look like integers first; templates are written for Python, and a token that Python
 * would not make is a wrong token.
 */

/** How Python prints the number of this JSON text: an int as it stands, a float by `repr`. */
export function pythonNumber(raw: string): string {
  if (!/[.eE]/.test(raw)) return raw === '-0' ? '0' : raw;
  const value = Number(raw);
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  if (Object.is(value, -0)) return '-0.0';
  // both languages print the shortest digits that read back as the same number; they differ in where an exponent begins
  const [, sign = '', first = '', rest = '', exponent = '0'] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const digits = first + rest;
  const e = Number(exponent);
  if (e < -4 || e >= 16) return `${sign}${first}${rest === '' ? '' : `.${rest}`}e${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`;
  if (e < 0) return `${sign}0.${'0'.repeat(-e - 1)}${digits}`;
  return `${sign}${digits.slice(0, e + 1).padEnd(e + 1, '0')}.${digits.slice(e + 1) || '0'}`;
}

/**
 * JSON text as a value for the template engine. What JavaScript would print or order differently is packed into strings that begin with
 * `mark`; `unpack` puts it right in what was rendered.
 * @param mark one character that occurs nowhere in what is rendered
 */
export function pack(json: string, mark: string): unknown {
  let out = '';
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|-?\d[\d.eE+-]*|[^"\d-]+|-/gs)) {
    if (token.startsWith('"')) out += /^"\d+"\s*:$/.test(token) ? `"${mark}${token.slice(1)}` : token;
    else if (/^-?\d/.test(token)) {
      const printed = pythonNumber(token);
      out += printed === JSON.stringify(Number(token)) ? token : `"${mark}${printed}${mark}"`;
    } else out += token;
  }
  return JSON.parse(out, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/** Rendered text with everything that `pack` had packed as Python prints it. */
export function unpack(text: string, mark: string): string {
  return text.includes(mark) ? text.replace(new RegExp(`"${mark}([^"${mark}]*)${mark}"`, 'g'), '$1').replaceAll(mark, '') : text;
}
