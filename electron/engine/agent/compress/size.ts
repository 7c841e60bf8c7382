const PART_OF_COVERED = 0.2;
const LEAST_TOKENS = 2_000;
const MOST_TOKENS = 12_000;
const PART_OF_CONTEXT = 0.05;
/** Where 5 % of the context could hold no summary: the floor of small contexts. */
const PART_OF_SMALL_CONTEXT = 0.125;

/**
 * How long a summary should be and may be, tokens: 20 % of what it replaces, at least 2,000, at most 5 % of the context or 12,000
 * (Hermes Agent), but never more than half of what it replaces, which a fixed floor would make of a short conversation.
 */
export function summaryTokens(coveredTokens: number, contextLength: number): { target: number; most: number } {
  const ceiling = Math.max(Math.min(PART_OF_CONTEXT * contextLength, MOST_TOKENS), Math.min(LEAST_TOKENS, PART_OF_SMALL_CONTEXT * contextLength));
  const most = Math.floor(Math.min(ceiling, coveredTokens / 2));
  const target = Math.floor(Math.min(most, Math.max(PART_OF_COVERED * coveredTokens, LEAST_TOKENS)));
  return { target, most };
}
