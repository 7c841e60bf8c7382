/** Small readers of what published datasets have in their columns. */

export function textIn(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** What stands behind the last `####` of a GSM8K solution; without one, all of it. */
export function finalNumberOf(answer: unknown): unknown {
  if (typeof answer !== 'string') return answer;
  const at = answer.lastIndexOf('####');
  return (at < 0 ? answer : answer.slice(at + 4)).trim();
}

/** The content of the last `\boxed{…}` or `\fbox{…}` (or `\boxed x`) of a solution of MATH; null without one. */
export function boxedOf(solution: unknown): string | null {
  if (typeof solution !== 'string') return null;
  const at = Math.max(solution.lastIndexOf('\\boxed'), solution.lastIndexOf('\\fbox'));
  if (at < 0) return null;
  const rest = solution.slice(at).replace(/^\\(?:boxed|fbox)\s*/, '');
  if (!rest.startsWith('{')) return /^([^\s$]+)/.exec(rest)?.[1] ?? null;
  let depth = 0;
  for (let i = 0; i < rest.length; i += 1) {
    if (rest[i] === '\\') i += 1;
    else if (rest[i] === '{') depth += 1;
    else if (rest[i] === '}' && (depth -= 1) === 0) return rest.slice(1, i).trim();
  }
  return null;
}

/** A list that a table keeps as JSON text; anything else as it is. */
export function jsonList(value: unknown): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** Code as one text, from a text or a list of lines; null when it is neither. */
export function lines(value: unknown): string | null {
  const list = jsonList(value);
  if (typeof list === 'string') return list.trim();
  return Array.isArray(list) && list.length > 0 && list.every((line) => typeof line === 'string') ? list.join('\n') : null;
}

/** Asserts, each with the set-up before it; what is neither a text nor a list of texts as it is. */
export function withSetUp(asserts: unknown, setUp: string | null): unknown {
  const list = jsonList(asserts);
  const before = setUp ? `${setUp}\n` : '';
  if (typeof list === 'string') return `${before}${list}`;
  return Array.isArray(list) && list.every((line) => typeof line === 'string') ? list.map((line) => `${before}${line}`) : asserts;
}

/** Where SWE-bench publishes the image of an instance (its harness: `sweb.eval.<arch>.<id>`, `__` written `_1776_`, in lower case). */
export function sweBenchImage(instanceId: string): string {
  return `swebench/sweb.eval.x86_64.${instanceId.replaceAll('__', '_1776_').toLowerCase()}:latest`;
}
