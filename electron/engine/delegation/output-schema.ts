import { runInNewContext } from 'node:vm';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRecord, parseJson } from '../model/json.ts';

/** The schema comes from a model: a pattern in it may take for ever. */
const LIMIT_MS = 3_000;
const MAX_SCHEMA_CHARS = 100_000;
const ERRORS_SHOWN = 10;
const ERROR_CHARS = 300;
const OPTIONS: Options = { strict: false, allErrors: true, validateFormats: false, addUsedSchema: false, logger: false };

export interface SchemaVerdict {
  valid: boolean;
  /** Sentences with the place at fault; empty when valid. */
  errors: string[];
  /** What the answer holds, when it is valid. */
  value?: unknown;
}

/** Checks answers against a JSON Schema (2020-12; draft 7 and 6 where `$schema` says so). */
export interface OutputSchema {
  readonly schema: Record<string, unknown>;
  check(answer: string): SchemaVerdict;
}

/** @throws Error with a sentence when it is no JSON Schema that can be used. References to other documents are never fetched. */
export function openOutputSchema(schema: unknown): OutputSchema {
  if (!isRecord(schema)) throw new Error('it must be a JSON Schema object');
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error(`it is longer than ${MAX_SCHEMA_CHARS.toLocaleString('en-US')} characters`);
  const { $schema, $id: _, ...plain } = schema;
  const ajv = typeof $schema === 'string' && /draft-0[67]/.test($schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const validate = limited(() => ajv.compile(plain));
  return {
    schema: plain,
    check(answer) {
      const value = jsonIn(answer);
      if (value === undefined) return { valid: false, errors: ['the answer is not JSON'] };
      try {
        if (limited(() => validate(value))) return { valid: true, errors: [], value };
        return { valid: false, errors: sentences(validate) };
      } catch (error) {
        return { valid: false, errors: [`it could not be checked: ${reasonOf(error)}`] };
      }
    },
  };
}

/** JSON as models write it: bare, or in one fence. */
function jsonIn(answer: string): unknown {
  const text = answer.trim();
  const fenced = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n```$/i.exec(text);
  return parseJson(fenced?.[1] ?? text);
}

/** Everything below runs under this clock, regular expressions too. */
function limited<T>(work: () => T): T {
  return runInNewContext('work()', { work }, { timeout: LIMIT_MS }) as T;
}

function sentences({ errors }: ValidateFunction): string[] {
  const list: ErrorObject[] = errors ?? [];
  return list.slice(0, ERRORS_SHOWN).map(({ instancePath, message, params }) => `${instancePath || 'the answer'} ${message ?? 'does not fit'}${detail(params)}`.slice(0, ERROR_CHARS).toWellFormed());
}

function detail(params: Record<string, unknown>): string {
  const extra = params['additionalProperty'] ?? params['allowedValues'];
  return extra === undefined ? '' : ` (${JSON.stringify(extra)})`;
}

function reasonOf(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return `it took longer than ${LIMIT_MS / 1000} s`;
  return error instanceof Error ? error.message : String(error);
}
