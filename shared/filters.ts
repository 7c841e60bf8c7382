import { compileSafePattern, parsePattern, patternText } from './pattern.ts';

/*
 * What a run leaves out of its files, as small expressions: a built-in filter (`no_reasoning`, `too_short:200`), or a rule over any field
 * of a trajectory, `[name=]field op value` (`tool_errors > 3`, `answer contains "I cannot"`, `row.level == 5`, `answer matches /re/i`).
 * What matches is discarded, with the filter's name as the cause.
 */

/** Filters without a rule. `too_short` needs a number of characters; `duplicate_answer` may be told `any`. */
export const FILTER_KINDS = [
  'no_reasoning', 'unknown_tool', 'incomplete_scratchpad', 'partial', 'truncated', 'refused', 'too_short', 'looped', 'duplicate_answer',
] as const;
type FilterKind = (typeof FILTER_KINDS)[number];
type PlainKind = Exclude<FilterKind, 'too_short' | 'duplicate_answer'>;

/** Fields that hold a number; null when it is not known. `tokens` are those of prompts and answers together, `cost` is in US dollars. */
export const NUMBER_FIELDS = ['turns', 'tool_calls', 'tool_errors', 'api_calls', 'tokens', 'cost', 'duration_s', 'reward', 'rating', 'prompt_index', 'rollout'] as const;
/** Fields that hold text. `answer` is the final one. */
export const TEXT_FIELDS = ['model', 'provider', 'answer', 'prompt', 'exit_reason'] as const;
/** Columns of the dataset's row, and the values of score rules. */
const OPEN_FIELD = /^(?:row|score)\.(?=\S)[^\s"'=!<>]+$/;

/** `=` and `==` are the same. */
export const FILTER_OPS = ['=', '!=', '>', '>=', '<', '<=', 'contains', 'matches'] as const;
export type FilterOp = (typeof FILTER_OPS)[number];

export type FilterValue = string | number | boolean | null | { pattern: string; flags: string };

/** A rule over one field. */
export interface FilterRule {
  kind: 'rule';
  /** As given, else the rule's own text. */
  name: string;
  field: string;
  op: FilterOp;
  value: FilterValue;
}

export type Filter =
  | { kind: PlainKind; name: PlainKind }
  | { kind: 'too_short'; name: 'too_short'; chars: number }
  /** `samePrompt`: also among the rollouts of one prompt, whose equal answers are else no duplicates. */
  | { kind: 'duplicate_answer'; name: 'duplicate_answer'; samePrompt: boolean }
  | FilterRule;

const MAX_FILTER_CHARS = 2_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const RULE = /^([^\s"'=!<>]+)\s*(==|=|!=|>=|<=|>|<|\s(?:contains|matches)(?=[\s"/]))\s*([\s\S]*)$/;

/** Reads one filter. Throws an Error whose sentence tells a person what to write instead. */
export function parseFilter(text: string): Filter {
  const trimmed = text.trim();
  if (trimmed === '') throw new Error('The filter is empty.');
  if (trimmed.length > MAX_FILTER_CHARS) throw new Error(`A filter may have ${MAX_FILTER_CHARS} characters at most.`);
  return parseBuiltIn(trimmed) ?? parseRule(trimmed);
}

/** Reads the filters of a run. Throws like `parseFilter`, also when two have the same name: their counts could not be told apart. */
export function parseFilters(texts: readonly string[]): Filter[] {
  const names = new Set<string>();
  return texts.map((text) => {
    const filter = parseFilter(text);
    if (names.has(filter.name)) throw new Error(`There are two filters named ${filter.name}. Remove one, or give a rule its own name: name=field op value.`);
    names.add(filter.name);
    return filter;
  });
}

/** The filter as text that `parseFilter` reads back to the same. */
export function filterText(filter: Filter): string {
  switch (filter.kind) {
    case 'too_short':
      return `too_short:${filter.chars}`;
    case 'duplicate_answer':
      return filter.samePrompt ? 'duplicate_answer:any' : 'duplicate_answer';
    case 'rule': {
      const rule = ruleText(filter);
      return filter.name === rule ? rule : `${filter.name}=${rule}`;
    }
    default:
      return filter.kind;
  }
}

/** Whether a trajectory's field can be meant: a number or text field, `toolsets`, or a column or score. */
function isField(field: string): boolean {
  return isNumberField(field) || (TEXT_FIELDS as readonly string[]).includes(field) || field === 'toolsets' || OPEN_FIELD.test(field);
}

