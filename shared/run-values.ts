import { runSpecSchema, type RunSpec } from './contract/run-spec.ts';
import { parseFilter, parseFilters } from './filters.ts';
import { RUN_OPTION_KEYS, RUN_OPTIONS, runOptionLimits, runOptionName, runOptionText, type RunOptionKey, type RunOptionLimits } from './run-options.ts';
import { parseScoreRule, parseScoreRules } from './scoring.ts';

/** An option as a person wrote it: in the form, on the command line, in a run file. */
export type RunValue = string | readonly string[] | Readonly<Record<string, string>>;
export type RunValues = { readonly [K in RunOptionKey]?: RunValue | undefined };

/** What is wrong with an option: a code with what a sentence needs. */
export interface OptionProblem {
  code: 'required' | 'whole' | 'whole_from' | 'number' | 'number_from' | 'number_above' | 'number_above_to' | 'choice' | 'switch' | 'name' | 'device' | 'url' | 'text' | 'map' | 'many' | 'model' | 'provider' | 'expression';
  params: Readonly<Record<string, string | number>>;
}

export type OptionProblems = { [K in RunOptionKey]?: OptionProblem };

/** The bundled dataset by its name. */
export const DEMO_DATASET = 'demo';
const OFFLINE = { provider: 'offline', model: 'offline/demo' };
/** Of a server that is given by its address. */
const CUSTOM_PROVIDER = 'custom';

type Read = { value: unknown; problem?: undefined } | { problem: OptionProblem };

/**
 * The run that the values mean, or everything that is wrong with them: the one reader of the form, the command line and run files.
 * Empty texts count as left out.
 * @param demoPath the bundled dataset's own path, when it is known: it stands for `demo`
 */
export function readRunSpec(values: RunValues, demoPath?: string): { spec: RunSpec; problems: null } | { spec: null; problems: OptionProblems } {
  const problems: OptionProblems = {};
  const input: Partial<Record<RunOptionKey, unknown>> = {};
  for (const key of RUN_OPTION_KEYS) {
    const read = readRunOption(key, values[key]);
    if (read.problem) problems[key] = read.problem;
    else if (read.value !== undefined) input[key] = read.value;
  }
  for (const key of ['datasetFile', 'runName'] as const) if (input[key] === undefined) problems[key] ??= problem('required');
  chooseModel(input, problems, demoPath);
  const parsed = runSpecSchema.safeParse(input);
  for (const issue of parsed.error?.issues ?? []) {
    const key = issue.path[0] as RunOptionKey;
    if (key in RUN_OPTIONS) problems[key] ??= problemOf(key, input[key], issue.code === 'custom');
  }
  return parsed.success && Object.keys(problems).length === 0 ? { spec: parsed.data, problems: null } : { spec: null, problems };
}

/** One value, by the kind of its option; `undefined` when it is left out. */
export function readRunOption(key: RunOptionKey, value: RunValue | undefined): Read {
  const limits = runOptionLimits(key);
  if (value === undefined) return { value: undefined };
  if (typeof value === 'string') return readText(key, key === 'ephemeralSystemPrompt' ? value : value.trim(), limits);
  if (Array.isArray(value)) return limits.kind === 'list' ? readList(key, value as readonly string[]) : { problem: problemOf(key, value.join(',')) };
  return limits.kind === 'map' ? readMap(value as Readonly<Record<string, string>>) : { problem: limits.kind === 'list' || limits.kind === 'text' ? problem('text') : problemOf(key, runOptionText(value)) };
}

/** Where the model comes from: named with a provider or a server, or the scripted one for the demo dataset. */
function chooseModel(input: Partial<Record<RunOptionKey, unknown>>, problems: OptionProblems, demoPath: string | undefined): void {
  const { model, provider, baseUrl } = input;
  const isDemo = input.datasetFile === DEMO_DATASET || (demoPath !== undefined && input.datasetFile === demoPath);
  if (problems.baseUrl || problems.model || problems.provider) return;
  if (model === undefined) {
    if (isDemo && baseUrl === undefined && (provider === undefined || provider === OFFLINE.provider)) Object.assign(input, OFFLINE);
    else problems.model = problem('model');
  } else if (provider === undefined && baseUrl === undefined) {
    if (model === OFFLINE.model) input.provider = OFFLINE.provider;
    else problems.provider = problem('provider', { model: String(model as string) });
  } else input.provider = provider ?? CUSTOM_PROVIDER;
}

