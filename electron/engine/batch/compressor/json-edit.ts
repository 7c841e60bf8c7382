/** Where the value of a key of a JSON object stands in its text: `from` ≤ i < `to`. */
export interface Span {
  from: number;
  to: number;
}

/**
 * Places of the top-level values of a JSON object, by key; the last one wins, as it does for parsers. The text must have been parsed
 * before: broken JSON gives nonsense.
 */
export function valueSpans(json: string): Map<string, Span> {
  const spans = new Map<string, Span>();
  let i = json.indexOf('{') + 1;
  for (;;) {
    i = skip(json, i, ' \t\r\n,');
    if (json[i] !== '"') return spans;
    const keyEnd = stringEnd(json, i);
    const key = JSON.parse(json.slice(i, keyEnd)) as string;
    const from = skip(json, keyEnd, ' \t\r\n:');
    const to = valueEnd(json, from);
    spans.set(key, { from, to });
    i = to;
  }
}

/** The text with some top-level values replaced and new keys added at the end; everything else stays as it is, byte for byte. */
export function withValues(json: string, values: Readonly<Record<string, string>>): string {
  const spans = valueSpans(json);
  const known = Object.entries(values).filter(([key]) => spans.has(key));
  const added = Object.entries(values).filter(([key]) => !spans.has(key));
  let out = json;
  for (const [key, value] of known.toSorted(([a], [b]) => spans.get(b)!.from - spans.get(a)!.from)) {
    const { from, to } = spans.get(key)!;
    out = out.slice(0, from) + value + out.slice(to);
  }
  if (added.length === 0) return out;
  const end = out.lastIndexOf('}');
  const comma = spans.size > 0 ? ', ' : '';
  return `${out.slice(0, end).trimEnd()}${comma}${added.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}${out.slice(end)}`;
}

function skip(text: string, from: number, chars: string): number {
  let i = from;
  while (i < text.length && chars.includes(text[i]!)) i += 1;
  return i;
}

function stringEnd(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i += 1) {
    if (json[i] === '\\') i += 1;
    else if (json[i] === '"') return i + 1;
  }
  return json.length;
}

function valueEnd(json: string, start: number): number {
  let depth = 0;
  for (let i = start; i < json.length; i += 1) {
    const c = json[i]!;
    if (c === '"') {
      i = stringEnd(json, i) - 1;
      if (depth === 0) return i + 1;
    } else if (c === '{' || c === '[') depth += 1;
    else if (c === '}' || c === ']') {
      if (depth === 0) return i;
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (c === ',' && depth === 0) return i;
  }
  return json.length;
}
