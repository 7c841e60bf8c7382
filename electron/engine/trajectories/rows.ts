import { deflateSync, inflateSync } from 'node:zlib';
import type { Selectable } from 'kysely';
import type { Message, StoredMessage, ToolSpec, ToolStat, TrajectoryDetail, TrajectorySummary } from '#shared/trajectory.ts';
import type { Database } from '../store/database.ts';
import { sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';

/** Contents larger than this (UTF-8 bytes) live in `blobs`; the row keeps the first PREVIEW_CHARS. */
export const LARGE_CONTENT_BYTES = 64 * 1024;
export const PREVIEW_CHARS = 8_000;

export type TrajectoryRow = Selectable<Tables['trajectories']>;
export type MessageRow = Selectable<Tables['messages']>;

export type SummaryRow = TrajectoryRow & { run_name: string | null; run_rollouts: number | null };

export function toSummary(r: SummaryRow): TrajectorySummary {
  return {
    id: r.id,
    n: r.n,
    kind: r.kind as TrajectorySummary['kind'],
    title: r.title,
    runId: r.run_id,
    runName: r.run_name,
    promptIndex: r.prompt_index,
    rollout: r.rollout,
    rollouts: r.run_rollouts ?? 1,
    sessionId: r.session_id,
    parentId: r.parent_id,
    parentSeq: r.parent_seq,
    model: r.model,
    provider: r.provider,
    scripted: r.scripted === 1,
    state: r.state as TrajectorySummary['state'],
    exitReason: r.exit_reason as TrajectorySummary['exitReason'],
    discardReason: r.discard_reason,
    error: r.error,
    reward: r.reward,
    rating: r.rating,
    messageCount: r.message_count,
    turns: r.turns,
    toolCalls: r.tool_calls,
    toolErrors: r.tool_errors,
    usage: {
      promptTokens: r.prompt_tokens,
      completionTokens: r.completion_tokens,
      reasoningTokens: r.reasoning_tokens,
      cachedTokens: r.cached_tokens,
    },
    costUsd: r.cost_usd,
    createdAt: r.created_at,
    endedAt: r.ended_at,
  };
}

export function toDetail(r: SummaryRow): TrajectoryDetail {
  return {
    ...toSummary(r),
    toolsets: JSON.parse(r.toolsets) as string[],
    tools: JSON.parse(r.tools) as ToolSpec[],
    toolStats: JSON.parse(r.tool_stats) as Record<string, ToolStat>,
    apiCalls: r.api_calls,
  };
}

/** The row of a message, its large content put into `blobs`. */
export function toMessageRow(db: Database, trajectoryN: number, seq: number, m: Message): MessageRow {
  const bytes = m.content.length * 3 > LARGE_CONTENT_BYTES ? Buffer.byteLength(m.content) : 0;
  const large = bytes > LARGE_CONTENT_BYTES;
  const blob = large
    ? db.run(sqlFor.insertInto('blobs').values({ bytes, data: deflateSync(m.content, { level: 1 }) })).lastInsertRowid
    : null;
  return {
    trajectory_n: trajectoryN,
    seq,
    role: m.role,
    content: large ? preview(m.content) : m.content,
    content_blob: blob,
    content_bytes: large ? bytes : null,
    reasoning: m.reasoning ?? null,
    reasoning_details: m.reasoningDetails ? JSON.stringify(m.reasoningDetails) : null,
    tool_calls: m.toolCalls && m.toolCalls.length > 0 ? JSON.stringify(m.toolCalls) : null,
    tool_call_id: m.toolCallId ?? null,
    tool_name: m.toolName ?? null,
    is_error: m.isError === undefined ? null : m.isError ? 1 : 0,
    synthetic: m.synthetic ? 1 : 0,
    finish_reason: m.finishReason ?? null,
    usage: m.usage ? JSON.stringify(m.usage) : null,
    duration_ms: m.durationMs === undefined ? null : Math.round(m.durationMs),
    created_at: Math.round(m.createdAt),
    note: m.note ?? null,
    compaction: m.compaction ? JSON.stringify(m.compaction) : null,
    attachments: m.attachments && m.attachments.length > 0 ? JSON.stringify(m.attachments) : null,
  };
}

/** A stored message; with `db` its whole content is read, without it large contents stay cut and say how large they are. */
export function fromMessageRow(r: MessageRow, db?: Database): StoredMessage {
  const cut = r.content_blob !== null && !db;
  return {
    seq: r.seq,
    role: r.role as StoredMessage['role'],
    content: r.content_blob !== null && db ? readBlob(db, r.content_blob) : r.content,
    ...(cut ? { contentBytes: r.content_bytes ?? 0 } : {}),
    ...(r.reasoning !== null ? { reasoning: r.reasoning } : {}),
    ...(r.reasoning_details !== null ? { reasoningDetails: JSON.parse(r.reasoning_details) as unknown[] } : {}),
    ...(r.tool_calls !== null ? { toolCalls: JSON.parse(r.tool_calls) as NonNullable<Message['toolCalls']> } : {}),
    ...(r.tool_call_id !== null ? { toolCallId: r.tool_call_id } : {}),
    ...(r.tool_name !== null ? { toolName: r.tool_name } : {}),
    ...(r.is_error !== null ? { isError: r.is_error === 1 } : {}),
    ...(r.synthetic === 1 ? { synthetic: true } : {}),
    ...(r.note !== null ? { note: r.note as NonNullable<Message['note']> } : {}),
    ...(r.compaction !== null ? { compaction: JSON.parse(r.compaction) as NonNullable<Message['compaction']> } : {}),
    ...(r.attachments !== null ? { attachments: JSON.parse(r.attachments) as NonNullable<Message['attachments']> } : {}),
    ...(r.finish_reason !== null ? { finishReason: r.finish_reason } : {}),
    ...(r.usage !== null ? { usage: JSON.parse(r.usage) as NonNullable<Message['usage']> } : {}),
    createdAt: r.created_at,
    ...(r.duration_ms !== null ? { durationMs: r.duration_ms } : {}),
  };
}

/** Text of a blob. Throws when the row is gone: references are enforced, so that is corruption. */
export function readBlob(db: Database, id: number): string {
  const row = db.get(sqlFor.selectFrom('blobs').select('data').where('id', '=', id));
  if (!row) throw new Error(`The store has lost the large value ${id}`);
  return inflateSync(row.data).toString('utf8');
}

function preview(text: string): string {
  const head = text.slice(0, PREVIEW_CHARS);
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
}
