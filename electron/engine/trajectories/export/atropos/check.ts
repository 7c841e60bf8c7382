import { IGNORED } from '../tokens/masks.ts';

/** The parts of Atropos' `ScoredDataGroup` that must fit each other; its server checks none of it, and a trainer then dies. */
interface GroupParts {
  scores: readonly number[];
  messages: readonly unknown[];
  tokens: readonly (readonly number[])[] | null;
  masks: readonly (readonly number[])[] | null;
}

/** Why a group must not be written; null when it may. The last gate before the file. */
export function groupProblem({ scores, messages, tokens, masks }: GroupParts): string | null {
  if (scores.length === 0 || scores.length !== messages.length) return 'scores and messages are not equally many';
  if (!scores.every(Number.isFinite)) return 'a score is not a finite number';
  if (tokens === null && masks === null) return null;
  if (tokens?.length !== scores.length || masks?.length !== scores.length) return 'tokens, masks and scores are not equally many';
  for (const [i, ids] of tokens.entries()) {
    const mask = masks[i]!;
    if (mask.length !== ids.length) return 'a mask is not as long as its tokens';
    if (!ids.every((id) => Number.isInteger(id) && id >= 0)) return 'a token is no id';
    if (!mask.every((value, at) => value === IGNORED || value === ids[at])) return 'a mask holds another token than the text';
    if (mask.every((value) => value === IGNORED)) return 'no token to train on';
  }
  return null;
}
