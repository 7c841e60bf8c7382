import { createHash } from 'node:crypto';
import { ROW_COLUMNS, type RowColumn } from '#shared/contract/datasets.ts';
import { readColumn, WANTED_WORDS } from './columns.ts';
import { isConversation, readConversation } from './conversation.ts';
import type { Plan } from './plan.ts';
import type { DatasetRow, RawItem, Rejected } from './types.ts';
import { kindCode, kindOf, namesOf, reject } from './words.ts';

/** One of these that is not used had to make room for a column that the person named. */
const OURS = new Set<string>(ROW_COLUMNS);

type RawRecord = Extract<RawItem, { type: 'record' }>;

/** A record as a row of ours, or why it cannot be one. */
export function toRow(record: RawRecord, plan: Plan, index: number): ({ type: 'row' } & DatasetRow) | Rejected {
  const { line, value } = record;
  const refuse = (...[code, params, reason]: [Parameters<typeof reject>[1], Parameters<typeof reject>[2], string]): Rejected => reject(line, code, params, reason, record.excerpt());
  const taken: Partial<Record<RowColumn, unknown>> = {};
  if (plan.read) Object.assign(taken, plan.read(Object.fromEntries(Object.entries(plan.roles).map(([role, column]) => [role, value[column]]))));
  for (const [ours, column] of Object.entries(plan.direct) as [RowColumn, string][]) {
    if (Object.hasOwn(value, column) && value[column] !== null) taken[ours] = value[column];
    else delete taken[ours];
  }
  const promptColumn = columnOfPrompt(plan);
  if (isConversation(taken.prompt)) {
    const talk = readConversation(taken.prompt);
    if (talk === null) return refuse('prompt_not_text', { column: promptColumn, kind: 'list' }, `"${promptColumn}" is a conversation without a text of the user.`);
    const [first, ...further] = talk.user;
    taken.prompt = first;
    if (further.length > 0) taken.prompts ??= further;
    if (talk.system !== null) taken.system ??= talk.system;
    if (talk.answer !== null) taken.answer ??= talk.answer;
  } else if (plan.input !== null && typeof taken.prompt === 'string') {
    const input = value[plan.input];
    if (typeof input === 'string' && input.trim() !== '') taken.prompt = `${taken.prompt}\n\n${input}`;
  }
  const row: Record<string, unknown> = {};
  for (const ours of ROW_COLUMNS) {
    if (ours === 'prompt' || !Object.hasOwn(taken, ours)) continue;
    const read = readColumn(ours, taken[ours]);
    if ('wanted' in read) {
      const column = mapped(plan, ours);
      return refuse('column_type', { column, kind: kindCode(taken[ours]), wanted: read.wanted }, `"${column}" must be ${WANTED_WORDS[read.wanted]}; here it is ${typeof taken[ours] === 'string' ? 'another text' : kindOf(taken[ours])}.`);
    }
    if (read.value !== undefined) row[ours] = ours === 'info' ? withoutEmpty(read.value) : read.value;
  }
  if (taken.prompt === undefined && Array.isArray(row.prompts)) {
    const [first, ...further] = row.prompts as string[];
    taken.prompt = first;
    if (further.length > 0) row.prompts = further;
    else delete row.prompts;
  }
  const { prompt } = taken;
  if (prompt === undefined && !Object.hasOwn(value, promptColumn)) {
    if (plan.table) return refuse('prompt_empty', { column: promptColumn }, `"${promptColumn}" is empty.`);
    const names = Object.keys(value);
    return refuse('no_prompt', { column: promptColumn, columns: namesOf(names) }, `There is no "${promptColumn}" in this row${names.length === 0 ? ', it has no columns at all' : `; its columns are ${namesOf(names)}`}.`);
  }
  const given = prompt ?? value[promptColumn];
  if (typeof given !== 'string') return refuse('prompt_not_text', { column: promptColumn, kind: kindCode(given) }, `"${promptColumn}" must be a text; here it is ${kindOf(given)}.`);
  if (prompt === undefined || given.trim() === '') return refuse('prompt_empty', { column: promptColumn }, `"${promptColumn}" is empty.`);
  for (const [column, further] of Object.entries(value)) {
    if (!plan.used.has(column) && !OURS.has(column)) define(row, column, further);
  }
  const sorted = canonical({ prompt: given, ...row, ...(typeof row.id === 'number' ? { id: String(row.id) } : {}) });
  if (sorted === null) return refuse('too_deep', {}, 'The row is nested too deeply to be worked with.');
  const hash = createHash('sha256').update(sorted).digest('base64url').slice(0, 22);
  return { type: 'row', index, line, prompt: given.toWellFormed(), row, hash };
}

function columnOfPrompt(plan: Plan): string {
  return mapped(plan, 'prompt');
}

/** Their name of the column that ours is made of. */
function mapped(plan: Plan, ours: RowColumn): string {
  if (plan.direct[ours] !== undefined) return plan.direct[ours];
  const roles: Partial<Record<RowColumn, string[]>> = { prompt: ['problem', 'stub', 'text', 'question'], tests: ['test', 'asserts'], answer: ['answer'], entry_point: ['entry'], id: ['id'], image: ['image'] };
  const role = roles[ours]?.find((r) => plan.roles[r] !== undefined);
  return role === undefined ? ours : plan.roles[role]!;
}

/** `info` without what the file does not have; nothing is left out of what a row itself says. */
function withoutEmpty(info: unknown): unknown {
  if (typeof info !== 'object' || info === null || Array.isArray(info)) return info;
  return Object.fromEntries(Object.entries(info).filter(([, v]) => v !== undefined && v !== null && v !== ''));
}

/** Also a column called `__proto__`. */
function define(row: Record<string, unknown>, column: string, value: unknown): void {
  Object.defineProperty(row, column, { value, enumerable: true, writable: true, configurable: true });
}

/** JSON with sorted keys at every level, without empty columns; null when there are more levels than the stack takes, which parsing does not mind. */
function canonical(value: Record<string, unknown>): string | null {
  const there = Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null));
  try {
    return JSON.stringify(there, (_key, v: unknown) =>
      typeof v === 'object' && v !== null && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : v,
    );
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
