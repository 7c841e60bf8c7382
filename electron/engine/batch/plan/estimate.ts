import type { Estimate } from '#shared/contract/plans.ts';
import type { Price } from '#shared/contract/spend.ts';

/** Of one answer with its reasoning and calls, and of one tool result: middling values of agent runs. */
const ANSWER_TOKENS = 400;
const RESULT_TOKENS = 600;
/** A task that uses its tools takes a call to use them and one to answer. */
const FEWEST_TURNS = 2;

/** What is known of a run before it begins. */
export interface EstimateInput {
  rollouts: number;
  /** Of one prompt on average, and of everything that is sent before it. */
  promptTokens: number;
  systemTokens: number;
  maxTurns: number;
  maxTokens: number | undefined;
  price: Price | null;
}

/**
 * Tokens and cost of a run between a rollout that calls its tools once and one that takes all its turns. Every call sends the whole
 * conversation again; what providers cache is not taken off.
 */
export function estimateRun({ rollouts, promptTokens, systemTokens, maxTurns, maxTokens, price }: EstimateInput): Estimate {
  const answerTokens = Math.min(ANSWER_TOKENS, maxTokens ?? ANSWER_TOKENS);
  const turnsLow = Math.min(FEWEST_TURNS, maxTurns);
  const sent = (turns: number): number => turns * (systemTokens + promptTokens) + ((turns * (turns - 1)) / 2) * (answerTokens + RESULT_TOKENS);
  const usd = (turns: number): number | null => price && ((sent(turns) * price.input + turns * answerTokens * price.output) * rollouts) / 1_000_000;
  const tokens = (turns: number): number => Math.round(rollouts * (sent(turns) + turns * answerTokens));
  return {
    lowUsd: usd(turnsLow),
    highUsd: usd(maxTurns),
    price: price && { input: price.input, output: price.output },
    promptTokens: Math.round(promptTokens),
    systemTokens: Math.round(systemTokens),
    answerTokens,
    turnsLow,
    turnsHigh: maxTurns,
    tokensLow: tokens(turnsLow),
    tokensHigh: tokens(maxTurns),
  };
}
