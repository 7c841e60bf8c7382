import { ROW_COLUMNS, type RowColumn } from '#shared/contract/datasets.ts';
import type { DatasetShape } from '#shared/contract/run-spec.ts';
import type { BatchError } from '../errors.ts';
import { isConversation } from './conversation.ts';
import { PLAIN, type Shape, SHAPES } from './shapes.ts';
import type { DatasetOptions } from './types.ts';
import { fileError, namesOf } from './words.ts';

/** How the columns of one file are understood. */
export interface Plan {
  shape: Exclude<DatasetShape, 'auto'>;
  /** Columns of the file, from its first rows. */
  columns: string[];
  /** Of the shape: its roles that have a column. */
  roles: Record<string, string>;
  read: Shape['read'] | null;
  /** Our columns that are one of theirs as it is: by name, by another name for it, or as the person said. */
  direct: Partial<Record<RowColumn, string>>;
  /** Of an instruction: the column that goes on with it. */
  input: string | null;
  /** All rows have the same columns. */
  table: boolean;
  /** Columns that are not carried through, for something was made of them. */
  used: Set<string>;
  scoring: string[];
  /** Why no row can be made like this. */
  problem: BatchError | null;
}

const SHAPE_NAMES: Record<Exclude<DatasetShape, 'auto'>, string> = { plain: 'plain', gsm8k: 'GSM8K', humaneval: 'HumanEval', mbpp: 'MBPP', math: 'MATH', swe_bench: 'SWE-bench' };
const SHORT_ANSWER_CHARS = 80;
const DETECTED = ['swe_bench', 'humaneval', 'mbpp', 'math', 'gsm8k'] as const;

/**
 * Decides from the first rows of a file, or its header, what each column is.
 * @param header null when only the rows have names
 */
export function makePlan(name: string, header: string[] | null, sample: readonly Record<string, unknown>[], options: DatasetOptions): Plan {
  const columns = header ?? [...new Set(sample.flatMap((row) => Object.keys(row)))];
  const said = Object.entries(options.columns ?? {});
  const wanted = options.shape ?? 'auto';
  const chosen = wanted === 'auto' ? (DETECTED.find((shape) => fits(shape, columns, sample)) ?? 'plain') : wanted;
  const plan: Plan = { shape: chosen, columns, roles: {}, read: null, direct: {}, input: null, table: header !== null, used: new Set(), scoring: [], problem: null };
  if (chosen === 'plain') planPlain(plan, sample);
  else planShape(plan, chosen, said.map(([ours]) => ours), name);
  planOwn(plan);
  planSaid(plan, said, name);
  if (plan.shape === 'plain') plan.scoring = plainScoring(plan, sample);
  if (!plan.problem && columns.length > 0 && !hasPrompt(plan)) {
    plan.problem = fileError(`${name} has no column that prompts could be taken from: its columns are ${namesOf(columns)}. Say which one it is.`, undefined, 'columns');
  }
  return plan;
}

/** Our columns with the names of theirs that they are made of. */
export function mappingOf(plan: Plan): Partial<Record<RowColumn, string[]>> {
  const found: Partial<Record<RowColumn, string[]>> = {};
  for (const [column, to] of destinations(plan)) {
    for (const target of to) {
      const ours = target.split('.', 1)[0] as RowColumn;
      const list = (found[ours] ??= []);
      if (!list.includes(column)) list.push(column);
    }
  }
  return found;
}

/** What is made of each column. */
export function destinations(plan: Plan): Map<string, string[]> {
  const found = new Map<string, string[]>(plan.columns.map((column) => [column, []]));
  const add = (column: string, to: string): void => void found.get(column)?.push(to);
  const roles = plan.shape === 'plain' ? {} : SHAPES[plan.shape].roles;
  for (const [role, column] of Object.entries(plan.roles)) {
    for (const to of roles[role]?.to ?? []) if (!Object.hasOwn(plan.direct, to)) add(column, to);
  }
  for (const [ours, column] of Object.entries(plan.direct)) add(column, ours);
  if (plan.input !== null) add(plan.input, 'prompt');
  return found;
}