function readText(key: RunOptionKey, text: string, limits: RunOptionLimits): Read {
  if (text === '') return { value: undefined };
  if (text.includes('\0')) return { problem: problem('text') };
  switch (limits.kind) {
    case 'whole':
      return inLimits(key, /^[+-]?\d{1,16}$/.test(text) ? Number(text) : NaN, text, limits);
    case 'number':
      return inLimits(key, /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN, text, limits);
    case 'choice':
      return limits.choices.includes(text) ? { value: text } : { problem: problemOf(key, text) };
    case 'switch':
      if (/^(?:true|yes|1)$/i.test(text)) return { value: true };
      return /^(?:false|no|0)$/i.test(text) ? { value: false } : { problem: problemOf(key, text) };
    case 'list':
      return text === 'none' ? { value: [] } : readList(key, splitList(text));
    case 'map':
      return readPairs(text);
    default:
      return { value: text.toWellFormed() };
  }
}

function inLimits(key: RunOptionKey, value: number, given: string, { min, max, above }: RunOptionLimits): Read {
  const fits = value <= (max ?? Number.MAX_SAFE_INTEGER) && (min === null || (above ? value > min : value >= min));
  return fits ? { value } : { problem: problemOf(key, given) };
}

function readList(key: RunOptionKey, items: readonly string[]): Read {
  const value = items.map((item) => item.trim().toWellFormed()).filter((item) => item !== '');
  for (const item of value) {
    const why = expressionFault(key, item);
    if (why !== null) return { problem: problem('expression', { given: item.slice(0, 200), why }) };
  }
  if (value.length > 100) return { problem: problem('many', { max: 100 }) };
  const why = faultOf(() => (key === 'filters' ? parseFilters(value) : key === 'scoring' ? parseScoreRules(value) : null));
  return why === null ? { value } : { problem: problem('expression', { given: value.join(', ').slice(0, 200), why }) };
}

/** Why a filter or scoring rule cannot be read; null when it can, or is none. */
export function expressionFault(key: RunOptionKey, text: string): string | null {
  return faultOf(() => (key === 'filters' ? parseFilter(text) : key === 'scoring' ? parseScoreRule(text) : null));
}

function faultOf(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function readPairs(text: string): Read {
  const pairs = splitList(text).map((part) => /^([^=]*)=([\s\S]*)$/.exec(part));
  return pairs.some((pair) => pair === null) ? { problem: problem('map') } : readMap(Object.fromEntries(pairs.map((pair) => [pair![1]!.trim(), unquoted(pair![2]!.trim())])));
}

/** A name with a comma stands in quotes. */
function unquoted(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function readMap(map: Readonly<Record<string, string>>): Read {
  const entries = Object.entries(map).map(([ours, theirs]) => [ours.trim(), theirs.trim()] as const);
  return entries.every(([ours, theirs]) => ours !== '' && theirs !== '') ? { value: Object.fromEntries(entries) } : { problem: problem('map') };
}

/**
 * Splits at commas, but not within quotes, nor within a /regular expression/ (after `matches` or `regex:`).
 * An opening quote that is never closed is a character like any other.
 */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]!;
    const opens = c === '"' || (c === '/' && /(?:\bmatches\s+|\bregex:)$/.test(part));
    const end = opens ? closing(text, i) : -1;
    if (end > 0) {
      part += text.slice(i, end + 1);
      i = end;
    } else if (c === ',') {
      parts.push(part);
      part = '';
    } else part += c;
  }
  return [...parts, part].map((p) => p.trim()).filter((p) => p !== '');
}

/** Where what opens at `from` ends; -1 when it does not. */
function closing(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === text[from]) return i;
  }
  return -1;
}

function problem(code: OptionProblem['code'], params: OptionProblem['params'] = {}): OptionProblem {
  return { code, params };
}

