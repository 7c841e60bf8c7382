import type { TrajectoryFormat } from '#shared/contract/run-spec.ts';
import type { Message, ToolSpec, ToolStat } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { ALL_TOOL_NAMES } from '../tools/toolsets.ts';
import { toHermes } from '../trajectories/export/hermes.ts';
import { toHermesCalls, toOpenAiMessages } from '../trajectories/export/hermes-calls.ts';
import type { HermesProblem } from '../trajectories/export/hermes-turns.ts';
import { decimal, jsonLine, pythonSpacing } from '../trajectories/export/json-text.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import { rowShape } from './reconcile.ts';

/** Which rollout of a run a row stands for. */
export interface RowPlace {
  runId: string;
  /** Counts rollouts. */
  index: number;
  promptIndex: number;
  rollout: number;
  /** Of the batch file. */
  batch: number;
}

/**
 * The line of one ended trajectory in a batch file, without its newline: the row of Hermes Agent's batch runner and what we add, with the
 * same keys and types in every row so that Arrow-based loaders see one schema. A reward that nobody gave is 0.0 with `scored` false; the
 * columns of the dataset's row are one JSON text. The same store gives the same line. Throws when the trajectory is gone.
 */
export function batchLine(db: Database, trajectoryId: string, place: RowPlace, format: TrajectoryFormat): string {
  const detail = getDetail(db, trajectoryId);
  if (!detail) throw new Error(`Trajectory ${trajectoryId} is not in the store`);
  const row = db.get(sqlFor.selectFrom('prompts').select('row').where('run_id', '=', place.runId).where('idx', '=', place.index))?.row ?? '{}';
  const { columns, problems } = conversation(format, getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true), detail.tools);
  // a call that cannot be parsed or names no tool must not be learnt as a good one
  const malformed = problems.includes('malformed_call') || problems.includes('unknown_tool');
  const completed = detail.exitReason === 'completed' && !malformed;
  const stats = knownToolStats(detail.toolStats);
  return jsonLine(
    shaped(place, columns, {
      metadata: {
        batch_num: place.batch,
        timestamp: new Date(detail.endedAt ?? detail.createdAt).toISOString(),
        model: detail.model,
        scripted: detail.scripted,
        trajectory_id: detail.id,
      },
      completed,
      partial: !completed,
      api_calls: detail.apiCalls,
      // a column of empty lists only has no type: the first rows of a file would fix that for all
      toolsets_used: detail.toolsets.length > 0 ? detail.toolsets : ['none'],
      tool_stats: stats,
      tool_error_counts: Object.fromEntries(Object.entries(stats).map(([name, s]) => [name, s.failure])),
      reward: decimal(detail.reward ?? 0),
      scored: detail.reward !== null,
      row,
    }),
  );
}

interface RowRest {
  metadata: object;
  completed: boolean;
  partial: boolean;
  api_calls: number;
  toolsets_used: readonly string[];
  tool_stats: Record<string, ToolStat>;
  tool_error_counts: Record<string, number>;
  reward: unknown;
  scored: boolean;
  row: string;
}

/** prompt_index and rollout come first: a line that was torn still tells whose it was. */
function shaped(place: Pick<RowPlace, 'promptIndex' | 'rollout'>, columns: Record<string, unknown>, rest: RowRest): object {
  return { prompt_index: place.promptIndex, rollout: place.rollout, ...columns, ...rest };
}

/** What `rowShape` says of every row in this format. */
export function batchRowShape(format: TrajectoryFormat): string {
  const rest = { metadata: {}, completed: true, partial: false, api_calls: 0, toolsets_used: [], tool_stats: knownToolStats({}), tool_error_counts: {}, reward: 0, scored: false, row: '' };
  return rowShape(shaped({ promptIndex: 0, rollout: 0 }, conversation(format, [], []).columns, rest));
}

function conversation(format: TrajectoryFormat, messages: readonly Message[], tools: readonly ToolSpec[]): { columns: Record<string, unknown>; problems: readonly HermesProblem[] } {
  if (format === 'hermes') {
    const { conversations, problems } = toHermes(messages, tools);
    return { columns: { conversations }, problems };
  }
  const offered = pythonSpacing(JSON.stringify(tools.map((t) => ({ type: 'function', function: t }))));
  if (format === 'tool_calls') {
    const { conversations, problems } = toHermesCalls(messages, tools);
    return { columns: { conversations, tools: offered }, problems };
  }
  const converted = toOpenAiMessages(messages, tools);
  return { columns: { messages: converted.messages, tools: offered }, problems: converted.problems };
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
