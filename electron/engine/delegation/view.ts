import { sql } from 'kysely';
import type { Child, Delegation } from '#shared/contract/delegations.ts';
import { childStateSchema } from '#shared/contract/delegations.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Progress } from './run-child.ts';
import type { DelegationRecord } from './store.ts';

const SUMMARY_CHARS = 1_000;

/** What is shown of delegations: from the store, and of children at work what they do now. */
export function viewOf(db: Database, delegations: readonly DelegationRecord[], progress: (childId: string) => Progress | null): Delegation[] {
  const children = new Map<string, Child[]>(delegations.map(({ id }) => [id, []]));
  for (const row of rowsOf(db, delegations)) children.get(row.delegation_id)!.push(childOf(row, progress(row.id)));
  return delegations.map(({ id, sessionId, trajectoryId, callId, background, createdAt, endedAt, deliveredAt }) => ({
    id, sessionId, trajectoryId, callId, background, children: children.get(id)!, createdAt, endedAt, deliveredAt,
  }));
}

function rowsOf(db: Database, delegations: readonly DelegationRecord[]) {
  return db.all(
    sqlFor
      .selectFrom('children as c')
      .leftJoin('trajectories as t', 't.id', 'c.trajectory_id')
      .select(['c.id', 'c.delegation_id', 'c.idx', 'c.goal', 'c.state', 'c.trajectory_id', 'c.started_at', 'c.ended_at'])
      .select(['t.turns', 't.tool_calls', 't.prompt_tokens', 't.completion_tokens', 't.cost_usd'])
      .select([
        sql<number>`c.spec ->> '$.depth'`.as('depth'),
        sql<string | null>`c.spec ->> '$.model'`.as('model'),
        sql<string | null>`c.result ->> '$.error'`.as('error'),
        sql<string | null>`substr(c.result ->> '$.summary', 1, ${SUMMARY_CHARS})`.as('summary'),
      ])
      // one statement for any number of them
      .where(sql<boolean>`c.delegation_id IN (SELECT value FROM json_each(${JSON.stringify(delegations.map(({ id }) => id))}))`)
      .orderBy('c.idx'),
  );
}

function childOf(row: ReturnType<typeof rowsOf>[number], live: Progress | null): Child {
  return {
    id: row.id,
    index: row.idx,
    goal: row.goal,
    state: childStateSchema.parse(row.state),
    trajectoryId: row.trajectory_id,
    model: row.model,
    activity: live?.activity ?? null,
    turns: live?.turns ?? row.turns ?? 0,
    toolCalls: live?.toolCalls ?? row.tool_calls ?? 0,
    tokens: live?.tokens ?? (row.prompt_tokens ?? 0) + (row.completion_tokens ?? 0),
    costUsd: row.cost_usd,
    summary: row.summary,
    error: row.error,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    depth: row.depth,
  };
}
