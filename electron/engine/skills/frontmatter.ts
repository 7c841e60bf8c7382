import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Lint } from '#shared/contract/skills.ts';

const MAX_FRONTMATTER_CHARS = 32_000;
const MAX_ALIASES = 50;
const OPEN = /^\ufeff?---[ \t]*\r?\n/;
const CLOSE = /^---[ \t]*(?:\r?\n|$)/gm;

/** A SKILL.md, read with as much forgiveness as other harnesses have; what was forgiven is among `problems`. */
export interface ParsedSkill {
  /** Null when there is none that can be read. */
  data: Record<string, unknown> | null;
  body: string;
  /** Line on which the body begins, from 1. */
  bodyLine: number;
  problems: Lint[];
  /** From 1; null for a key that is not there. */
  lineOf(key: string): number | null;
}

/**
 * The one reader of SKILL.md: what loads a skill, what checks a change and what the editor shows all come from here. Format:
 * agentskills.io/specification (YAML 1.2 between two lines of three dashes, then Markdown). Plain values with ": " in them, which
 * YAML refuses, are taken as the text they are meant to be.
 */
export function parseSkill(text: string): ParsedSkill {
  const parts = split(text);
  if (typeof parts === 'string') return { data: null, body: text, bodyLine: 1, problems: [problem('error', parts, 1, SENTENCES[parts])], lineOf: () => null };
  const { yaml, body, bodyLine } = parts;
  const rest = { body, bodyLine };
  if (yaml.length > MAX_FRONTMATTER_CHARS) {
    return { ...rest, data: null, problems: [problem('error', 'frontmatter_too_long', 1, `The frontmatter has ${yaml.length} characters; at most ${MAX_FRONTMATTER_CHARS} are read. Move what is long into the body.`)], lineOf: () => null };
  }
  const { doc, lines, loose, error } = read(yaml);
  const lineOf = (key: string): number | null => lineIn(doc, lines, key);
  const problems: Lint[] = loose.map(({ key, line }) => problem('warning', 'yaml_loose', line, `The value of "${key}" has ": " in it; put it into quotes, or other programs may refuse it.`, key));
  if (error !== null) return { ...rest, data: null, problems: [problem('error', 'yaml_invalid', error.line, error.message, error.key)], lineOf };
  const data = dataOf(doc);
  if (data === null) problems.push(isMap(doc.contents) ? problem('error', 'yaml_invalid', 2, 'The frontmatter refers to itself, or too often to its own parts. Write the values out.') : problem('error', 'not_a_mapping', 2, 'The frontmatter must be lines of "key: value".'));
  for (const key of duplicates(doc)) problems.push(problem('warning', 'yaml_duplicate_key', lineOf(key), `"${key}" stands twice; the last one counts. Remove the other.`, key));
  return { ...rest, data, problems, lineOf };
}

/** The text with another `name`; everything else stays byte for byte, comments and order too. Without a frontmatter that can be read it is given one. */
export function withName(text: string, name: string): string {
  const parts = split(text);
  if (typeof parts === 'string') return `---\nname: ${name}\ndescription: ""\n---\n\n${text}`;
  // of the text as it stands: places of one that was mended would be others
  const { doc } = parse(parts.yaml);
  const node: unknown = doc.get('name', true);
  const at = text.length - parts.body.length - parts.closing.length - parts.yaml.length;
  if (isScalar(node) && node.range) return text.slice(0, at + node.range[0]) + name + text.slice(at + node.range[1]);
  return `${text.slice(0, at)}name: ${name}\n${text.slice(at)}`;
}

const SENTENCES = {
  frontmatter_missing: 'SKILL.md must begin with a line "---", then "name: …" and "description: …", then another line "---".',
  frontmatter_unclosed: 'The frontmatter is not closed: put a line "---" behind its last key.',
} as const;

function problem(severity: Lint['severity'], code: Lint['code'], line: number | null, message: string, field: string | null = null): Lint {
  return { severity, code, line, field, message };
}

