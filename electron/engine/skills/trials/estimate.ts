import type { TrialEstimate, TrialSpec } from '#shared/contract/trials.ts';
import type { Price } from '#shared/contract/spend.ts';
import { buildSystemPrompt } from '../../agent/prompt/system-prompt.ts';
import { estimateTokens } from '../../agent/tokens.ts';
import { estimateRun } from '../../batch/plan/estimate.ts';
import type { ToolServices } from '../../tools/types.ts';
import { rowOf, toolsFor } from './row.ts';

/** What a trial would take. The arm with the skill reads its text, and sends it again with each call after that. */
export function estimateTrial(spec: TrialSpec, { skillText, index, services, price }: { skillText: string; index: (tools: readonly { name: string }[]) => string | null; services: ToolServices; price: Price | null }): Omit<TrialEstimate, 'problems'> {
  const rows = spec.prompts.map((prompt) => {
    const row = rowOf(prompt);
    const tools = toolsFor(spec, row, services).specs;
    const systemTokens = estimateTokens(buildSystemPrompt({ tools, system: row.system, skills: index(tools) })) + estimateTokens(JSON.stringify(tools));
    return { turns: row.turns.length, systemTokens, promptTokens: row.turns.reduce((sum, text) => sum + estimateTokens(text), 0) };
  });
  const mean = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const promptTokens = mean((row) => row.promptTokens);
  const skillTokens = estimateTokens(skillText);
  // each turn of the person may take as many model calls as one of a single prompt
  const common = { rollouts: rows.reduce((sum, { turns }) => sum + turns, 0), systemTokens: mean((row) => row.systemTokens), maxTurns: spec.maxTurns, maxTokens: undefined, price };
  const without = estimateRun({ ...common, promptTokens });
  const withIt = estimateRun({ ...common, promptTokens: promptTokens + skillTokens });
  const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  return {
    attempts: spec.prompts.length * 2,
    lowUsd: sum(without.lowUsd, withIt.lowUsd),
    highUsd: sum(without.highUsd, withIt.highUsd),
    tokensLow: without.tokensLow + withIt.tokensLow,
    tokensHigh: without.tokensHigh + withIt.tokensHigh,
    skillTokens,
  };
}
