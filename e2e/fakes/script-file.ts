import type { Step } from './steps.ts';

const STEP_KEYS = ['parts', 'finishReason', 'usage', 'pace', 'gate', 'wire', 'quirks', 'fault'];
const FAULT_KINDS = ['status', 'html', 'cut', 'malformed', 'stream-error', 'hang', 'drop'];

/**
 * The steps in a script file's text: a JSON list of steps as `steps.ts` describes them.
 * Throws an Error that names the step and what is wrong with it; it looks at the outline, not at every field.
 */
export function parseScript(text: string): Step[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The script is not valid JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Array.isArray(value)) throw new Error('The script must be a JSON list of steps.');
  return value.map((step, at) => {
    const problem = problemOf(step);
    if (problem) throw new Error(`Step ${at + 1}: ${problem}`);
    return step as Step;
  });
}

function problemOf(step: unknown): string | null {
  if (!isRecord(step)) return 'must be an object.';
  const unknown = Object.keys(step).find((key) => !STEP_KEYS.includes(key));
  if (unknown !== undefined) return `unknown key "${unknown}"; there are ${STEP_KEYS.join(', ')}.`;
  const { parts = [], fault, gate } = step;
  if (!Array.isArray(parts)) return '"parts" must be a list.';
  for (const part of parts as unknown[]) {
    if (!isRecord(part)) return 'every part must be an object.';
    if (Array.isArray(part.toolCalls)) {
      const isCall = (call: unknown): boolean => isRecord(call) && typeof call.name === 'string' && typeof call.arguments === 'string';
      if (!part.toolCalls.every(isCall)) return 'every tool call needs "name" and "arguments", both texts.';
    } else if (!isText(part.content) && !isText(part.reasoning)) {
      return 'a part needs "content", "reasoning" or "toolCalls".';
    }
  }
  if (fault !== undefined && !(isRecord(fault) && FAULT_KINDS.includes(String(fault.kind)))) return `"fault.kind" must be one of ${FAULT_KINDS.join(', ')}.`;
  if (isRecord(fault) && (fault.kind === 'status' || fault.kind === 'html') && !isHttpError(fault.status)) return '"fault.status" must be a number from 400 to 599.';
  if (gate !== undefined) return '"gate" is for tests: nobody could open it here.';
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((piece) => typeof piece === 'string'));
}

function isHttpError(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599;
}