function split(text: string): { yaml: string; closing: string; body: string; bodyLine: number } | 'frontmatter_missing' | 'frontmatter_unclosed' {
  const open = OPEN.exec(text);
  if (!open) return 'frontmatter_missing';
  CLOSE.lastIndex = open[0].length;
  const close = CLOSE.exec(text);
  if (!close) return 'frontmatter_unclosed';
  const end = close.index + close[0].length;
  return { yaml: text.slice(open[0].length, close.index), closing: close[0], body: text.slice(end), bodyLine: text.slice(0, end).split('\n').length };
}

interface Read {
  doc: Document;
  lines: LineCounter;
  loose: { key: string; line: number }[];
  error: { line: number | null; key: string | null; message: string } | null;
}

function read(yaml: string): Read {
  const first = parse(yaml);
  if (first.error === null) return { ...first, loose: [] };
  const { text, loose } = quoted(yaml);
  if (loose.length === 0) return { ...first, loose };
  const second = parse(text);
  // what could not be mended is told of the text as it stands
  return second.error === null ? { ...second, loose } : { ...first, loose: [], error: second.error };
}

function parse(yaml: string): Omit<Read, 'loose'> {
  const lines = new LineCounter();
  let doc: Document;
  try {
    doc = parseDocument(yaml, { strict: false, uniqueKeys: false, logLevel: 'silent', prettyErrors: false, lineCounter: lines });
  } catch (error) {
    // nesting too deep for the reader
    return { doc: parseDocument(''), lines, error: { line: null, key: null, message: `The frontmatter cannot be read (${error instanceof Error ? error.message : String(error)}).` } };
  }
  const [wrong] = doc.errors;
  if (!wrong) return { doc, lines, error: null };
  const line = lines.linePos(wrong.pos[0]).line;
  const key = keyAbove(yaml, line);
  return { doc, lines, error: { line: line + 1, key, message: `The frontmatter cannot be read${key === null ? '' : ` at the key "${key}"`}: ${sentence(wrong.message)} Put the value into quotes, or correct its indentation.` } };
}

function sentence(text: string): string {
  const line = text.split('\n')[0]!.trim();
  return line.endsWith('.') ? line : `${line}.`;
}

const PLAIN = /^(\s*(?:- )?)([A-Za-z_][\w.-]*):[ \t]+([^\s"'|>[\]{}&*!#%@`].*?)[ \t]*$/;

/** Puts plain values that YAML takes for more than a text into quotes. */
function quoted(yaml: string): { text: string; loose: { key: string; line: number }[] } {
  const loose: { key: string; line: number }[] = [];
  const text = yaml.split('\n').map((raw, i) => {
    const line = raw.replace(/\r$/, '');
    const [, indent, key, value] = PLAIN.exec(line) ?? [];
    if (indent === undefined || key === undefined || value === undefined || !/:\s|:$/.test(value)) return raw;
    loose.push({ key, line: i + 2 });
    return `${indent}${key}: ${JSON.stringify(value)}`;
  });
  return { text: text.join('\n'), loose };
}

function keyAbove(yaml: string, line: number): string | null {
  for (const text of yaml.split('\n').slice(0, line).reverse()) {
    const key = /^\s*(?:- )?([A-Za-z_][\w.-]*):/.exec(text)?.[1];
    if (key !== undefined) return key;
  }
  return null;
}

function dataOf(doc: Document): Record<string, unknown> | null {
  if (!isMap(doc.contents)) return null;
  try {
    // as JSON, which is what crosses to the page: a value that holds itself has no end there
    const data: unknown = JSON.parse(JSON.stringify(doc.toJS({ maxAliasCount: MAX_ALIASES })));
    return data as Record<string, unknown>;
  } catch {
    // aliases that blow up, or go round
    return null;
  }
}

function duplicates(doc: Document): string[] {
  if (!isMap(doc.contents)) return [];
  const keys = doc.contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ''));
  return [...new Set(keys.filter((key, i) => keys.indexOf(key) !== i))];
}

function lineIn(doc: Document, lines: LineCounter, key: string): number | null {
  if (!isMap(doc.contents)) return null;
  const pair = doc.contents.items.find((item) => isScalar(item.key) && item.key.value === key);
  const range = pair && isScalar(pair.key) ? pair.key.range : null;
  return range ? lines.linePos(range[0]).line + 1 : null;
}
