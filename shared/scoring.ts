import { compileSafePattern, parsePattern, patternText } from './pattern.ts';

/*
 * How a person writes the rules that score a rollout: `[name=]kind[:argument][*weight]`, e.g. `numeric`, `tests:each 20`,
 * `polite=regex:/please/i*0.2`, `tool_errors*-0.1`. What a rule says of a rollout is the engine's matter.
 */

export const SCORE_KINDS = ['exact', 'numeric', 'regex', 'json', 'tests', 'turns', 'tool_errors', 'length', 'rating'] as const;
export type ScoreKind = (typeof SCORE_KINDS)[number];

/** How far two numbers may lie apart and still count as equal. */
export interface Tolerance {
  value: number;
  /** `value` is a share of the expected number, e.g. 0.01 of it; else an absolute difference. */
  relative: boolean;
}

type Argument =
  | { kind: 'exact' | 'json' | 'turns' | 'tool_errors' | 'rating' }
  | { kind: 'numeric'; tolerance: Tolerance | null }
  | { kind: 'regex'; source: string; flags: string }
  /** `each`: partial credit for a list of asserts. `command`: instead of the row's column `tests`. `seconds`: the limit of one run. */
  | { kind: 'tests'; each: boolean; seconds: number; command: string | null }
  /** Characters of the final answer. Without a target the value is their number. */
  | { kind: 'length'; target: { min: number; max: number } | null };

/** A rule as it was meant. `text` is what was written. */
export type ScoreRule = { name: string; weight: number; text: string } & Argument;

export const DEFAULT_TEST_SECONDS = 30;
const MAX_TEST_SECONDS = 3_600;
const MAX_RULE_CHARS = 2_000;
const MAX_RULES = 100;
const MAX_COLUMN_CHARS = 50_000;

const NAME = /^([A-Za-z_][A-Za-z0-9_.-]{0,63})\s*=\s*/;
const KIND = /^([A-Za-z_]+)\s*(?::\s*([^]*))?$/;
const WEIGHT = /\s*\*\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i;
/** Before a command; a comma would end the rule where several stand in one text. */
const TESTS_PART = /^\s*(each|\d+(?:\.\d+)?)(?:\s*,|\s|$)/;
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Reads one rule. Throws an Error with a sentence for people when it cannot.
 * The name is the kind's when none is given; a weight is 1 when none is given, and may be negative or 0 (kept, but no part of the reward).
 */
export function parseScoreRule(text: string): ScoreRule {
  const written = text.trim();
  if (written.length > MAX_RULE_CHARS) throw new Error(`A rule has at most ${MAX_RULE_CHARS.toLocaleString('en')} characters.`);
  const named = NAME.exec(written);
  const unnamed = named ? written.slice(named[0].length) : written;
  const weighed = WEIGHT.exec(unnamed);
  const rest = (weighed ? unnamed.slice(0, weighed.index) : unnamed).trim();
  const weight = weighed ? Number(weighed[1]) : 1;
  if (!Number.isFinite(weight)) throw new Error(`The weight in “${written}” is too large.`);
  const parts = KIND.exec(rest);
  const kind = parts?.[1]?.toLowerCase();
  if (!parts || !isKind(kind)) throw new Error(`“${written || text}” is no rule for scoring. Write [name=]kind[:argument][*weight] with one of these kinds: ${SCORE_KINDS.join(', ')}.`);
  const argument = argumentOf(kind, parts[2]?.trim() ?? '', written);
  const name = named?.[1] ?? kind;
  if (name === 'rating' && kind !== 'rating') throw new Error(`“rating” is the name of a person's rating: give the rule “${written}” another one.`);
  return { name, weight, text: written, ...argument };
}

/**
 * Reads the rules of a run or a row. Rules without a name that are of the same kind are numbered (`regex`, `regex_2`); a name that was
 * given twice is an error.
 */
export function parseScoreRules(texts: readonly string[]): ScoreRule[] {
  if (texts.length > MAX_RULES) throw new Error(`There are ${texts.length.toLocaleString('en')} rules for scoring; at most ${MAX_RULES} are possible.`);
  const rules = texts.map(parseScoreRule);
  const given = new Set<string>();
  for (const rule of rules) {
    if (!hasName(rule)) continue;
    if (given.has(rule.name)) throw new Error(`Two rules for scoring are called “${rule.name}”: give each its own name.`);
    given.add(rule.name);
  }
  const taken = new Set(given);
  return rules.map((rule) => {
    if (hasName(rule)) return rule;
    let name = rule.name;
    for (let i = 2; taken.has(name); i++) name = `${rule.name}_${i}`;
    taken.add(name);
    return { ...rule, name };
  });
}

/**
 * The rules in a row's column `scoring`: one text with rules on lines of their own or between commas, a JSON list of rules, or a list.
 * Undefined when the row has none. Throws an Error with a sentence for people.
 */
