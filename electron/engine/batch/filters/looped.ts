import type { Message } from '#shared/trajectory.ts';

/** So many times one after another is a loop. */
const TIMES = 5;
/** Sentences and lines may take turns: loops of up to so many are seen. */
const LONGEST_CYCLE = 4;
const LEAST_UNIT_LETTERS = 8;
const LEAST_LOOP_CHARS = 80;
/** The end of a text is also looked at without regard to sentences. */
const TAIL_CHARS = 4_000;
const TAIL_TIMES = 10;
const LEAST_TAIL_LOOP_CHARS = 200;
const SPLIT_CHARS = 400_000;
const SHOWN_CHARS = 60;

/**
 * A sentence that tells how a trajectory goes round in circles: the same call with the same result, or the same sentences or lines,
 * five times running, or an end that repeats a few words over and over. Null when it does not.
 */
export function findLoop(messages: readonly Message[]): string | null {
  for (const m of messages) {
    if (m.role !== 'assistant' || m.synthetic) continue;
    for (const text of [m.content, m.reasoning ?? '']) {
      const unit = loopedUnit(text) ?? loopedTail(text);
      if (unit !== null) return `It says the same over and over: “${cut(unit)}”`;
    }
  }
  const call = loopedCall(messages);
  return call === null ? null : `It makes the same call over and over: ${cut(call)}`;
}

function loopedCall(messages: readonly Message[]): string | null {
  const results = new Map<string, string>();
  for (const m of messages) if (m.role === 'tool' && m.toolCallId !== undefined) results.set(m.toolCallId, m.content);
  let before = '';
  let times = 0;
  for (const m of messages) {
    if (m.role !== 'assistant' || m.synthetic) continue;
    for (const call of m.toolCalls ?? []) {
      const now = JSON.stringify([call.name, call.arguments.replace(/\s+/g, ''), results.get(call.id) ?? null]);
      times = now === before ? times + 1 : 1;
      before = now;
      if (times >= TIMES) return `${call.name} ${call.arguments}`;
    }
  }
  return null;
}

/** The sentence or line that a text repeats. */
function loopedUnit(whole: string): string | null {
  const text = whole.slice(0, SPLIT_CHARS);
  if (text.length < LEAST_LOOP_CHARS) return null;
  const units = text
    .split(/[\n。！？]|(?<=[.!?])\s/)
    .map((u) => u.trim().replace(/\s+/g, ' '))
    .filter((u) => weight(u) >= LEAST_UNIT_LETTERS);
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    let same = 0;
    let chars = 0;
    for (let i = cycle; i < units.length; i += 1) {
      const equal = units[i] === units[i - cycle];
      same = equal ? same + 1 : 0;
      chars = equal ? chars + units[i]!.length : 0;
      if (same >= cycle * (TIMES - 1) && chars + chars / (TIMES - 1) >= LEAST_LOOP_CHARS) return units[i]!;
    }
  }
  return null;
}

/** Letters and digits; a character of Chinese says as much as two. */
function weight(text: string): number {
  return (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) + (text.match(/\p{Script=Han}/gu)?.length ?? 0);
}

/** What the end of a text repeats without a pause: its shortest period, by the failure function of the reversed end. */
function loopedTail(whole: string): string | null {
  const tail = [...whole.trimEnd().slice(-TAIL_CHARS)].reverse();
  if (tail.length < LEAST_TAIL_LOOP_CHARS) return null;
  const border = new Int32Array(tail.length);
  for (let i = 1, k = 0; i < tail.length; i += 1) {
    while (k > 0 && tail[i] !== tail[k]) k = border[k - 1]!;
    if (tail[i] === tail[k]) k += 1;
    border[i] = k;
    const length = i + 1;
    const period = length - k;
    if (length < LEAST_TAIL_LOOP_CHARS || length < period * TAIL_TIMES) continue;
    const unit = tail.slice(0, period).reverse().join('');
    // rulers, padding and runs of zeros are no loop of words
    if (new Set(unit.match(/\p{L}/gu)).size >= 2) return unit;
  }
  return null;
}

function cut(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
