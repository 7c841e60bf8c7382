import type { TrialEstimate, TrialSpec } from '#shared/contract/trials.ts';
import type { Price } from '#shared/contract/spend.ts';
import { buildSystemPrompt } from '../../agent/prompt/system-prompt.ts';
import { estimateTokens } from '../../agent/tokens.ts';
import { estimateRun } from '../../batch/plan/estimate.ts';
import { createRegistry } from '../../tools/registry.ts';
import type { ToolServices } from '../../tools/types.ts';

/** What a trial would take. The arm with the skill reads its text, and sends it again with each call after that. */
export function estimateTrial(spec: TrialSpec, { skillText, index, services, price }: { skillText: string; index: (tools: readonly { name: string }[]) => string | null; services: ToolServices; price: Price | null }): Omit<TrialEstimate, 'problems'> {
  const tools = createRegistry([...new Set([...spec.toolsets, 'skills'])], services).specs;
  const systemTokens = estimateTokens(buildSystemPrompt({ tools, skills: index(tools) })) + estimateTokens(JSON.stringify(tools));
  const promptTokens = spec.prompts.reduce((sum, { prompt }) => sum + estimateTokens(prompt), 0) / spec.prompts.length;
  const skillTokens = estimateTokens(skillText);
  const common = { rollouts: spec.prompts.length, systemTokens, maxTurns: spec.maxTurns, maxTokens: undefined, price };
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
