import type { ToolStat } from '#shared/trajectory.ts';
import type { Database } from '../store/database.ts';
import { ALL_TOOL_NAMES } from '../tools/toolsets.ts';
import { toHermes } from '../trajectories/export/hermes.ts';
import { jsonLine } from '../trajectories/export/json-text.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';

/**
 * The line of one ended trajectory in a batch file, without its newline: the row of Hermes Agent's batch runner, with the same keys
 * and types in every row so that Arrow-based loaders see one schema. The same store gives the same line.
 * Throws when the trajectory is gone.
 */
export function batchLine(db: Database, trajectoryId: string, promptIndex: number, batch: number): string {
  const detail = getDetail(db, trajectoryId);
  if (!detail) throw new Error(`Trajectory ${trajectoryId} is not in the store`);
  const { conversations, problems } = toHermes(getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true), detail.tools);
  // a call that cannot be parsed or names no tool must not be learnt as a good one
  const malformed = problems.includes('malformed_call') || problems.includes('unknown_tool');
  const completed = detail.exitReason === 'completed' && !malformed;
  const stats = knownToolStats(detail.toolStats);
  return jsonLine({
    prompt_index: promptIndex,
    conversations,
    metadata: {
      batch_num: batch,
      timestamp: new Date(detail.endedAt ?? detail.createdAt).toISOString(),
      model: detail.model,
      scripted: detail.scripted,
      trajectory_id: detail.id,
    },
    completed,
    partial: !completed,
    api_calls: detail.apiCalls,
    toolsets_used: detail.toolsets,
    tool_stats: stats,
    tool_error_counts: Object.fromEntries(Object.entries(stats).map(([name, s]) => [name, s.failure])),
  });
}

/** Statistics of every tool that exists, zero where it was not used; names that a model made up are left out. */
export function knownToolStats(stats: Readonly<Record<string, ToolStat>>): Record<string, ToolStat> {
  return Object.fromEntries(
    ALL_TOOL_NAMES.map((name) => {
      const s = Object.hasOwn(stats, name) ? stats[name] : undefined;
      return [name, { count: s?.count ?? 0, success: s?.success ?? 0, failure: s?.failure ?? 0 }];
    }),
  );
}