/** The problem that a value has which the option does not take. */
function problemOf(key: RunOptionKey, value: unknown, device = false): OptionProblem {
  const { kind, min, max, above, choices } = runOptionLimits(key);
  const given = runOptionText(value).slice(0, 100);
  if (key === 'runName') return problem(device ? 'device' : 'name');
  switch (kind) {
    case 'whole':
      return max === null ? problem('whole_from', { min: min ?? 0, given }) : problem('whole', { min: min ?? 0, max, given });
    case 'number':
      if (above) return max === null ? problem('number_above', { min: min ?? 0, given }) : problem('number_above_to', { min: min ?? 0, max, given });
      return max === null ? problem('number_from', { min: min ?? 0, given }) : problem('number', { min: min ?? 0, max, given });
    case 'choice':
      return problem('choice', { given, choices: choices.join(', ') });
    case 'switch':
      return problem('switch', { given });
    case 'url':
      return problem('url');
    case 'map':
      return problem('map');
    default:
      return problem('text');
  }
}

const TEXTS: Readonly<Record<OptionProblem['code'], string>> = {
  required: 'must be given.',
  whole: 'must be a whole number from {{min}} to {{max}}, not "{{given}}".',
  whole_from: 'must be a whole number at least {{min}}, not "{{given}}".',
  number: 'must be a number from {{min}} to {{max}}, not "{{given}}".',
  number_from: 'must be a number at least {{min}}, not "{{given}}".',
  number_above: 'must be a number above {{min}}, not "{{given}}".',
  number_above_to: 'must be a number above {{min}}, at most {{max}}, not "{{given}}".',
  choice: 'cannot be "{{given}}". It is one of: {{choices}}.',
  switch: 'must be true or false, not "{{given}}".',
  name: ': Use letters, digits, dot, dash and underscore; start with a letter or digit; at most 100 characters.',
  device: ': Windows cannot have a folder of this name: take one that does not end in a dot and is no device name (CON, NUL, COM1, …).',
  url: 'must be a whole URL like http://localhost:8000/v1.',
  text: 'must be a text.',
  map: 'must name our column and the one of the file: prompt=question,answer=solution.',
  many: 'can have at most {{max}} entries.',
  model: 'must be given: which model should answer? (offline/demo is the scripted demo model, for trying things out.)',
  provider: ': Where does {{model}} run? Give {{prefix}}provider (e.g. openrouter) or {{prefix}}base_url.',
  expression: ': "{{given}}" cannot be used. {{why}}',
};

/** The sentence for a person. @param prefix before names of options: `--` on the command line, nothing in a run file. */
export function problemSentence(key: RunOptionKey, { code, params }: OptionProblem, prefix: string): string {
  const text = fill(TEXTS[code], { ...params, prefix });
  return `${prefix}${runOptionName(key)}${text.startsWith(':') ? '' : ' '}${text}`;
}

/** The same sentence without the option's name, for its field. */
export function problemText({ code, params }: OptionProblem): string {
  const text = fill(TEXTS[code], { ...params, prefix: '' }).replace(/^: /, '');
  return text[0]!.toUpperCase() + text.slice(1);
}

function fill(text: string, params: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name] ?? ''));
}

/** A resumed run keeps its options but for those that do not change what a rollout is. `kept` are those of `changes` that cannot change, with what they are. */
export function resumeSpec(old: RunSpec, changes: RunValues): { spec: RunSpec; kept: { key: RunOptionKey; was: string }[]; problems: OptionProblems } {
  const spec: RunSpec = { ...old };
  const kept: { key: RunOptionKey; was: string }[] = [];
  const problems: OptionProblems = {};
  for (const key of RUN_OPTION_KEYS) {
    const read = readRunOption(key, changes[key]);
    if (read.problem) problems[key] = read.problem;
    else if (read.value === undefined || runOptionText(read.value) === runOptionText(old[key])) continue;
    else if (RUN_OPTIONS[key].resume) Object.assign(spec, { [key]: read.value });
    else kept.push({ key, was: runOptionText(old[key]) });
  }
  return { spec, kept, problems };
}
