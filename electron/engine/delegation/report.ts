import type { ChildState } from '#shared/contract/delegations.ts';
import type { Message } from '#shared/trajectory.ts';
import { isRecord, parseJson } from '../model/json.ts';
import type { OutputSchema } from './output-schema.ts';
import type { ChildOutcome } from './run-child.ts';

/** Of all children of a call together: the result is one tool result, which is cut at 100,000. */
const SUMMARY_CHARS = 60_000;
const SUMMARY_MIN_CHARS = 500;
const TRACE_ENTRIES = 300;
const TRACE_MOST = 60;
const FILES_SHOWN = 100;
const ERROR_CHARS = 2_000;

type Final = Exclude<ChildState, 'queued' | 'running'>;

/** What the parent is told of one child. The names are those of Hermes' delegate_task. */
export interface ChildReport {
  task_index: number;
  child_id: string;
  status: Final;
  /** Its answer; when it failed, the last that it said. */
  summary: string | null;
  api_calls: number;
  duration_seconds: number;
  model: string;
  /** How the agent ended; `max_iterations` at its cap. */
  exit_reason: string;
  tokens: { input: number; output: number };
  tool_trace: { tool: string; args_bytes: number; result_bytes: number; status: 'ok' | 'error' }[];
  /** Only when the cap of its model calls was hit. */
  truncated?: true;
  error?: string;
  /** What its file tools wrote, relative to the workspace; commands may have written more. */
  files_written?: string[];
  /** Commands in the background that were still running, and were ended with it. */
  orphaned_processes?: string[];
  schema_valid?: boolean;
  schema_errors?: string[];
  /** The answer by the schema, when it fits. */
  output?: unknown;
  note?: string;
}

export interface ReportFacts {
  index: number;
  childId: string;
  model: string;
  durationMs: number;
  schema?: OutputSchema | null;
  note?: string | null;
}

/** What became of a child that ran. */
export function reportOf({ result, cause, messages }: ChildOutcome, facts: ReportFacts): ChildReport {
  const done = result.exitReason === 'completed' || result.exitReason === 'max_turns';
  const summary = result.finalAnswer?.trim() || lastSaid(messages);
  const status = statusOf(result.exitReason, cause, done && summary !== null);
  const verdict = facts.schema && result.exitReason === 'completed' ? facts.schema.check(result.finalAnswer ?? '') : null;
  const error = result.exitReason === 'completed' ? (summary === null ? 'It ended without an answer.' : null) : sentenceOf(result);
  return {
    ...base(facts),
    status,
    summary: summary === null ? null : cut(summary, SUMMARY_CHARS),
    api_calls: result.apiCalls,
    exit_reason: result.exitReason === 'max_turns' ? 'max_iterations' : result.exitReason,
    tokens: { input: result.usage.promptTokens, output: result.usage.completionTokens },
    ...workOf(messages),
    ...(result.exitReason === 'max_turns' ? { truncated: true as const } : {}),
    ...(error === null || status === 'completed' ? {} : { error: cut(error, ERROR_CHARS) }),
    ...(verdict ? { schema_valid: verdict.valid, ...(verdict.valid ? { output: verdict.value } : { schema_errors: verdict.errors }) } : facts.schema ? { schema_valid: false, schema_errors: ['it did not come to its answer'] } : {}),
  };
}

/** Why, with the provider's own words when they are not in it yet. */
function sentenceOf({ error, modelError }: ChildOutcome['result']): string {
  const said = modelError?.providerMessage;
  return said && !error?.includes(said) ? [error, said].filter(Boolean).join(' ') : (error ?? '');
}

