import { readFileSync, statSync } from 'node:fs';
import writeFileAtomic from 'write-file-atomic';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import { priceSchema, type Price } from '#shared/contract/spend.ts';
import { type ConfigDistribution, configDistributionSchema, type ConfigProvider, configProviderSchema, DISTRIBUTION_NAME, PROVIDER_ID, SECTIONS, type Sections } from './config-schema.ts';
import { homeError } from './home.ts';

/** What config.yaml says, with defaults for everything that it does not say or says wrongly. */
export interface ConfigValues extends Sections {
  /** By provider id, in the order of the file. */
  providers: Record<string, ConfigProvider>;
  /** Toolsets of new chats; null when the file does not say. */
  toolsets: string[] | null;
  /** People's own prices, by model. */
  prices: Record<string, Price>;
  /** People's own toolset distributions, by name. */
  distributions: Record<string, ConfigDistribution>;
  /** What is wrong in the file, each with its line and key, and what is used instead. */
  problems: string[];
}

/** config.yaml could not be changed; it is as it was. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

export type ConfigPath = readonly [string, ...string[]];
/** One change: the value at `path`, or `undefined` to remove it. */
export type ConfigChange = readonly [path: ConfigPath, value: ConfigValue | undefined];
export type ConfigValue = string | number | boolean | readonly string[] | { readonly [key: string]: ConfigValue };

interface Parsed {
  stamp: string;
  text: string;
  values: ConfigValues;
  document: Document | null;
  /** Why the file cannot be rewritten without losing something; null when it can. */
  broken: string | null;
}

const NAME = 'config.yaml';
const MAX_BYTES = 1024 * 1024;
const WRITE_ATTEMPTS = 5;

/**
 * The person's config.yaml. It may be edited outside at any time: each read looks whether the file has changed, each write
 * starts from the file as it is. Comments, order and keys that Talaria does not know are kept. A file that is not valid YAML
 * is never written: defaults are used and `problems` tells the place, until somebody has mended it.
 */
