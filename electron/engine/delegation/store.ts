import { sql, type Selectable } from 'kysely';
import { type ChildState, childStateSchema } from '#shared/contract/delegations.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';
import type { ChildReport } from './report.ts';

/** One call that asked for children. */
export interface DelegationRecord {
  id: string;
  sessionId: string | null;
  trajectoryId: string;
  callId: string;
  background: boolean;
  createdAt: number;
  endedAt: number | null;
  deliveredAt: number | null;
}

export interface ChildRecord {
  id: string;
  delegationId: string;
  index: number;
  goal: string;
  depth: number;
  /** `provider/model id` it was planned with. */
  model: string | null;
  state: ChildState;
  trajectoryId: string | null;
  report: ChildReport | null;
  startedAt: number | null;
  endedAt: number | null;
}

export interface NewChild {
  id: string;
  goal: string;
  /** What was asked for, for people and for the record. */
  spec: { depth: number; model: string; [key: string]: unknown };
}

const OPEN = ['queued', 'running'];

/** The SQL of delegations. Everything here is synchronous and short. */
export class DelegationStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  create(delegation: Omit<DelegationRecord, 'endedAt' | 'deliveredAt'>, children: readonly NewChild[]): void {
    const { id, sessionId, trajectoryId, callId, background, createdAt } = delegation;
    this.#db.transaction(() => {
      this.#db.run(sqlFor.insertInto('delegations').values({ id, session_id: sessionId, trajectory_id: trajectoryId, call_id: callId, background: background ? 1 : 0, created_at: createdAt }));
      children.forEach((child, idx) => this.#db.run(sqlFor.insertInto('children').values({ id: child.id, delegation_id: id, idx, goal: child.goal, spec: JSON.stringify(child.spec) })));
    });
  }

  /** It works now, as this trajectory. */
  begun(childId: string, trajectoryId: string, now: number): void {
    this.#db.run(sqlFor.updateTable('children').set({ state: 'running', trajectory_id: trajectoryId, started_at: now }).where('id', '=', childId).where('state', '=', 'queued'));
  }

  /** False when it had ended already: what ended first counts. */
  endChild(childId: string, report: ChildReport, now: number): boolean {
    const { changes } = this.#db.run(sqlFor.updateTable('children').set({ state: report.status, result: JSON.stringify(report), ended_at: now }).where('id', '=', childId).where('state', 'in', OPEN));
    return changes === 1;
  }

  /** What is known by now of a child that has not ended stays; for files and orphans that are found a moment later. */
  amend(childId: string, report: ChildReport): void {
    this.#db.run(sqlFor.updateTable('children').set({ result: JSON.stringify(report) }).where('id', '=', childId).where('state', '=', report.status));
  }

  end(id: string, now: number): void {
    this.#db.run(sqlFor.updateTable('delegations').set({ ended_at: now }).where('id', '=', id).where('ended_at', 'is', null));
  }

  /** Within the transaction of the message. @throws when it was delivered before: then there must be no second message. */
  delivered(id: string, now: number): void {
    const { changes } = this.#db.run(sqlFor.updateTable('delegations').set({ delivered_at: now }).where('id', '=', id).where('delivered_at', 'is', null));
    if (changes !== 1) throw new Error(`The results of delegation ${id} were delivered before`);
  }

  /** Nobody waits for the results of this session any more. */
  dropResults(sessionId: string, now: number): void {
    this.#db.run(sqlFor.updateTable('delegations').set({ delivered_at: now }).where('session_id', '=', sessionId).where('background', '=', 1).where('delivered_at', 'is', null));
  }

  get(id: string): DelegationRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('delegations').selectAll().where('id', '=', id));
    return row && delegationOf(row);
  }

  /** Oldest first. */
  list(of: { sessionId?: string | undefined; trajectoryId?: string | undefined }): DelegationRecord[] {
    return this.#db
      .all(
        sqlFor
          .selectFrom('delegations')
          .selectAll()
          .$if(of.sessionId !== undefined, (q) => q.where('session_id', '=', of.sessionId!))
          .$if(of.trajectoryId !== undefined, (q) => q.where('trajectory_id', '=', of.trajectoryId!))
          .orderBy('created_at')
          .orderBy(sql`rowid`),
      )
      .map(delegationOf);
  }

  /** Background ones that have ended and are no message yet, oldest first. */
  undelivered(sessionId?: string): DelegationRecord[] {
    return this.#db
      .all(
        sqlFor
          .selectFrom('delegations')
          .selectAll()
          .where(sql<boolean>`background = 1 AND delivered_at IS NULL`)
          .where('ended_at', 'is not', null)
          .where('session_id', 'is not', null)
          .$if(sessionId !== undefined, (q) => q.where('session_id', '=', sessionId!))
          .orderBy('created_at')
          .orderBy(sql`rowid`),
      )
      .map(delegationOf);
  }

  /** Without an end, whatever became of them. */
  open(): DelegationRecord[] {
    return this.#db.all(sqlFor.selectFrom('delegations').selectAll().where('ended_at', 'is', null)).map(delegationOf);
  }

  child(id: string): ChildRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('children').selectAll().where('id', '=', id));
    return row && childOf(row);
  }

  /** In task order. */
  children(delegationId: string): ChildRecord[] {
    return this.#db.all(sqlFor.selectFrom('children').selectAll().where('delegation_id', '=', delegationId).orderBy('idx')).map(childOf);
  }
}

function delegationOf(row: Selectable<Tables['delegations']>): DelegationRecord {
  return {
    id: row.id,
    sessionId: row.session_id,
    trajectoryId: row.trajectory_id,
    callId: row.call_id,
    background: row.background === 1,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    deliveredAt: row.delivered_at,
  };
}

function childOf(row: Selectable<Tables['children']>): ChildRecord {
  const spec = JSON.parse(row.spec) as NewChild['spec'];
  return {
    id: row.id,
    delegationId: row.delegation_id,
    index: row.idx,
    goal: row.goal,
    depth: spec.depth,
    model: spec.model,
    state: childStateSchema.parse(row.state),
    trajectoryId: row.trajectory_id,
    report: row.result === null ? null : (JSON.parse(row.result) as ChildReport),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
