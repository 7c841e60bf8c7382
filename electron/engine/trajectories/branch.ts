import { randomUUID } from 'node:crypto';
import { outcomeOf } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { counterColumns, derive, indexText } from './derive.ts';
import { toMessageRow } from './rows.ts';

/**
 * A new trajectory in the session that begins with the messages of `from` before seq `before`; large values are shared. It is at rest:
 * `completed` when it ends with an answer, else `interrupted`. With `systemPrompt` it goes on under that one, and its first message says so.
 * @returns its id. Throws when `from` is gone.
 */
export function branchTrajectory(db: Database, now: () => number, from: string, before: number, to: { sessionId: string; parentId?: string; systemPrompt?: string }): string {
  const id = randomUUID();
  db.transaction(() => {
    const source = db.get(sqlFor.selectFrom('trajectories').selectAll().where('id', '=', from));
    if (!source) throw new Error(`Trajectory ${from} is gone`);
    const { n: sourceN, ...columns } = source;
    const { lastInsertRowid: n } = db.run(
      sqlFor.insertInto('trajectories').values({ ...columns, id, session_id: to.sessionId, parent_id: to.parentId ?? from, parent_seq: before, created_at: now(), cost_usd: null, deleted_at: null, discard_reason: null }),
    );
    const rows = sqlFor.selectFrom('messages').where('trajectory_n', '=', sourceN).where('seq', '<', before);
    const [first, ...rest] = MESSAGE_COLUMNS;
    db.run(sqlFor.insertInto('messages').columns([first, ...rest]).expression(rows.select((e) => [e.val(n).as('trajectory_n'), ...rest])));
    if (to.systemPrompt !== undefined) replaceSystemPrompt(db, n, to.systemPrompt, now());
    const derived = derive(db, n, source.title);
    const exitReason = derived.last?.role === 'assistant' && !derived.last.toolCalls ? 'completed' : 'interrupted';
    const atRest = { state: 'ended', exitReason, discardReason: null } as const;
    db.run(
      sqlFor
        .updateTable('trajectories')
        .set({ state: 'ended', outcome: outcomeOf(atRest), exit_reason: exitReason, error: null, ended_at: now(), ...counterColumns(derived.counters) })
        .where('n', '=', n),
    );
    indexText(db, n, derived.text);
  });
  return id;
}

function replaceSystemPrompt(db: Database, n: number | bigint, systemPrompt: string, at: number): void {
  const { content, content_blob, content_bytes, created_at } = toMessageRow(db, Number(n), 0, { role: 'system', content: systemPrompt, createdAt: at });
  db.run(sqlFor.updateTable('messages').set({ content, content_blob, content_bytes, created_at }).where('trajectory_n', '=', Number(n)).where('seq', '=', 0).where('role', '=', 'system'));
  db.run(sqlFor.updateTable('trajectories').set({ system_prompt: systemPrompt }).where('n', '=', Number(n)));
}

const MESSAGE_COLUMNS = [
  'trajectory_n', 'seq', 'role', 'content', 'content_blob', 'content_bytes', 'reasoning', 'reasoning_details', 'tool_calls', 'tool_call_id', 'tool_name',
  'is_error', 'synthetic', 'finish_reason', 'usage', 'duration_ms', 'created_at', 'note', 'compaction', 'attachments',
] as const;