/** Tests where there are some; long answers are no answers that could be compared. */
function plainScoring(plan: Plan, sample: readonly Record<string, unknown>[]): string[] {
  if (plan.direct.tests !== undefined) return ['tests'];
  const { answer } = plan.direct;
  const answers = answer === undefined ? [] : sample.map((row) => row[answer]).filter((value) => value !== null && value !== undefined && value !== '');
  if (answers.length === 0) return [];
  if (answers.every((value) => typeof value === 'number' || (typeof value === 'string' && /^\s*[-+]?[\d.,]+\s*$/.test(value)))) return ['numeric'];
  return answers.every((value) => typeof value === 'string' && value.length <= SHORT_ANSWER_CHARS) ? ['exact'] : [];
}

function hasPrompt(plan: Plan): boolean {
  return plan.read !== null || plan.direct.prompt !== undefined || plan.direct.prompts !== undefined;
}

function fits(shape: (typeof DETECTED)[number], columns: string[], sample: readonly Record<string, unknown>[]): boolean {
  const { roles, fits: looks } = SHAPES[shape];
  const column = (role: string): string | undefined => roles[role]?.from.find((c) => columns.includes(c));
  if (Object.keys(roles).some((role) => roles[role]?.required && column(role) === undefined)) return false;
  return looks(sample, (role) => column(role) !== undefined, (row, role) => row[column(role) ?? '']);
}

function planShape(plan: Plan, shape: (typeof DETECTED)[number], said: string[], name: string): void {
  const { roles, read, scoring } = SHAPES[shape];
  const missing: string[] = [];
  for (const [role, { from, to, required }] of Object.entries(roles)) {
    const column = from.find((c) => plan.columns.includes(c));
    if (column !== undefined) {
      plan.roles[role] = column;
      plan.used.add(column);
    } else if (required && !to.every((target) => said.includes(target.split('.', 1)[0]!))) missing.push(from.map((c) => `"${c}"`).join(' or '));
  }
  plan.read = read;
  plan.scoring = [...scoring];
  if (missing.length > 0 && plan.columns.length > 0) {
    plan.problem = fileError(`${name} is not shaped like ${SHAPE_NAMES[shape]}: it lacks ${missing.join(', ')}. Its columns are ${namesOf(plan.columns)}.`, undefined, 'datasetShape');
  }
}

function planPlain(plan: Plan, sample: readonly Record<string, unknown>[]): void {
  for (const [ours, names] of Object.entries(PLAIN) as [RowColumn, readonly string[]][]) {
    const column = names.find((c) => plan.columns.includes(c));
    if (column === undefined) continue;
    // turns that somebody else wrote go before a text that may be all of them in one
    if (ours === 'prompt' && plan.columns.includes('prompts') && column !== 'prompt') continue;
    plan.direct[ours] = column;
  }
  if (plan.direct.prompt === 'instruction' && plan.columns.includes('input')) plan.input = 'input';
  const { prompt } = plan.direct;
  if (prompt !== undefined && plan.direct.answer === prompt) delete plan.direct.answer;
  if (prompt !== undefined && sample.some((row) => isConversation(row[prompt]))) plan.used.add(prompt);
}

/** Our own names, where nothing else was made of the column. */
function planOwn(plan: Plan): void {
  for (const ours of ROW_COLUMNS) {
    if (ours !== 'prompt' && plan.direct[ours] === undefined && plan.columns.includes(ours) && !plan.used.has(ours)) plan.direct[ours] = ours;
  }
  if (plan.read && plan.direct.image === undefined && plan.columns.includes('docker_image') && !plan.used.has('docker_image')) plan.direct.image = 'docker_image';
}

function planSaid(plan: Plan, said: [string, string][], name: string): void {
  for (const [ours, theirs] of said) {
    if (!(ROW_COLUMNS as readonly string[]).includes(ours)) {
      plan.problem ??= fileError(`"${ours}" is none of the columns a row can have: ${ROW_COLUMNS.join(', ')}.`, undefined, 'columns');
    } else if (plan.columns.length > 0 && !plan.columns.includes(theirs)) {
      plan.problem ??= fileError(`${name} has no column "${theirs}": its columns are ${namesOf(plan.columns)}.`, undefined, 'columns');
    } else plan.direct[ours as RowColumn] = theirs;
  }
  if (said.some(([ours]) => ours === 'prompt')) plan.input = null;
  for (const column of Object.values(plan.direct)) plan.used.add(column);
  if (plan.input !== null) plan.used.add(plan.input);
}
