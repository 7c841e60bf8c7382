import { Document, isMap, isScalar, isSeq, parseDocument, Scalar, stringify, type Node, type Pair, type YAMLMap } from 'yaml';

/** Replaces the characters from `from` to `to`; offsets into the text as it was before any change. */
export interface TextChange {
  from: number;
  to: number;
  insert: string;
}

/** What the form shows; read from the places where agentskills.io and Hermes Agent keep it. */
export interface Fields {
  name: string;
  description: string;
  version: string;
  tags: string[];
  platforms: string[];
  requiresToolsets: string[];
}

/** Of each field: where it stands, the first one that is there; a new one is written to the first. */
const PLACES: Record<keyof Fields, readonly (readonly string[])[]> = {
  name: [['name']],
  description: [['description']],
  version: [['version'], ['metadata', 'version']],
  tags: [['metadata', 'hermes', 'tags'], ['tags']],
  platforms: [['platforms']],
  requiresToolsets: [['metadata', 'hermes', 'requires_toolsets']],
};

/** Where the YAML of a text begins and ends (its last line break included); null when it has no frontmatter. */
export function frontmatterRange(text: string): { from: number; to: number; body: number } | null {
  const head = /^\uFEFF?---[ \t]*\n/.exec(text);
  if (!head) return null;
  const from = head[0].length;
  const end = /^---[ \t]*(?:\n|$)/m;
  const found = end.exec(text.slice(from, from + 200_000));
  if (!found) return null;
  return { from, to: from + found.index, body: from + found.index + found[0].length };
}

interface Parsed {
  from: number;
  yaml: string;
  map: YAMLMap | null;
}

/** Null when there is none, or none that can be changed safely. */
function parse(text: string): Parsed | null {
  const range = frontmatterRange(text);
  if (!range) return null;
  const yaml = text.slice(range.from, range.to);
  const doc = parseDocument(yaml, { uniqueKeys: false, logLevel: 'silent', strict: false });
  if (doc.errors.length > 0 || (doc.contents !== null && !isMap(doc.contents))) return null;
  return { from: range.from, yaml, map: doc.contents };
}

/** Null when the frontmatter is missing or cannot be read: then only the text can be edited. */
export function readFields(text: string): Fields | null {
  const parsed = parse(text);
  if (!parsed) return null;
  const at = (field: keyof Fields): unknown => toPlain(placeOf(parsed.map, field).pair?.value);
  const one = (field: keyof Fields): string => {
    const value = at(field);
    return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  };
  const list = (field: keyof Fields): string[] => {
    const value = at(field);
    const parts: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
    return parts.filter((part) => typeof part === 'string' || typeof part === 'number').map((part) => String(part).trim()).filter(Boolean);
  };
  return { name: one('name'), description: one('description'), version: one('version'), tags: list('tags'), platforms: list('platforms'), requiresToolsets: list('requiresToolsets') };
}

function toPlain(value: unknown): unknown {
  return isScalar(value) ? value.source ?? value.value : isSeq(value) ? value.items.map(toPlain) : undefined;
}

/**
 * The change that sets a field, and leaves every other character, comment and order as it is. An empty value takes the field out.
 * @returns null when the frontmatter does not allow it; `[]` when nothing changes
 */
export function setField(text: string, field: keyof Fields, value: string | readonly string[]): TextChange[] | null {
  const parsed = parse(text);
  if (!parsed) return null;
  const { path, pair, chain } = placeOf(parsed.map, field);
  const empty = value.length === 0;
  const changes = pair ? (empty ? removal(parsed, chain) : replacement(parsed.yaml, pair, value)) : empty ? [] : insertion(parsed, path, value);
  return changes && changes.map(({ from, to, insert }) => ({ from: from + parsed.from, to: to + parsed.from, insert }));
}

type Link = { map: YAMLMap; pair: Pair };

function placeOf(map: YAMLMap | null, field: keyof Fields): { path: readonly string[]; pair: Pair | null; chain: Link[] } {
  for (const path of PLACES[field]) {
    const chain = follow(map, path);
    if (chain.length === path.length) return { path, pair: chain.at(-1)!.pair, chain };
  }
  return { path: PLACES[field][0]!, pair: null, chain: [] };
}

/** The pairs along a path, as far as they are there. */
function follow(map: YAMLMap | null, path: readonly string[]): Link[] {
  const chain: Link[] = [];
  let at: unknown = map;
  for (const key of path) {
    if (!isMap(at)) break;
    const pair: Pair | undefined = at.items.find((item) => isScalar(item.key) && item.key.value === key);
    if (!pair) break;
    chain.push({ map: at as YAMLMap, pair });
    at = pair.value;
  }
  return chain;
}

const rangeOf = (node: unknown): [number, number, number] => (node as Node).range as [number, number, number];

