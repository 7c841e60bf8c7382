/** Of an answer, what is looked at; what answers the question stands at its end. */
const LOOKED_AT_CHARS = 1_000_000;

export function endOf(text: string): string {
  return text.length > LOOKED_AT_CHARS ? text.slice(-LOOKED_AT_CHARS) : text;
}

/** What a solution marks as its answer: the content of its last `\boxed{…}`, else what follows its last `####`. Null when it marks nothing. */
export function markedAnswer(text: string): string | null {
  return boxedAnswer(text) ?? hashedAnswer(text);
}

/** The content of the last `\boxed{…}` of a text, as MATH marks its answers; braces within it are balanced. */
export function boxedAnswer(text: string): string | null {
  for (const command of ['\\boxed', '\\fbox']) {
    const at = text.lastIndexOf(command);
    if (at < 0) continue;
    const open = at + command.length;
    if (text[open] !== '{') {
      // \boxed 7 is one token
      const token = /^\s+([^\s$.,]{1,100})/.exec(text.slice(open, open + 110));
      if (token) return token[1]!;
      continue;
    }
    let depth = 0;
    for (let i = open; i < text.length; i++) {
      const c = text[i];
      if (c === '\\') i += 1;
      else if (c === '{') depth += 1;
      else if (c === '}' && --depth === 0) return text.slice(open + 1, i);
    }
  }
  return null;
}

/** What follows the last `####` on its line, as GSM8K marks its answers. */
export function hashedAnswer(text: string): string | null {
  const at = text.lastIndexOf('####');
  if (at < 0) return null;
  const end = text.indexOf('\n', at);
  const rest = text.slice(at + 4, end < 0 ? undefined : end).trim();
  return rest === '' ? null : rest;
}

/** The answers that a row takes: one, or a list of alternatives (also as JSON text). Empty when it has none. */
export function expectedAnswers(answer: unknown): string[] {
  const list = Array.isArray(answer) ? (answer as unknown[]) : (listInText(answer) ?? [answer]);
  return list.filter((one) => one !== null && one !== undefined && one !== '').map((one) => (typeof one === 'string' ? one : typeof one === 'object' ? JSON.stringify(one) : String(one as number | boolean)));
}

function listInText(answer: unknown): string[] | null {
  if (typeof answer !== 'string' || !answer.startsWith('["')) return null;
  try {
    const list: unknown = JSON.parse(answer);
    return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list : null;
  } catch {
    return null;
  }
}