export function rulesOfRow(value: unknown): ScoreRule[] | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  let texts: unknown = value;
  if (typeof value === 'string') {
    if (value.length > MAX_COLUMN_CHARS) throw new Error('The column “scoring” is too long.');
    texts = value.split('\n').flatMap(rulesOfLine);
    if (value.trimStart().startsWith('[')) {
      try {
        texts = JSON.parse(value);
      } catch {
        throw new Error('The column “scoring” begins like a JSON list but is none.');
      }
    }
  }
  if (!Array.isArray(texts) || !texts.every((t) => typeof t === 'string')) throw new Error('The column “scoring” must be a rule, several with commas between or on lines of their own, or a list of rules.');
  return parseScoreRules(texts);
}

/** Several rules between commas, or one that has commas in it, as patterns and commands may. */
function rulesOfLine(line: string): string[] {
  const parts: string[] = [''];
  let inPattern = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (c === '/' && (inPattern || /regex:\s*$/.test(parts.at(-1)!.slice(-20)))) inPattern = !inPattern;
    if (c === ',' && !inPattern) parts.push('');
    else parts[parts.length - 1] += c === '\\' ? c + (line[++i] ?? '') : c;
  }
  const rules = parts.filter((part) => part.trim() !== '');
  return rules.length > 1 && !rules.every(isRule) && isRule(line) ? [line] : rules;
}

function isRule(text: string): boolean {
  try {
    parseScoreRule(text);
    return true;
  } catch {
    return false;
  }
}

/** A rule as one would write it: `parseScoreRule` of it means the same. */
export function scoreRuleText(rule: ScoreRule): string {
  const argument = argumentText(rule);
  const name = rule.name === rule.kind ? '' : `${rule.name}=`;
  return `${name}${rule.kind}${argument === '' ? '' : `:${argument}`}${rule.weight === 1 ? '' : `*${rule.weight}`}`;
}

function argumentOf(kind: ScoreKind, argument: string, written: string): Argument {
  switch (kind) {
    case 'numeric':
      return { kind, tolerance: argument === '' ? null : toleranceOf(argument, written) };
    case 'regex':
      return { kind, ...patternOf(argument) };
    case 'tests':
      return { kind, ...testsOf(argument, written) };
    case 'length':
      return { kind, target: argument === '' ? null : targetOf(argument, written) };
    default:
      if (argument !== '') throw new Error(`“${kind}” takes no argument, but “${written}” gives one.`);
      return { kind };
  }
}

function toleranceOf(argument: string, written: string): Tolerance {
  const relative = argument.endsWith('%');
  const digits = relative ? argument.slice(0, -1).trim() : argument;
  const value = Number(digits) / (relative ? 100 : 1);
  if (!NUMBER.test(digits) || !Number.isFinite(value)) throw new Error(`The tolerance in “${written}” must be a number such as 0.01, or a share such as 1%.`);
  return { value, relative };
}

function patternOf(argument: string): { source: string; flags: string } {
  const pattern = parsePattern(argument);
  compileSafePattern(pattern);
  return { source: pattern.pattern, flags: pattern.flags };
}

function testsOf(argument: string, written: string): { each: boolean; seconds: number; command: string | null } {
  let rest = argument;
  let each = false;
  let seconds = DEFAULT_TEST_SECONDS;
  for (let part = TESTS_PART.exec(rest); part; part = TESTS_PART.exec(rest)) {
    if (part[1] === 'each') each = true;
    else seconds = Number(part[1]);
    rest = rest.slice(part[0].length);
  }
  if (!(seconds > 0 && seconds <= MAX_TEST_SECONDS)) throw new Error(`The time limit in “${written}” must be more than 0 and at most ${MAX_TEST_SECONDS.toLocaleString('en')} seconds.`);
  const command = rest.trim();
  if (/^[+-]?[\d.]+$/.test(command)) throw new Error(`“${command}” in “${written}” is neither a time limit nor a command. A limit is a number of seconds such as 30 or 0.5.`);
  return { each, seconds, command: command === '' ? null : command };
}

function targetOf(argument: string, written: string): { min: number; max: number } {
  const parts = /^(\d*)\s*\.\.\s*(\d*)$/.exec(argument);
  const min = Number(parts?.[1] || 0);
  const max = parts?.[2] ? Number(parts[2]) : Number.POSITIVE_INFINITY;
  if (!parts || (!parts[1] && !parts[2]) || min > max || max === 0) throw new Error(`The target in “${written}” must be a range of characters, e.g. length:200..2000, 200.. or ..2000.`);
  return { min, max };
}

function argumentText(rule: ScoreRule): string {
  switch (rule.kind) {
    case 'numeric':
      return rule.tolerance === null ? '' : rule.tolerance.relative ? `${Number((rule.tolerance.value * 100).toPrecision(15))}%` : String(rule.tolerance.value);
    case 'regex':
      return patternText({ pattern: rule.source, flags: rule.flags });
    case 'tests':
      return [...(rule.each ? ['each'] : []), ...(rule.seconds === DEFAULT_TEST_SECONDS ? [] : [String(rule.seconds)]), ...(rule.command === null ? [] : [rule.command])].join(' ');
    case 'length':
      return rule.target === null ? '' : `${rule.target.min || ''}..${Number.isFinite(rule.target.max) ? rule.target.max : ''}`;
    default:
      return '';
  }
}

function hasName(rule: ScoreRule): boolean {
  return NAME.test(rule.text);
}

function isKind(word: string | undefined): word is ScoreKind {
  return SCORE_KINDS.includes(word as ScoreKind);
}