/** From the beginning of its line to behind its last one: what is indented deeper belongs to it, and a list on its own level. */
function linesOf(yaml: string, pair: Pair): { from: number; to: number; indent: number } {
  const key = rangeOf(pair.key)[0];
  const from = yaml.lastIndexOf('\n', key - 1) + 1;
  const indent = key - from;
  const list = isSeq(pair.value) && !pair.value.flow;
  let to = nextLine(yaml, key);
  for (let at = to; at < yaml.length; at = nextLine(yaml, at)) {
    const line = yaml.slice(at, nextLine(yaml, at));
    const own = line.length - line.trimStart().length;
    if (line.trim() === '') continue;
    if (own > indent || (list && own === indent && /^\s*-(?:\s|$)/.test(line))) to = at + line.length;
    else break;
  }
  return { from, to, indent };
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function removal({ yaml }: Parsed, chain: readonly Link[]): TextChange[] | null {
  // A group that would be left empty goes with its last member.
  let depth = chain.length - 1;
  while (depth > 0 && chain[depth]!.map.items.length === 1) depth -= 1;
  const { map, pair } = chain[depth]!;
  if (map.flow) {
    const at = rangeOf(map);
    const rest = map.clone() as YAMLMap;
    rest.delete((pair.key as Scalar).value);
    return [{ from: at[0], to: at[1], insert: inline(rest.toJSON()) }];
  }
  const { from, to } = linesOf(yaml, pair);
  return [{ from, to, insert: '' }];
}

function replacement(yaml: string, pair: Pair, value: string | readonly string[]): TextChange[] {
  const old = pair.value;
  const lines = linesOf(yaml, pair);
  if (typeof value !== 'string' && isSeq(old) && !old.flow) {
    const items = old.items.map((item) => ({ node: item, text: String(toPlain(item) ?? '').trim() }));
    const kept = items.filter(({ text }) => value.includes(text));
    const added = value.filter((text) => !items.some((item) => item.text === text));
    if (kept.length > 0 && [...kept.map(({ text }) => text), ...added].join('\n') === value.join('\n')) {
      const lineOf = (node: unknown): number => yaml.lastIndexOf('\n', rangeOf(node)[0] - 1) + 1;
      const changes = items.filter(({ text }) => !value.includes(text)).map(({ node }) => ({ from: lineOf(node), to: nextLine(yaml, rangeOf(node)[0]), insert: '' }));
      const last = kept.at(-1)!.node;
      const indent = /^\s*/.exec(yaml.slice(lineOf(last)))?.[0] ?? '';
      const at = nextLine(yaml, rangeOf(last)[0]);
      if (added.length > 0) changes.push({ from: at, to: at, insert: added.map((text) => `${indent}- ${scalar(text)}\n`).join('') });
      return changes;
    }
  }
  const style = isScalar(old) && (old.type === 'QUOTE_DOUBLE' || old.type === 'QUOTE_SINGLE') ? old.type : undefined;
  const insert = typeof value === 'string' ? scalar(value, style) : inline(value);
  const key = rangeOf(pair.key);
  const colon = yaml.indexOf(':', key[1]);
  const there = old === null || old === undefined ? null : rangeOf(old);
  if (there === null || there[0] >= there[1]) return [{ from: colon + 1, to: colon + 1, insert: ` ${insert}` }];
  const oneLine = !yaml.slice(colon, there[1]).includes('\n');
  return oneLine ? [{ from: there[0], to: there[1], insert }] : [{ from: colon + 1, to: lines.to, insert: ` ${insert}\n` }];
}

function insertion({ yaml, map }: Parsed, path: readonly string[], value: string | readonly string[]): TextChange[] | null {
  const leaf = typeof value === 'string' ? scalar(value) : inline(value);
  const chain = follow(map, path);
  const block = (keys: readonly string[], indent: number): string =>
    keys.map((key, i) => `${' '.repeat(indent + 2 * i)}${key}:${i === keys.length - 1 ? ` ${leaf}` : ''}\n`).join('');
  if (chain.length === 0) return map?.flow ? null : [{ from: yaml.length, to: yaml.length, insert: block(path, 0) }];
  const { pair } = chain.at(-1)!;
  const missing = path.slice(chain.length);
  const { to, indent } = linesOf(yaml, pair);
  const inside = pair.value;
  if (isMap(inside) && inside.flow) {
    const at = rangeOf(inside);
    const whole = inside.clone() as YAMLMap;
    whole.setIn(missing, value);
    return [{ from: at[0], to: at[1], insert: inline(whole.toJSON()) }];
  }
  if (isMap(inside)) {
    const first = rangeOf(inside.items[0]!.key)[0];
    return [{ from: to, to, insert: block(missing, first - (yaml.lastIndexOf('\n', first - 1) + 1)) }];
  }
  if (inside === null || (isScalar(inside) && inside.value === null)) {
    const at = nextLine(yaml, rangeOf(pair.key)[0]);
    return [{ from: at, to: at, insert: block(missing, indent + 2) }];
  }
  return null;
}

/** A text as YAML on one line. */
function scalar(value: string, type?: Scalar.Type): string {
  if (/[\n\r]/.test(value)) return JSON.stringify(value);
  const node = new Scalar(value);
  if (type) node.type = type;
  return new Document(node).toString({ lineWidth: 0 }).trimEnd();
}

function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trimEnd().replace(/\n\s*/g, ' ');
}
