import { z } from 'zod';
import { SandboxError } from '../sandbox/types.ts';
import type { Tool, ToolContext, ToolServices } from './types.ts';

/** Thrown inside a tool for work that could not be done; its sentence becomes the error result that the model reads. */
export class ToolError extends Error {
  /** More for the model to go on with, put beside `error` in the result. */
  readonly details: Record<string, unknown>;
  constructor(message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'ToolError';
    this.details = details;
  }
}

interface Definition<S extends z.ZodObject> {
  name: string;
  description: string;
  toolset: string;
  parallel: Tool['parallel'];
  /** Parameters. Whole numbers get limits with `.min()` and `.max()`; what a model sends beyond them is moved to the limit. */
  parameters: S;
  pathOf?: (args: Record<string, unknown>) => string | null;
  missing?: (services: ToolServices) => string | null;
  /** The result, turned into JSON. Throws ToolError or SandboxError for failed work. */
  run(input: z.output<S>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Makes a tool: the schema the model sees is derived from the parameters that are enforced, so the two cannot differ. */
export function defineTool<S extends z.ZodObject>(definition: Definition<S>): Tool {
  const { name, description, toolset, parallel, pathOf, missing, parameters } = definition;
  const schema = jsonSchema(parameters);
  return {
    spec: { name, description, parameters: schema },
    toolset,
    parallel,
    ...(pathOf && { pathOf }),
    ...(missing && { missing }),
    async run(args, context) {
      const parsed = parameters.safeParse(coerce(args, schema));
      if (!parsed.success) return errorResult(explain(name, parsed.error.issues, args, schema));
      try {
        return resultText(await definition.run(parsed.data, context));
      } catch (error) {
        if (error instanceof ToolError) return errorResult(error.message, error.details);
        if (error instanceof SandboxError) return errorResult(error.message);
        throw error;
      }
    },
  };
}

/** The text of a result that tells the model what went wrong. */
export function errorResult(message: string, details: Record<string, unknown> = {}): string {
  return resultText({ error: message, ...details });
}

/** JSON whose texts are well-formed: an escaped lone surrogate would come back to life wherever the result is parsed. */
export function resultText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? inner.toWellFormed() : inner));
}

interface Property {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: Property;
}

function jsonSchema(parameters: z.ZodObject): Record<string, unknown> {
  const schema: Record<string, unknown> = { ...z.toJSONSchema(parameters, { io: 'input' }) };
  delete schema['$schema'];
  for (const property of Object.values(propertiesOf(schema))) {
    if (property.maximum === Number.MAX_SAFE_INTEGER) delete property.maximum;
  }
  return schema;
}

function propertiesOf(schema: Record<string, unknown>): Record<string, Property> {
  return (schema['properties'] ?? {}) as Record<string, Property>;
}

/** Forgives what models often get slightly wrong: numbers, booleans and lists as text, one text for a list of texts, null for "left out", numbers beyond the limits. */
function coerce(args: Record<string, unknown>, schema: Record<string, unknown>): Record<string, unknown> {
  const properties = propertiesOf(schema);
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(args)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property && value !== null) out[key] = coerceValue(value, property);
  }
  return out;
}

function coerceValue(value: unknown, property: Property): unknown {
  if (property.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (property.type === 'array') return coerceList(value, property);
  if (property.type !== 'integer') return value;
  const number = typeof value === 'string' && /^\s*[+-]?\d+(\.0+)?\s*$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return value;
  return Math.min(Math.max(number, property.minimum ?? number), property.maximum ?? number);
}

function coerceList(value: unknown, property: Property): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    if (Array.isArray(parsed)) return parsed;
  } catch {
    // not JSON: perhaps the one entry of a list
  }
  return property.items?.type === 'string' && value.trim() !== '' ? [value] : value;
}

function explain(tool: string, issues: readonly z.core.$ZodIssue[], args: Record<string, unknown>, schema: Record<string, unknown>): string {
  const properties = propertiesOf(schema);
  const problems = issues.map((issue) => {
    const name = String(issue.path[0] ?? '');
    const value = args[name];
    const property = properties[name];
    // Inside a list: what zod says of the entry is as much as can be said.
    if (issue.path.length > 1) return `"${issue.path.map(String).join('.')}" is wrong (${issue.message})`;
    if (property?.type === 'array' && Array.isArray(value)) return `"${name}" is wrong (${issue.message})`;
    if (value === undefined || value === null) return `the parameter "${name}" is missing`;
    const wanted = property?.enum ? `one of ${property.enum.map((choice) => JSON.stringify(choice)).join(', ')}` : `${/^[aeiou]/.test(property?.type ?? '') ? 'an' : 'a'} ${property?.type ?? 'value'}`;
    return `"${name}" must be ${wanted}, but got ${shortly(value)}`;
  });
  const received = Object.keys(args);
  const unknown = received.filter((key) => !Object.hasOwn(properties, key));
  const hint = unknown.length > 0 ? ` It does not know ${unknown.map((key) => `"${key}"`).join(', ')}.` : '';
  const known = Object.keys(properties).join(', ');
  return `${tool}: ${problems.join('; ')}.${hint} Its parameters are: ${known}; you sent: ${received.join(', ') || 'none'}. Correct the call and send it again.`;
}

function shortly(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
