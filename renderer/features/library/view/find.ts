import { part } from './folds.ts';
import type { Turn } from './turns.ts';

/** A turn in which the text was found, and what must be unfolded so that it is seen. */
export interface FindHit {
  turn: number;
  parts: string[];
}

/** Texts are cut to their head in the view: beyond this the whole must be shown, characters. */
const HEAD_CHARS = 1_200;

/**
 * Finds the turns that contain a text, in any case: in what was said and thought, in arguments and in results. Results that came cut
 * are searched as far as they are here.
 */
export function findInTurns(turns: readonly Turn[], query: string): FindHit[] {
  const plain = query.trim().toLowerCase();
  if (plain === '') return [];
  // Arguments and most results are JSON, where a quote or a backslash is written differently.
  const escaped = JSON.stringify(plain).slice(1, -1);
  const at = (text: string): number => {
    const lower = text.toLowerCase();
    const found = lower.indexOf(plain);
    return found >= 0 || escaped === plain ? found : lower.indexOf(escaped);
  };
  const hits: FindHit[] = [];
  turns.forEach((turn, index) => {
    const { message } = turn;
    const parts: string[] = [];
    let found = at(message.content) >= 0;
    if (found && turn.kind === 'system') parts.push(part.system(turn.key));
    if (message.reasoning && at(message.reasoning) >= 0) {
      found = true;
      parts.push(part.reasoning(turn.key));
    }
    if (turn.kind === 'assistant') {
      turn.calls.forEach(({ call, result }, i) => {
        if (at(call.name) >= 0) found = true;
        if (at(call.arguments) >= 0) {
          found = true;
          parts.push(part.call(turn.key, i), part.args(turn.key, i));
        }
        const inResult = result ? at(result.content) : -1;
        if (inResult >= 0) {
          found = true;
          const name = part.call(turn.key, i);
          parts.push(name);
          if (inResult > HEAD_CHARS && result?.contentBytes === undefined) parts.push(`${name}:text`, `${name}:matches`, `${name}:diff`);
        }
      });
      found ||= turn.strays.some((stray) => at(stray.content) >= 0);
    }
    if (found) hits.push({ turn: index, parts });
  });
  return hits;
}
