import type { SessionState, SessionSummary } from '#shared/contract/chats.ts';
import type { LiveSession } from './live-session.ts';
import type { Rooms } from './rooms.ts';
import type { SessionRow } from './session-store.ts';

/** A row of the list with what is known of it while the engine runs. */
export function summaryOf(row: SessionRow, live: LiveSession | undefined): SessionSummary {
  const asking = live?.questions.current != null;
  return {
    id: row.id,
    title: row.title,
    provider: row.provider,
    model: row.model,
    state: asking ? 'asking' : live?.turn ? 'running' : 'idle',
    activity: live?.activity ?? null,
    turnStartedAt: live?.turn?.startedAt ?? null,
    exitReason: row.exit_reason,
    error: live?.startError ?? row.error,
    ...(row.background === 1 ? { background: true } : {}),
    ...(row.agents > 0 ? { agents: row.agents } : {}),
    unread: row.unread === 1,
    pinned: row.pinned_at !== null,
    archived: row.archived_at !== null,
    hasDraft: row.has_draft === 1,
    messageCount: row.message_count ?? 0,
    costUsd: row.cost_usd,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Everything that is shown of one session. */
export function stateOf(rooms: Rooms, id: string): SessionState {
  const session = rooms.session(id);
  const row = rooms.store.row(id)!;
  const live = rooms.peek(id);
  return {
    session: summaryOf(row, live),
    settings: session.settings,
    tip: session.tip,
    branches: rooms.store.branches(id),
    queue: session.queue,
    question: live?.questions.current ?? null,
    todos: session.todos,
    context: live?.meter ?? null,
    spend: rooms.deps.spend.ofSession(id),
    tokensPerSecond: live?.tokensPerSecond ?? null,
    retry: live?.retry ?? null,
    compressing: live?.compressing ?? false,
    turnStartedAt: live?.turn?.startedAt ?? null,
    processes: rooms.workspaces.processes(id),
    draft: session.draft,
    checkpoints: rooms.deps.checkpoints.count(id),
    checkpointsOff: rooms.checkpointsOff() ?? live?.checkpointsOff ?? null,
  };
}
