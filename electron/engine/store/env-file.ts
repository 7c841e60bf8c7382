/** One `NAME=value` of an env file. `start` and `end` are offsets of its text, line break not included. */
interface Assignment {
  name: string;
  value: string;
  start: number;
  end: number;
}

export interface EnvFile {
  values: Map<string, string>;
  /** Lines that are no assignment, with their numbers; never with their text, which may be a key. */
  problems: string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads the text of an env file: `NAME=value`, `export NAME=value`, comments, blank lines, a BOM and any line ends. Single
 * quotes are literal; double quotes know \n \r \t \" \\ \$ and may span lines; without quotes the value ends at the line's
 * end or at a " #". Nothing is expanded. The last of several assignments counts.
 */
export function parseEnvFile(text: string): EnvFile {
  const { assignments, problems } = scan(text);
  return { values: new Map(assignments.map(({ name, value }) => [name, value])), problems };
}

/**
 * The text with `name` set to `value`, or without it when `value` is null. Everything else stays byte for byte.
 * Throws RangeError for a name that no shell would take.
 */
export function setInEnvFile(text: string, name: string, value: string | null): string {
  if (!NAME.test(name)) throw new RangeError(`"${name}" is not a name for an environment variable.`);
  const { assignments } = scan(text);
  const own = assignments.filter((assignment) => assignment.name === name);
  const last = own.at(-1);
  if (value !== null && !last) {
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
    const gap = text === '' || text === '\uFEFF' || /[\r\n]$/.test(text) ? '' : lineEnd;
    return `${text}${gap}${name}=${quote(value)}${lineEnd}`;
  }
  let out = text;
  for (const assignment of own.toReversed()) {
    if (assignment === last && value !== null) {
      out = `${out.slice(0, assignment.start)}${name}=${quote(value)}${out.slice(assignment.end)}`;
    } else {
      out = out.slice(0, assignment.start) + out.slice(assignment.end).replace(/^(\r\n|\n|\r)/, '');
    }
  }
  return out;
}

function quote(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=~-]*$/.test(value)) return value;
  if (!/['\r\n]/.test(value)) return `'${value}'`;
  const escaped = value.replace(/[\\"$]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}

function scan(text: string): { assignments: Assignment[]; problems: string[] } {
  const assignments: Assignment[] = [];
  const problems: string[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const start = at;
    const lineEnd = endOfLine(text, at);
    const source = text.slice(at, lineEnd);
    const head = /^[ \t]*(?:export[ \t]+)?([^\s=#][^=]*?)[ \t]*=[ \t]*/.exec(source);
    let end = lineEnd;
    if (head && NAME.test(head[1] ?? '')) {
      const from = at + head[0].length;
      const parsed = readValue(text, from, lineEnd);
      if (typeof parsed === 'string') problems.push(`line ${line}: ${parsed}`);
      else {
        assignments.push({ name: head[1] ?? '', value: parsed.value, start, end: parsed.end });
        end = parsed.end;
      }
    } else if (!/^[ \t]*(#|$)/.test(source)) {
      problems.push(`line ${line}: not NAME=value, ignored`);
    }
    line += countBreaks(text.slice(start, end)) + 1;
    at = text.startsWith('\r\n', end) ? end + 2 : end + 1;
  }
  return { assignments, problems };
}

/** The value that begins at `from`, and the end of the line on which it ends; or what is wrong with it. */
function readValue(text: string, from: number, lineEnd: number): { value: string; end: number } | string {
  const mark = text[from];
  if (mark !== '"' && mark !== "'") {
    return { value: text.slice(from, lineEnd).replace(/(^|[ \t]+)#.*$/s, '').trim(), end: lineEnd };
  }
  let value = '';
  let at = from + 1;
  for (; at < text.length && text[at] !== mark; at++) {
    const next = text[at + 1];
    if (mark === '"' && text[at] === '\\' && next !== undefined && /[nrt"\\$]/.test(next)) {
      value += ESCAPES[next] ?? next;
      at++;
    } else value += text[at];
  }
  if (at >= text.length) return `the ${mark === '"' ? 'double' : 'single'} quote is never closed, ignored`;
  const end = endOfLine(text, at);
  if (!/^[ \t]*(#.*)?$/s.test(text.slice(at + 1, end))) return 'text after the closing quote, ignored';
  return { value, end };
}

function endOfLine(text: string, from: number): number {
  const found = /[\r\n]/g;
  found.lastIndex = from;
  return found.exec(text)?.index ?? text.length;
}

function countBreaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