/** What became of a child that never ran, or of which only its messages are known. */
export function reportWithout(status: Final, error: string, facts: ReportFacts, messages: readonly Message[] = []): ChildReport {
  const tokens = messages.reduce((sum, { usage }) => ({ input: sum.input + (usage?.promptTokens ?? 0), output: sum.output + (usage?.completionTokens ?? 0) }), { input: 0, output: 0 });
  const summary = lastSaid(messages);
  return {
    ...base(facts),
    status,
    summary: summary === null ? null : cut(summary, SUMMARY_CHARS),
    api_calls: messages.filter((m) => m.role === 'assistant').length,
    exit_reason: status,
    tokens,
    ...workOf(messages),
    error: cut(error, ERROR_CHARS),
  };
}

/** The results as one value for the model, in task order, short enough for one tool result. */
export function resultsOf(delegationId: string, reports: readonly ChildReport[], totalMs: number): Record<string, unknown> {
  const summaryChars = Math.max(SUMMARY_MIN_CHARS, Math.floor(SUMMARY_CHARS / reports.length));
  const entries = Math.min(TRACE_MOST, Math.floor(TRACE_ENTRIES / reports.length));
  const results = reports.toSorted((a, b) => a.task_index - b.task_index).map((report) => {
    const trace = report.tool_trace.slice(0, entries);
    return {
      ...report,
      summary: report.summary === null ? null : cut(report.summary, summaryChars),
      tool_trace: trace,
      ...(trace.length < report.tool_trace.length ? { tool_calls: report.tool_trace.length } : {}),
      // the same once more, so only where it is short
      ...(report.output === undefined || JSON.stringify(report.output).length > summaryChars ? { output: undefined } : {}),
    };
  });
  return { delegation_id: delegationId, results, total_duration_seconds: seconds(totalMs) };
}

function base({ index, childId, model, durationMs, note }: ReportFacts): Pick<ChildReport, 'task_index' | 'child_id' | 'model' | 'duration_seconds' | 'note'> {
  return { task_index: index, child_id: childId, model, duration_seconds: seconds(durationMs), ...(note ? { note } : {}) };
}

function statusOf(exitReason: ChildOutcome['result']['exitReason'], cause: ChildOutcome['cause'], answered: boolean): Final {
  if (answered) return 'completed';
  if (exitReason === 'interrupted') return 'interrupted';
  if (exitReason === 'timeout') return cause === 'stalled' ? 'stalled' : 'timeout';
  return 'failed';
}

function lastSaid(messages: readonly Message[]): string | null {
  return messages.findLast((m) => m.role === 'assistant' && m.content.trim() !== '')?.content.trim() ?? null;
}

function workOf(messages: readonly Message[]): Pick<ChildReport, 'tool_trace' | 'files_written'> {
  const args = new Map(messages.flatMap((m) => m.toolCalls ?? []).map((call) => [call.id, call.arguments] as const));
  const results = messages.filter((m) => m.role === 'tool');
  const files = new Set(results.filter((m) => !m.isError).flatMap(filesOf));
  return {
    tool_trace: results.map((m) => ({
      tool: m.toolName ?? 'unknown',
      args_bytes: Buffer.byteLength(args.get(m.toolCallId ?? '') ?? ''),
      result_bytes: Buffer.byteLength(m.content),
      status: m.isError ? 'error' : 'ok',
    })),
    ...(files.size > 0 ? { files_written: [...files].slice(0, FILES_SHOWN) } : {}),
  };
}

function filesOf({ toolName, content }: Message): string[] {
  if (toolName !== 'write_file' && toolName !== 'patch') return [];
  const result = parseJson(content);
  if (!isRecord(result)) return [];
  return [result['path'], result['files_created'], result['files_modified']].flat().filter((path) => typeof path === 'string');
}

function seconds(ms: number): number {
  return Math.round(ms / 10) / 100;
}

/** Its beginning and its end. */
function cut(text: string, most: number): string {
  const plain = text.toWellFormed();
  if (plain.length <= most) return plain;
  const head = plain.slice(0, Math.floor(most * 0.75));
  const tail = plain.slice(-Math.floor(most * 0.25));
  return `${head}\n[… ${(plain.length - head.length - tail.length).toLocaleString('en-US')} characters are left out …]\n${tail}`.toWellFormed();
}
