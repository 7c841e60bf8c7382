import { contextOf } from '#shared/context.ts';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { ExportContext, ExportRequest } from '#shared/contract/exports.ts';
import type { Message, TrajectoryDetail } from '#shared/trajectory.ts';
import type { Database } from '../../store/database.ts';
import { getMessages, walkTrajectories } from '../query.ts';
import { type ExportFormat, type ExportStep, refused } from './format.ts';
import { findSecrets } from './secrets.ts';
import { type HermesProblem, type HermesWarning, toHermes } from './hermes.ts';
import { jsonLine, pythonSpacing } from './json-text.ts';

export interface RowOptions {
  /** `compressed`: the messages that the model saw last, with the summary in place of what it covers. */
  context: ExportContext;
  includePartial: boolean;
  includeScripted: boolean;
  filter?: Pick<TrajectoryFilter, 'kinds' | 'ids'>;
}

const PAGE = 100;

export type RowResult = { line: string; warnings: string[] } | { leftOut: string };

export const PROBLEM_TEXT: Record<HermesProblem, string> = {
  empty: 'no messages',
  no_answer: 'no assistant turn',
  malformed_call: 'malformed tool call',
  unknown_tool: 'calls a tool that was not offered',
  call_without_result: 'tool call without a result',
  result_without_call: 'tool result without a call',
  ends_without_assistant: 'does not end with an assistant turn',
};

export const WARNING_TEXT: Record<HermesWarning, string> = {
  tags_escaped: 'control tags in the text were escaped',
  interrupted_answer: 'holds an answer that was interrupted',
  calls_left_out: 'calls whose result was lost were left out',
};

/** ShareGPT: one line for each trajectory, oldest first. */
export function shareGptFormat(db: Database, request: Omit<ExportRequest, 'file'>): ExportFormat {
  return {
    *steps() {
      for (let after = 0; ; ) {
        const page = walkTrajectories(db, request.filter, after, PAGE);
        if (page.length === 0) return;
        for (const detail of page) {
          const row = shareGptRow(detail, getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true), request);
          const { id } = detail;
          yield ('leftOut' in row
            ? { seen: 1, written: 0, line: null, leftOut: [{ reason: row.leftOut, id }], warnings: [] }
            : { seen: 1, written: 1, line: row.line, leftOut: [], warnings: row.warnings.map((reason) => ({ reason, id })) }) satisfies ExportStep;
        }
        after = page.at(-1)!.n;
      }
    },
  };
}

/**
 * One line of a ShareGPT file in the Hermes dialect, or why there is none. Every line has the same keys with the same types, so that
 * Arrow-based loaders see one schema.
 */
export function shareGptRow(detail: TrajectoryDetail, messages: readonly Message[], options: RowOptions): RowResult {
  const early = refused(detail, options);
  if (early) return { leftOut: early };
  const compressed = options.context === 'compressed';
  const { conversations, problems, warnings, summaryTurn } = toHermes(compressed ? contextOf(messages) : messages, detail.tools, { summaries: compressed });
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
      context: options.context,
      summary_turn: summaryTurn,
    },
  });
  const remarks = [
    ...warnings.map((warning) => WARNING_TEXT[warning]),
    ...findSecrets(line).map((kind) => `may contain a secret (${kind})`),
  ];
  return { line, warnings: remarks };
}
