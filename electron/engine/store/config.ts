import { readFileSync, statSync } from 'node:fs';
import writeFileAtomic from 'write-file-atomic';
import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { type ConfigProvider, configProviderSchema, PROVIDER_ID, type UiConfig, uiSchema } from './config-schema.ts';
import { homeError } from './home.ts';

/** What config.yaml says, with defaults for everything that it does not say or says wrongly. */
export interface ConfigValues {
  ui: UiConfig;
  /** By provider id, in the order of the file. */
  providers: Record<string, ConfigProvider>;
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
export type ConfigChange = readonly [path: ConfigPath, value: string | undefined];

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
  const values: ConfigValues = { ui: uiSchema.parse({}), providers: {}, problems: [] };
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

  const defaults = values.ui;
  values.ui = fields(['ui'], uiSchema, (key) => `"${defaults[key as keyof UiConfig]}" is used`);
  for (const id of Object.keys(keysOf(['providers']))) {
    if (PROVIDER_ID.test(id)) values.providers[id] = fields(['providers', id], configProviderSchema, () => 'it is ignored');
    else values.problems.push(`${at(['providers', id])}: providers.${id} is ignored; an id has only small letters, digits, "-" and "_", at most 40.`);
  }
}

function isEmptyNode(node: unknown): boolean {
  return isScalar(node) && (node.value === null || node.value === '');
}

function withChanges(before: Parsed, changes: readonly ConfigChange[]): string {
  if (before.broken !== null || !before.document) throw new ConfigError(`${before.broken ?? NAME} Mend it first; nothing was changed.`);
  const document = before.document.clone();
  let changed = false;
  for (const [path, value] of changes) {
    if (document.getIn(path) === value) continue;
    changed = true;
    if (value !== undefined) setIn(document, path, value);
    else if (document.hasIn(path)) document.deleteIn(path);
  }
  if (!changed) return before.text;
  const text = document.toString({ lineWidth: 0 });
  return before.text.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;
}

function setIn(document: Document, path: ConfigPath, value: string): void {
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
  if (isScalar(present)) {
    present.value = value;
    delete present.source;
  } else document.setIn(path, value);
}
