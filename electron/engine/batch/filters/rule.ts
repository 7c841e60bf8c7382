import { createContext, Script } from 'node:vm';
import type { FilterRule } from '#shared/filters.ts';
import { compileSafePattern, type Pattern } from '#shared/pattern.ts';
import { finalAnswer } from './answer.ts';
import type { FilterSubject } from './types.ts';

/** Of a longer text the beginning and the end are looked at. */
const MATCHED_CHARS = 200_000;
/** A pattern that takes longer on one text does not match it. */
const MATCH_MS = 100;
const KEPT_PATTERNS = 100;

/**
 * Whether the rule matches. What is not known (no such column, no reward) matches only `= null`; a number that is written as text
 * compares as a number; `contains` looks for words without regard to case, in a list for an element.
 */
export function matchesRule({ field, op, value }: FilterRule, subject: FilterSubject): boolean {
  const actual = valueOf(field, subject) ?? null;
  if (value === null) return op === '=' ? actual === null : op === '!=' && actual !== null;
  if (actual === null) return false;
  if (typeof value === 'object') return patternMatches(value, asText(actual));
  switch (op) {
    case '=':
      return isEqual(actual, value);
    case '!=':
      return !isEqual(actual, value);
    case 'contains':
      return contains(actual, String(value));
    case 'matches':
      return false;
    default: {
      const number = asNumber(actual);
      return number !== null && typeof value === 'number' && compare(op, number, value);
    }
  }
}

function compare(op: '>' | '>=' | '<' | '<=', a: number, b: number): boolean {
  return op === '>' ? a > b : op === '>=' ? a >= b : op === '<' ? a < b : a <= b;
}

function valueOf(field: string, s: FilterSubject): unknown {
  const { facts } = s;
  const dot = field.indexOf('.');
  if (dot > 0) {
    const name = field.slice(dot + 1);
    const from = field.startsWith('row.') ? s.row() : s.scores();
    return Object.hasOwn(from, name) ? from[name] : null;
  }
  switch (field) {
    case 'turns': return facts.turns;
    case 'tool_calls': return facts.toolCalls;
    case 'tool_errors': return facts.toolErrors;
    case 'api_calls': return facts.apiCalls;
    case 'tokens': return facts.usage.promptTokens + facts.usage.completionTokens;
    case 'cost': return facts.costUsd;
    case 'duration_s': return (facts.endedAt - facts.startedAt) / 1000;
    case 'reward': return facts.reward;
    case 'rating': return facts.rating;
    case 'prompt_index': return s.promptIndex;
    case 'rollout': return s.rollout;
    case 'model': return facts.model;
    case 'provider': return facts.provider;
    case 'exit_reason': return facts.exitReason;
    case 'toolsets': return facts.toolsets;
    case 'answer': return finalAnswer(s.messages());
    case 'prompt': return s.prompt();
    default: return null;
  }
}

function isEqual(actual: unknown, value: string | number | boolean): boolean {
  if (typeof value === 'number') return asNumber(actual) === value;
  return asText(actual) === String(value);
}

function contains(actual: unknown, words: string): boolean {
  const wanted = words.toLowerCase();
  if (Array.isArray(actual)) return actual.some((part) => asText(part).toLowerCase() === wanted);
  return asText(actual).toLowerCase().includes(wanted);
}

function asNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) return value.join(', ');
  return JSON.stringify(value) ?? '';
}

const compiled = new Map<string, RegExp>();
let watched: { script: Script; context: { pattern: RegExp | null; text: string } } | null = null;

function patternMatches(pattern: Pattern, whole: string): boolean {
  const text = whole.length > MATCHED_CHARS ? `${whole.slice(0, MATCHED_CHARS / 2)}\n${whole.slice(-MATCHED_CHARS / 2)}` : whole;
  const key = `${pattern.flags}/${pattern.pattern}`;
  let regex = compiled.get(key);
  if (!regex) {
    regex = compileSafePattern(pattern);
    if (compiled.size >= KEPT_PATTERNS) compiled.clear();
    compiled.set(key, regex);
  }
  // only a script of its own can be stopped while a regular expression runs
  watched ??= { script: new Script('pattern.test(text)'), context: createContext({ pattern: null, text: '' }) as { pattern: RegExp | null; text: string } };
  Object.assign(watched.context, { pattern: regex, text });
  try {
    return watched.script.runInContext(watched.context, { timeout: MATCH_MS }) === true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    Object.assign(watched.context, { pattern: null, text: '' });
  }
}
