import type { StoredMessage, TrajectoryDetail } from '#shared/trajectory.ts';
import { outcomeOf } from '#shared/trajectory.ts';
import { findSecrets } from './secrets.ts';
import { type HermesProblem, toHermes } from './hermes.ts';
import { jsonLine, pythonSpacing } from './json-text.ts';

export interface RowOptions {
  includePartial: boolean;
  includeScripted: boolean;
}

export type RowResult = { line: string; warnings: string[] } | { leftOut: string };

const PROBLEM_TEXT: Record<HermesProblem, string> = {
  empty: 'no messages',
  no_answer: 'no assistant turn',
  malformed_call: 'malformed tool call',
  unknown_tool: 'calls a tool that was not offered',
  call_without_result: 'tool call without a result',
  result_without_call: 'tool result without a call',
  ends_without_assistant: 'does not end with an assistant turn',
};

/**
 * One line of a ShareGPT file in the Hermes dialect, or why there is none. Every line has the same keys with the same types, so that
 * Arrow-based loaders see one schema.
 */
export function shareGptRow(detail: TrajectoryDetail, messages: readonly StoredMessage[], options: RowOptions): RowResult {
  const early = refused(detail, options);
  if (early) return { leftOut: early };
  const { conversations, problems, warnings } = toHermes(messages, detail.tools);
  if (problems.length > 0) return { leftOut: PROBLEM_TEXT[problems[0]!] };
  const line = jsonLine({
    conversations,
    tools: pythonSpacing(JSON.stringify(detail.tools.map((t) => ({ type: 'function', function: t })))),
    completed: detail.exitReason === 'completed',
    timestamp: new Date(detail.endedAt ?? detail.createdAt).toISOString(),
    metadata: {
      trajectory_id: detail.id,
      run: detail.runName ?? '',
      prompt_index: detail.promptIndex ?? -1,
      model: detail.model,
      exit_reason: detail.exitReason ?? '',
      scripted: detail.scripted,
    },
  });
  const remarks = [
    ...(warnings.includes('tags_escaped') ? ['control tags in the text were escaped'] : []),
    ...findSecrets(line).map((kind) => `may contain a secret (${kind})`),
  ];
  return { line, warnings: remarks };
}

function refused(detail: TrajectoryDetail, options: RowOptions): string | null {
  const outcome = outcomeOf(detail);
  if (outcome === 'running') return 'still running';
  if (outcome === 'discarded') return `discarded: ${detail.discardReason}`;
  if (detail.scripted && !options.includeScripted) return 'made by the scripted demo model';
  if (outcome === 'failed') return 'failed';
  if (outcome === 'partial' && !options.includePartial) return `partial: ${detail.exitReason}`;
  return null;
}