function isNumberField(field: string): boolean {
  return (NUMBER_FIELDS as readonly string[]).includes(field);
}

function parseBuiltIn(text: string): Filter | null {
  const [, word = '', argument] = /^([a-z_]+)(?:\s*:\s*(.*))?$/s.exec(text) ?? [];
  const kind = FILTER_KINDS.find((k) => k === word);
  if (!kind) return null;
  if (kind === 'too_short') {
    const chars = Number(argument);
    if (!/^\d{1,7}$/.test(argument ?? '') || chars < 1) throw new Error('too_short needs the number of characters that an answer must have: too_short:200.');
    return { kind, name: kind, chars };
  }
  if (kind === 'duplicate_answer') {
    if (argument !== undefined && argument !== 'any') throw new Error('duplicate_answer compares the answers to different prompts; duplicate_answer:any also those to the same prompt. It takes nothing else.');
    return { kind, name: kind, samePrompt: argument === 'any' };
  }
  if (argument !== undefined) throw new Error(`${kind} takes no argument: write ${kind}.`);
  return { kind, name: kind };
}

function parseRule(text: string): FilterRule {
  const named = /^([^\s"'=!<>]+)=(?!=)(\S[\s\S]*)$/.exec(text);
  if (named && !isField(named[1]!)) {
    const [, name, rest] = named;
    if (!NAME.test(name!)) throw new Error(`"${name}" cannot be the name of a filter: use letters, digits, dash and underscore.`);
    if ((FILTER_KINDS as readonly string[]).includes(name!)) throw new Error(`${name} is the name of a built-in filter; give the rule another one.`);
    if (!RULE.test(rest!)) throw unknownField(name!);
    return { ...plainRule(rest!), name: name! };
  }
  return plainRule(text);
}

function plainRule(text: string): FilterRule {
  const parts = RULE.exec(text);
  if (!parts) throw notUnderstood(text);
  const field = parts[1]!;
  if (!isField(field)) throw unknownField(field);
  const sign = parts[2]!.trim();
  const op = (sign === '==' ? '=' : sign) as FilterOp;
  const value = readValue(field, op, parts[3]!.trim());
  const rule = { kind: 'rule', name: '', field, op, value } satisfies FilterRule;
  return { ...rule, name: ruleText(rule) };
}

function readValue(field: string, op: FilterOp, text: string): FilterValue {
  if (text === '') throw new Error(`Say what ${field} is compared with: ${field} ${op} ${op === 'matches' ? '/pattern/' : isNumberField(field) ? '3' : '"text"'}.`);
  if (op === 'matches') {
    const pattern = parsePattern(text);
    compileSafePattern(pattern);
    return pattern;
  }
  const value = literal(text);
  if (op === 'contains') {
    if (isNumberField(field)) throw new Error(`${field} is a number: compare it with =, !=, >, >=, < or <=.`);
    return typeof value === 'string' ? value : text;
  }
  if (op !== '=' && op !== '!=' && typeof value !== 'number') throw new Error(`${op} compares numbers, and "${text}" is none: ${field} ${op} 3.`);
  if (op !== '=' && op !== '!=' && !isNumberField(field) && !OPEN_FIELD.test(field)) throw new Error(`${field} is text: compare it with =, !=, contains or matches.`);
  if (isNumberField(field) && typeof value !== 'number' && value !== null) throw new Error(`${field} is a number, and "${text}" is none. For "not known" write ${field} = null.`);
  return value;
}

/** A number, true, false, null, "quoted text", or plain words. */
function literal(text: string): string | number | boolean | null {
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'string') return value;
    } catch {
      // said below
    }
    throw new Error(`${text} is not a whole quoted text: end it with ", and write \\" for a quotation mark within it.`);
  }
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

function ruleText({ field, op, value }: Pick<FilterRule, 'field' | 'op' | 'value'>): string {
  return `${field} ${op} ${typeof value === 'object' && value !== null ? patternText(value) : JSON.stringify(value)}`;
}

function unknownField(field: string): Error {
  return new Error(`There is no field ${field}. There are: ${[...NUMBER_FIELDS, ...TEXT_FIELDS].join(', ')}, toolsets, row.COLUMN and score.NAME.`);
}

function notUnderstood(text: string): Error {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return new Error(`"${shown}" is no filter. Write one of ${FILTER_KINDS.map((k) => (k === 'too_short' ? 'too_short:200' : k)).join(', ')}, or a rule such as: tool_errors > 3.`);
}
