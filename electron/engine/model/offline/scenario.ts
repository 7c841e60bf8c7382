import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const text = z.union([z.string(), z.array(z.string()).min(1)]);
/** Prose that is wrapped in the file for reading: the breaks inside a paragraph are taken out. */
const prose = text.transform((value) => (Array.isArray(value) ? value.map(unwrap) : unwrap(value)));

const stepSchema = z.strictObject({
  id: z.string(),
  /** Reasoning; a list gives one text per visit of this step, the last one again and again. */
  think: prose.optional(),
  /** Visible text. `{{name}}` stands for a value that was taken from a result. */
  say: text.optional(),
  /** Calls of this turn. A step without calls ends the scenario. */
  calls: z.array(z.strictObject({ tool: z.string(), args: z.record(z.string(), z.unknown()) })).optional(),
  /** Values to take from the results: name → pattern with one group. */
  take: z.record(z.string(), z.string()).optional(),
  /** Where to go on: the first entry whose pattern matches the results. Without any, the step that follows. */
  next: z.array(z.strictObject({ if: z.string().optional(), to: z.string() })).optional(),
  /** The provider fails here, on purpose. */
  fault: z.strictObject({ message: z.string() }).optional(),
});

const scenarioSchema = z.strictObject({
  language: z.enum(['en', 'zh']),
  steps: z.array(stepSchema).min(1),
  /** The last word when no more turns are allowed. */
  out_of_turns: z.strictObject({ think: z.string(), say: z.string() }).optional(),
});

const promptRowSchema = z.object({ id: z.string(), prompt: z.string() });

export type ScenarioStep = z.infer<typeof stepSchema>;

export interface Scenario {
  id: string;
  language: 'en' | 'zh';
  steps: ScenarioStep[];
  outOfTurns: { think: string; say: string } | null;
}

/** Scenarios by the trimmed text of their prompt. */
export type ScenarioBook = ReadonlyMap<string, Scenario>;

/**
 * Reads `demo/prompts.jsonl` and `demo/scenarios/<id>.yaml` under `resources`. Throws an Error that names the file when one
 * is missing or wrong: they are part of the program.
 */
export async function loadScenarios(resources: string): Promise<ScenarioBook> {
  const folder = join(resources, 'demo', 'scenarios');
  const rows = (await readFile(join(resources, 'demo', 'prompts.jsonl'), 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const prompts = rows.map((line) => promptRowSchema.parse(JSON.parse(line)));
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).map((name) => basename(name, '.yaml'));
  const orphan = names.find((name) => !prompts.some((prompt) => prompt.id === name));
  if (orphan !== undefined) throw new Error(`${join(folder, orphan)}.yaml belongs to no row of prompts.jsonl.`);
  const scenarios = await Promise.all(prompts.map(({ id }) => loadScenario(id, join(folder, `${id}.yaml`))));
  return new Map(scenarios.map((scenario, at) => [prompts[at]?.prompt.trim() ?? '', scenario]));
}

async function loadScenario(id: string, file: string): Promise<Scenario> {
  const parsed = scenarioSchema.safeParse(parse(await readFile(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  const { language, steps, out_of_turns: outOfTurns = null } = parsed.data;
  const ids = steps.map((step) => step.id);
  const targets = steps.flatMap((step) => step.next?.map((entry) => entry.to) ?? []);
  const unknown = targets.find((target) => !ids.includes(target));
  if (unknown !== undefined) throw new Error(`${file}: there is no step "${unknown}".`);
  if (new Set(ids).size < ids.length) throw new Error(`${file}: two steps have the same id.`);
  return { id, language, steps, outOfTurns };
}

/** Between Chinese characters a line break becomes nothing, elsewhere a space. */
function unwrap(wrapped: string): string {
  return wrapped.trim().replaceAll(/([^\n])\n(?!\n)/g, (_, before: string, at: number, whole: string) => {
    const after = whole.charAt(at + 2);
    return /[\u3000-\u9fff\uff00-\uffef]/.test(before) && /[\u3000-\u9fff\uff00-\uffef]/.test(after) ? before : `${before} `;
  });
}
