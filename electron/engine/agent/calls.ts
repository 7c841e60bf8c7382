import type { ToolCall } from '#shared/trajectory.ts';
import type { ToolRegistry } from '../tools/types.ts';

const FUZZY_MIN_SIMILARITY = 0.7;

export interface CheckedCall {
  call: ToolCall;
  /** Set when the call can be run. */
  args: Record<string, unknown> | null;
  problem: 'unknown_tool' | 'bad_arguments' | null;
  /** What to tell the model when there is a problem. */
  message: string | null;
}

/**
 * Makes the calls of one turn runnable where that is safe: names are repaired (case, dashes and spaces, close match), exact
 * duplicates dropped (the first stays), empty arguments become `{}`, an id that the trajectory has already is made another one.
 * Rules: Hermes agent loop, invalid tool name and JSON.
 */
export function checkCalls(calls: readonly ToolCall[], tools: ToolRegistry, takenIds: ReadonlySet<string> = new Set()): CheckedCall[] {
  const ids = new Set(takenIds);
  const names = tools.specs.map((s) => s.name);
  const seen = new Set<string>();
  const checked: CheckedCall[] = [];
  for (const original of calls) {
    const name = tools.get(original.name) ? original.name : (otherName(original, tools) ?? repairName(original.name, names));
    const call = { ...original, name: name ?? original.name, arguments: original.arguments.trim() === '' ? '{}' : original.arguments };
    const key = callKey(call);
    if (seen.has(key)) continue;
    seen.add(key);
    for (let n = 2; ids.has(call.id); n++) call.id = `${original.id}_${n}`;
    ids.add(call.id);
    if (name === null) {
      const valid = names.length > 0 ? `Available tools: ${names.join(', ')}.` : 'No tools are available; answer in plain text.';
      checked.push({ call, args: null, problem: 'unknown_tool', message: `Tool '${original.name}' does not exist. ${valid}` });
      continue;
    }
    const parsed = parseArguments(call.arguments);
    checked.push(
      parsed.ok
        ? { call, args: parsed.args, problem: null, message: null }
        : { call, args: null, problem: 'bad_arguments', message: `Invalid JSON arguments: ${parsed.reason}. Send one JSON object with the parameters of ${name}.` },
    );
  }
  return checked;
}

/** The offered tool that answers to another harness's name for it, or null. */
function otherName(call: ToolCall, tools: ToolRegistry): string | null {
  const plain = call.name.trim().toLowerCase();
  const parsed = parseArguments(call.arguments);
  return tools.specs.find((spec) => tools.get(spec.name)?.answersTo?.(plain, parsed.ok ? parsed.args : null))?.name ?? null;
}

/** Equal for calls of the same tool with the same arguments. */
export function callKey(call: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${call.name}\u0000${call.arguments}`;
}

/** The offered tool that `name` means, or null. */
export function repairName(name: string, offered: readonly string[]): string | null {
  if (offered.includes(name)) return name;
  const plain = name.trim().toLowerCase().replace(/[\s-]+/g, '_');
  if (offered.includes(plain)) return plain;
  let best: string | null = null;
  let bestScore = FUZZY_MIN_SIMILARITY;
  for (const candidate of offered) {
    const score = similarity(plain, candidate);
    if (score >= bestScore) {
      bestScore = score;
      best = candidate;
    }
  }
  return best;
}

/** 1 for equal words, 0 for nothing in common: 1 − edit distance / longer length. */
function similarity(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return 1 - row[b.length]! / longest;
}

function parseArguments(text: string): { ok: true; args: Record<string, unknown> } | { ok: false; reason: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, args: value as Record<string, unknown> };
    return { ok: false, reason: `an object is needed, got ${Array.isArray(value) ? 'an array' : value === null ? 'null' : typeof value}` };
  } catch (error) {
    return { ok: false, reason: (error as Error).message.replace(/\s+/g, ' ').slice(0, 200) };
  }
}