export class ConfigFile {
  readonly #file: string;
  #cached: Parsed | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  read(): ConfigValues {
    return this.#load().values;
  }

  /**
   * Makes all changes in one atomic write. Throws ConfigError when the file is broken or a key is in the way of a change,
   * HomeError when it cannot be written.
   */
  change(changes: readonly ConfigChange[]): void {
    for (let attempt = 1; ; attempt++) {
      const before = this.#load(true);
      const text = withChanges(before, changes);
      if (text === before.text) return;
      // Somebody saved the file between our reading and now: theirs is the base.
      if (stampOf(this.#file) !== before.stamp && attempt < WRITE_ATTEMPTS) continue;
      try {
        writeFileAtomic.sync(this.#file, text, before.stamp === '' ? { mode: 0o600 } : {});
      } catch (error) {
        throw homeError(this.#file, error);
      }
      return;
    }
  }

  #load(fresh = false): Parsed {
    const stamp = stampOf(this.#file);
    if (!fresh && this.#cached?.stamp === stamp) return this.#cached;
    this.#cached = parse(this.#file, stamp);
    return this.#cached;
  }
}

/** Changes whenever the file does; empty when there is none. */
function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : '';
}

function parse(file: string, stamp: string): Parsed {
  const values: ConfigValues = { ...defaults(), providers: {}, toolsets: null, prices: {}, distributions: {}, problems: [] };
  const fail = (reason: string): Parsed => {
    values.problems.push(`${reason} Default settings are used and nothing is written to it until this is mended.`);
    return { stamp, text: '', values, document: null, broken: reason };
  };
  let text = '';
  try {
    if (stamp !== '') {
      const bytes = readFileSync(file);
      if (bytes.length > MAX_BYTES) return fail(`${NAME} is larger than 1 MiB.`);
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    }
  } catch (error) {
    return fail(error instanceof TypeError ? `${NAME} is not UTF-8 text.` : `${NAME} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }

  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    return fail(`${NAME} line ${line}, column ${col}: not valid YAML (${error.message}).`);
  }
  if (document.contents !== null && !isMap(document.contents) && !isEmptyNode(document.contents)) {
    return fail(`${NAME} line 1: must hold keys such as "ui:" and "providers:".`);
  }
  try {
    document.toJS();
  } catch (cause) {
    return fail(`${NAME}: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
  check(document, lines, values);
  return { stamp, text, values, document, broken: null };
}

/** Fills `values` from the document, key by key, so that one wrong key costs only itself. */
function check(document: Document, lines: LineCounter, values: ConfigValues): void {
  const at = (path: readonly string[]): string => {
    const node = document.getIn(path, true) as Node | undefined;
    return node?.range ? `${NAME} line ${lines.linePos(node.range[0]).line}` : NAME;
  };
  const keysOf = (path: readonly string[]): Record<string, unknown> => {
    const node = document.getIn(path, true) as Node | null | undefined;
    if (node === undefined || node === null || isEmptyNode(node)) return {};
    const value: unknown = node.toJS(document);
    if (value && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
    values.problems.push(`${at(path)}: ${path.join('.')} must hold keys of its own; it is ignored.`);
    return {};
  };
  const fields = <S extends z.ZodObject>(path: readonly string[], schema: S, whenWrong: (key: string) => string): z.infer<S> => {
    const good: Record<string, unknown> = {};
    const raw = keysOf(path);
    for (const [key, field] of Object.entries(schema.shape)) {
      if (raw[key] === undefined || raw[key] === null) continue;
      const result = (field as z.ZodType).safeParse(raw[key]);
      if (result.success) good[key] = result.data;
      else values.problems.push(`${at([...path, key])}: ${[...path, key].join('.')} ${result.error.issues[0]?.message ?? 'is wrong'}; ${whenWrong(key)}.`);
    }
    return schema.parse(good) as z.infer<S>;
  };

  for (const name of Object.keys(SECTIONS) as (keyof Sections)[]) {
    const usual = values[name] as Record<string, unknown>;
    Object.assign(values, { [name]: fields([name], SECTIONS[name] as z.ZodObject, (key) => (usual[key] === undefined ? 'it is ignored' : `"${String(usual[key])}" is used`)) });
  }
  const toolsets = document.get('toolsets') as unknown;
  if (toolsets !== undefined && toolsets !== null) {
    const list = z.array(z.string()).safeParse((toolsets as Node).toJS?.(document) ?? toolsets);
    if (list.success) values.toolsets = list.data;
    else values.problems.push(`${at(['toolsets'])}: toolsets must be a list of names; it is ignored.`);
  }
  for (const [model, value] of Object.entries(keysOf(['prices']))) {
    const price = priceSchema.safeParse(value);
    if (price.success) values.prices[model] = price.data;
    else values.problems.push(`${at(['prices', model])}: prices.${model} must have "input" and "output" in US dollars for a million tokens; it is ignored.`);
  }
  for (const [name, value] of Object.entries(keysOf(['distributions']))) {
    const own = configDistributionSchema.safeParse(value);
    if (own.success && DISTRIBUTION_NAME.test(name)) values.distributions[name] = own.data;
    else {
      const path = ['distributions', name, ...(own.error?.issues[0]?.path ?? [])].map(String);
      values.problems.push(`${at(path.slice(0, 3))}: ${path.join('.')} ${own.error?.issues[0]?.message ?? 'cannot be used: a name has only letters, digits, "-" and "_", at most 60'}; it is ignored.`);
    }
  }
  for (const id of Object.keys(keysOf(['providers']))) {
    if (PROVIDER_ID.test(id)) values.providers[id] = fields(['providers', id], configProviderSchema, () => 'it is ignored');
    else values.problems.push(`${at(['providers', id])}: providers.${id} is ignored; an id has only small letters, digits, "-" and "_", at most 40.`);
  }
}

function defaults(): Sections {
  return Object.fromEntries(Object.entries(SECTIONS).map(([name, schema]) => [name, (schema as z.ZodObject).parse({})])) as unknown as Sections;
}

function isEmptyNode(node: unknown): boolean {
  return isScalar(node) && (node.value === null || node.value === '');
}

function withChanges(before: Parsed, changes: readonly ConfigChange[]): string {
  if (before.broken !== null || !before.document) throw new ConfigError(`${before.broken ?? NAME} Mend it first; nothing was changed.`);
  const document = before.document.clone();
  let changed = false;
  for (const [path, value] of changes) {
    if (sameValue(document.getIn(path), value, document)) continue;
    changed = true;
    if (value !== undefined) setIn(document, path, value);
    else if (document.hasIn(path)) document.deleteIn(path);
  }
  if (!changed) return before.text;
  const text = document.toString({ lineWidth: 0 });
  return before.text.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;
}

function sameValue(present: unknown, value: ConfigValue | undefined, document: Document): boolean {
  return isDeepStrictEqual(isNode(present) ? present.toJS(document) : present, value);
}

function setIn(document: Document, path: ConfigPath, value: ConfigValue): void {
  for (let depth = 0; depth < path.length; depth++) {
    const above = path.slice(0, depth);
    const node = document.getIn(above, true);
    if (node === undefined || node === null || isMap(node)) continue;
    if (!isEmptyNode(node)) throw new ConfigError(`${NAME}: "${above.join('.')}" must hold keys of its own. Mend it first; nothing was changed.`);
    // "ui:" without anything: an empty map in its place, with its comments.
    const map = document.createNode({});
    map.commentBefore = (node as Node).commentBefore ?? null;
    map.comment = (node as Node).comment ?? null;
    if (depth === 0) document.contents = map;
    else document.setIn(above, map);
  }
  const present = document.getIn(path, true);
  if (isScalar(present) && typeof value !== 'object') {
    present.value = value;
    delete present.source;
  } else if (isSeq(present) && Array.isArray(value)) setItems(present, value as readonly string[], document);
  else document.setIn(path, document.createNode(value));
}

/** Entries that stay keep their comments and place; new ones come last. */
function setItems(list: YAMLSeq, value: readonly string[], document: Document): void {
  const valueOf = (item: unknown): unknown => (isNode(item) ? item.toJS(document) : item);
  const kept = list.items.filter((item) => value.includes(valueOf(item) as string));
  const there = new Set(kept.map(valueOf));
  list.items = [...kept, ...value.filter((item) => !there.has(item)).map((item) => document.createNode(item))];
  // order and repeats are part of the value: where the old entries cannot give them, the list is written anew
  if (!isDeepStrictEqual(list.toJS(document), value)) list.items = value.map((item) => document.createNode(item));
}
