import type { RowColumn } from '#shared/contract/datasets.ts';

/** What a column of ours must be: a key of the page's words, and in English. */
export const WANTED_WORDS = {
  text: 'a text',
  texts: 'a list of texts',
  names: 'a list of names',
  tests: 'a text or a list of texts',
  id: 'a text or a number',
  identifier: 'the name of a Python function',
} as const;
export type Wanted = keyof typeof WANTED_WORDS;

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** The value as it goes into a row; `undefined` when there is none; what was wanted when it is of another kind. */
export function readColumn(column: Exclude<RowColumn, 'prompt'>, value: unknown): { value: unknown } | { wanted: Wanted } {
  if (value === null || value === undefined || value === '') return { value: undefined };
  switch (column) {
    case 'image':
    case 'cwd':
    case 'system':
      return typeof value === 'string' ? { value: value.trim() === '' ? undefined : value } : { wanted: 'text' };
    case 'entry_point':
      return typeof value === 'string' && IDENTIFIER.test(value) ? { value } : { wanted: 'identifier' };
    case 'prompts': {
      const list = listIn(value);
      return list?.every((turn) => typeof turn === 'string' && turn.trim() !== '') ? { value: list.length === 0 ? undefined : (list as string[]).map((turn) => turn.toWellFormed()) } : { wanted: 'texts' };
    }
    case 'tools':
    case 'toolsets': {
      const names = (listIn(value) ?? (typeof value === 'string' ? value.split(',') : null))?.map(nameOf);
      return names && !names.includes(null) ? { value: names.filter((name) => name !== '') } : { wanted: 'names' };
    }
    case 'scoring':
    case 'tests': {
      const list = listIn(value);
      if (list) return list.every((entry) => typeof entry === 'string') ? { value: list } : { wanted: 'tests' };
      return typeof value === 'string' ? { value } : { wanted: 'tests' };
    }
    case 'id':
      return typeof value === 'string' || typeof value === 'number' ? { value } : { wanted: 'id' };
    case 'info':
      return { value: jsonIn(value, '{') ?? value };
    case 'answer':
      return { value };
  }
}

/** A list, also one that a table keeps as JSON text. */
function listIn(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  const parsed = jsonIn(value, '[');
  return Array.isArray(parsed) ? parsed : null;
}

function jsonIn(value: unknown, opens: '[' | '{'): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith(opens)) return null;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

/** A name, or that of a tool's description as models are given it. */
function nameOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim();
  if (typeof value !== 'object' || value === null) return null;
  const { name, function: inner } = value as { name?: unknown; function?: { name?: unknown } | null };
  const found = inner?.name ?? name;
  return typeof found === 'string' ? found.trim() : null;
}
