import { isRecord, parseJson } from '../model/json.ts';
import { ToolError } from '../tools/define.ts';
import { openOutputSchema, type OutputSchema } from './output-schema.ts';

/** More in one call is a mistake, and said to be one. */
const MAX_TASKS = 100;
const MAX_GOAL_CHARS = 200_000;
const MAX_TURNS = 1_000;
const MAX_SECONDS = 86_400;

/** What one child is asked to do, as the parent wrote it. */
export interface ChildTask {
  goal: string;
  context: string | null;
  /** Null: the parent's; empty: none. */
  toolsets: readonly string[] | null;
  /** `provider/model id`; null: what the settings say, else the parent's. */
  model: string | null;
  profile: string | null;
  maxTurns: number | null;
  outputSchema: OutputSchema | null;
  timeoutSeconds: number | null;
}

export interface SpawnRequest {
  tasks: ChildTask[];
  /** Of this call at most so many at work at once; null: as many as the settings allow. */
  maxParallel: number | null;
  background: boolean;
}

/** Names that models know from elsewhere, behind ours. */
const NAMES = {
  goal: ['goal', 'prompt', 'task', 'instructions'],
  context: ['context'],
  toolsets: ['toolsets', 'tools'],
  model: ['model'],
  profile: ['profile'],
  maxTurns: ['max_turns', 'max_iterations'],
  outputSchema: ['output_schema'],
  timeoutSeconds: ['timeout_seconds', 'timeout'],
} as const;
const LISTS = ['tasks', 'agents'];

/**
 * The children that a call asks for: one task, or a list of tasks with shared defaults beside it, in our words or Hermes'
 * (`delegate_task`: goal, context, toolsets, or tasks). Numbers, lists and objects may come as text. Throws ToolError with what to write.
 */
export function parseSpawn(input: Record<string, unknown>): SpawnRequest {
  const background = flag(input['background']);
  const list = listOf(first(input, LISTS));
  const goal = text(input, 'goal');
  const maxParallel = number(first(input, ['max_parallel']), 'max_parallel', MAX_TASKS, '');
  if (list === null || list.length === 0) {
    if (goal === null) throw new ToolError(`Nothing to do was given. Send "prompt" with the task of one sub-agent, or "tasks" with a list of them; you sent: ${keysOf(input)}.`);
    return { background, maxParallel, tasks: [task(input, '')] };
  }
  if (goal !== null) throw new ToolError('Send either "prompt" for one sub-agent or "tasks" for several, not both. What all of them must know goes into "context".');
  if (list.length > MAX_TASKS) throw new ToolError(`${list.length} tasks are too many for one call; the most is ${MAX_TASKS}. Nothing was started. Put several into one task, or send the rest in another call.`);
  const shared = Object.fromEntries(Object.entries(input).filter(([key]) => !LISTS.includes(key)));
  const tasks = list.map((entry, index) => {
    const own = typeof entry === 'string' ? { goal: entry } : entry;
    if (!isRecord(own)) throw new ToolError(`tasks[${index}] must be an object with "prompt", but is ${JSON.stringify(entry)?.slice(0, 60) ?? 'nothing'}.`);
    if (text(own, 'goal') === null) throw new ToolError(`tasks[${index}] has no "prompt" with what to do; it has: ${keysOf(own)}.`);
    return task(withDefaults(own, shared), ` of tasks[${index}]`);
  });
  return { background, maxParallel, tasks };
}

/** A task's own words go before those beside the list, by whatever name it has them. */
function withDefaults(own: Record<string, unknown>, shared: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...own };
  for (const names of Object.values(NAMES)) {
    if (first(own, names) === undefined) Object.assign(merged, { [names[0]]: first(shared, names) });
  }
  return merged;
}

function task(input: Record<string, unknown>, where: string): ChildTask {
  const goal = text(input, 'goal')!;
  if (goal.length > MAX_GOAL_CHARS) throw new ToolError(`"prompt"${where} is longer than ${MAX_GOAL_CHARS.toLocaleString('en-US')} characters. Put the material into a file and name it.`);
  return {
    goal,
    context: text(input, 'context'),
    toolsets: names(first(input, NAMES.toolsets), where),
    model: text(input, 'model'),
    profile: text(input, 'profile'),
    maxTurns: number(first(input, NAMES.maxTurns), 'max_turns', MAX_TURNS, where),
    outputSchema: schema(first(input, NAMES.outputSchema), where),
    timeoutSeconds: number(first(input, NAMES.timeoutSeconds), 'timeout_seconds', MAX_SECONDS, where),
  };
}

/** Null counts as left out: models send it for what they do not want to say. */
function first(input: Record<string, unknown>, keys: readonly string[]): unknown {
  for (const key of keys) if (Object.hasOwn(input, key) && input[key] !== null && input[key] !== undefined) return input[key];
  return undefined;
}

function text(input: Record<string, unknown>, name: keyof typeof NAMES): string | null {
  const value = first(input, NAMES[name]);
  if (value === undefined) return null;
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.trim() === '' ? null : plain.toWellFormed().replaceAll('\0', '');
}

function listOf(value: unknown): unknown[] | null {
  if (value === undefined || value === '') return null;
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (Array.isArray(parsed)) return parsed;
  if (isRecord(parsed)) return [parsed];
  throw new ToolError('"tasks" must be a list of objects, each with "prompt".');
}

function names(value: unknown, where: string): string[] | null {
  if (value === undefined) return null;
  const parsed = typeof value === 'string' ? (parseJson(value) ?? value.split(',').map((name) => name.trim()).filter((name) => name !== '')) : value;
  if (!Array.isArray(parsed) || !parsed.every((name) => typeof name === 'string')) throw new ToolError(`"toolsets"${where} must be a list of names, for example ["file", "web"]; [] means no tools.`);
  return parsed;
}

function number(value: unknown, name: string, most: number, where: string): number | null {
  if (value === undefined || value === '') return null;
  const parsed = typeof value === 'string' ? Number(value) : value;
  if (typeof parsed !== 'number' || !Number.isFinite(parsed) || parsed < 0) throw new ToolError(`"${name}"${where} must be a number from 1 to ${most}, but is ${JSON.stringify(value)}.`);
  // 0: no limit of its own, as in Hermes
  return parsed === 0 ? null : Math.min(Math.max(1, Math.ceil(parsed)), most);
}

function schema(value: unknown, where: string): OutputSchema | null {
  if (value === undefined || value === '') return null;
  try {
    return openOutputSchema(typeof value === 'string' ? parseJson(value) : value);
  } catch (error) {
    throw new ToolError(`"output_schema"${where} cannot be used: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function flag(value: unknown): boolean {
  return value === true || value === 'true';
}

function keysOf(input: Record<string, unknown>): string {
  return Object.keys(input).map((key) => key.slice(0, 60)).slice(0, 20).join(', ').toWellFormed() || 'nothing';
}
