import { resolve } from 'node:path';
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml';
import type { RunSpec } from '#shared/contract/run-spec.ts';
import { runSpecSchema } from '#shared/contract/run-spec.ts';
import { RUN_OPTION_KEYS, RUN_OPTIONS, runOptionKey, runOptionName, type RunOptionKey } from '#shared/run-options.ts';
import { DEMO_DATASET, type OptionProblems, problemSentence, type RunValue, type RunValues } from '#shared/run-values.ts';
import { suggestion } from '#shared/suggestion.ts';

const MAX_CHARS = 1024 * 1024;
const PROBLEMS_SHOWN = 20;
/** Always written: what they are is not left to defaults. */
const ALWAYS: readonly RunOptionKey[] = ['datasetFile', 'runName', 'model', 'provider'];

/** What a run file says; nothing of it is checked against its option yet. */
export interface RunFile {
  /** Relative paths are whole ones already. */
  values: RunValues;
  /** Where each option stands, from 1. */
  lines: ReadonlyMap<RunOptionKey, number>;
  /** For messages. */
  name: string;
}

/** A run file that cannot be used; each problem is a sentence with its line. */
export class RunFileError extends Error {
  readonly problems: readonly string[];
  readonly code = 'invalid';
  constructor(problems: readonly string[]) {
    const more = problems.length - PROBLEMS_SHOWN;
    super([...problems.slice(0, PROBLEMS_SHOWN), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'));
    this.name = 'RunFileError';
    this.problems = problems;
  }
}

/**
 * Reads a run file: YAML, options by their names on the command line, lists as YAML lists or as on the command line.
 * @param name for messages @param folder relative paths count from it; null leaves them as they are
 * @throws RunFileError for what is no YAML, unknown keys and values of a wrong shape
 */
export function readRunFile(text: string, name: string, folder: string | null): RunFile {
  if (text.length > MAX_CHARS) throw new RunFileError([`${name} is larger than 1 MiB: a run file holds options, not data.`]);
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
  const lineOf = (offset: number): number => counter.linePos(offset).line;
  const at = (offset: number): string => `${name} line ${lineOf(offset)}`;
  const [error] = document.errors;
  if (error) throw new RunFileError([`${at(error.pos[0])}: not valid YAML (${error.message}).`]);
  const { contents } = document;
  const values: Record<string, RunValue> = {};
  const lines = new Map<RunOptionKey, number>();
  if (contents === null || (isScalar(contents) && contents.value === null)) return { values, lines, name };
  if (!isMap(contents)) throw new RunFileError([`${name} line 1: a run file holds options such as "model: NAME".`]);
  const problems: string[] = [];
  for (const { key: keyNode, value } of contents.items) {
    const offset = isNode(keyNode) ? (keyNode.range?.[0] ?? 0) : 0;
    const given = isScalar(keyNode) ? String(keyNode.value) : '';
    const key = runOptionKey(given.replaceAll('-', '_'));
    if (!key) {
      problems.push(`${at(offset)}: ${unknownKey(given)}`);
      continue;
    }
    const read = valueOf(value as Node | null, document);
    if (read === null) problems.push(`${at(offset)}: ${given} must be one value, a list or, for columns, pairs of names.`);
    else if (read !== undefined) {
      values[key] = RUN_OPTIONS[key].path && folder !== null && typeof read === 'string' ? wholePath(key, read, folder) : read;
      lines.set(key, lineOf(offset));
    }
  }
  if (problems.length > 0) throw new RunFileError(problems);
  return { values, lines, name };
}

/** Options of one call: what they ask for is not part of the run. */
const CALL_OPTIONS = ['resume', 'retry', 'verbose', 'log_prefix_chars', 'list_distributions', 'dry_run', 'run_file', 'home'];

function unknownKey(given: string): string {
  if (given === 'api_key') return 'keys do not belong into a file. Give --api_key, or keep the key in Settings or in its environment variable.';
  if (CALL_OPTIONS.includes(given)) return `${given} is an option of one call. Give it on the command line: --${given}.`;
  return `there is no option ${given.slice(0, 100)}.${suggestion(given, RUN_OPTION_KEYS.map(runOptionName), '')}`;
}

/** As the person wrote it: `undefined` for nothing, null for a shape that no option has. */
function valueOf(node: Node | null, document: Document): RunValue | undefined | null {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (target === null || target === undefined) return undefined;
  if (isScalar(target)) return scalarText(target);
  if (isSeq(target)) {
    const items = target.items.map((item) => (isScalar(item) ? (scalarText(item) ?? '') : null));
    return items.includes(null) ? null : (items as string[]);
  }
  if (!isMap(target)) return null;
  const pairs = target.items.map(({ key, value }) => (isScalar(key) && isScalar(value) ? [String(key.value), scalarText(value) ?? ''] : null));
  return pairs.includes(null) ? null : (Object.fromEntries(pairs as [string, string][]) as Record<string, string>);
}

/** Numbers keep their digits: a run called 007 is called so. */
function scalarText(node: { value: unknown; source?: string | undefined }): string | undefined {
  if (node.value === null || node.value === undefined) return undefined;
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value as number));
}

/** Relative paths count from `folder`; `demo` is the bundled dataset. */
export function wholePath(key: RunOptionKey, path: string, folder: string): string {
  const wanted = path.trim();
  return wanted === '' || wanted.includes('\0') || (key === 'datasetFile' && wanted === DEMO_DATASET) ? wanted : resolve(folder, wanted);
}

/** The sentences of what `readRunSpec` found wrong: with file and line for what comes from the file, as on the command line for the rest. */
export function problemSentences(problems: OptionProblems, file: RunFile | null, fromFile: (key: RunOptionKey) => boolean, prefix: string): string[] {
  return RUN_OPTION_KEYS.flatMap((key) => {
    const found = problems[key];
    if (!found) return [];
    const line = file?.lines.get(key);
    return [file && line !== undefined && fromFile(key) ? `${file.name} line ${line}: ${problemSentence(key, found, '')}` : problemSentence(key, found, prefix)];
  });
}

/**
 * A run as a run file: every option that is not its default, so that `--run_file` starts the same run again.
 * @param demoPath the bundled dataset, written as `demo`
 */
export function runYaml(spec: RunSpec, demoPath?: string): string {
  const usual = runSpecSchema.parse({ datasetFile: 'x', runName: 'x' });
  const written = RUN_OPTION_KEYS.filter((key) => spec[key] !== undefined && (ALWAYS.includes(key) || JSON.stringify(spec[key]) !== JSON.stringify(usual[key])));
  const values = written.map((key) => [runOptionName(key), key === 'datasetFile' && spec[key] === demoPath ? DEMO_DATASET : spec[key]]);
  const text = stringify(Object.fromEntries(values), { lineWidth: 0 });
  return `# A run of Talaria. Start it again under another name: npm run talaria -- batch --run_file=FILE --run_name=NAME\n# What is left out has its default: npm run talaria -- batch --help\n${text}`;
}
