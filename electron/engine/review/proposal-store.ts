import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { MemoryOperation, MemoryTarget } from '#shared/contract/memory.ts';
import type { Proposal } from '#shared/contract/reviews.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';

/** What is done when a proposal is accepted. A skill's files are in its `changes`. */
export type Operation = { what: 'skill'; action: 'new' | 'change' | 'remove'; name: string; category: string | null } | { what: 'memory'; target: MemoryTarget; operations: MemoryOperation[] };

/** What undo goes by: versions of skills in the order in which they were made, changes of the memory. */
export interface Done {
  versions?: number[];
  changeId?: number | null;
}

export interface ProposalRecord extends Proposal {
  operation: Operation;
  done: Done | null;
}

export type NewProposal = Pick<ProposalRecord, 'kind' | 'target' | 'title' | 'reason' | 'evidence' | 'changes' | 'findings' | 'operation'>;

/** The SQL of proposals. */
export class ProposalStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Waits for a person until it is said otherwise. */
  add(reviewId: string, proposal: NewProposal): ProposalRecord {
    const id = randomUUID();
    const idx = this.#db.get(sqlFor.selectFrom('proposals').select(sql<number>`coalesce(max(idx), -1) + 1`.as('next')).where('review_id', '=', reviewId))?.next ?? 0;
    const { kind, target, title, reason } = proposal;
    this.#db.run(sqlFor.insertInto('proposals').values({ id, review_id: reviewId, idx, kind, target, title, reason, ...jsonOf(proposal), state: 'waiting', error: null, done: null, created_at: this.#now(), decided_at: null } as never));
    return this.get(id)!;
  }

  /** What the review agent adds to its own proposal. */
  revise(id: string, proposal: NewProposal): void {
    const { kind, target, title, reason } = proposal;
    this.#db.run(sqlFor.updateTable('proposals').set({ kind, target, title, reason, ...jsonOf(proposal) }).where('id', '=', id));
  }

  settle(id: string, state: ProposalRecord['state'], { error = null, done, changes }: { error?: string | null; done?: Done; changes?: ProposalRecord['changes'] } = {}): void {
    const set = { state, error, decided_at: this.#now(), ...(done ? { done: JSON.stringify(done) } : {}), ...(changes ? { changes: JSON.stringify(changes) } : {}) };
    this.#db.run(sqlFor.updateTable('proposals').set(set).where('id', '=', id));
  }

  remove(id: string): void {
    this.#db.run(sqlFor.deleteFrom('proposals').where('id', '=', id));
  }

  get(id: string): ProposalRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('proposals').selectAll().where('id', '=', id));
    return row && fromRow(row);
  }

  ofReview(reviewId: string): ProposalRecord[] {
    return this.#db.all(sqlFor.selectFrom('proposals').selectAll().where('review_id', '=', reviewId).orderBy('idx')).map(fromRow);
  }

  /** Everything that waits for a person, oldest first. */
  waiting(): ProposalRecord[] {
    return this.#db.all(sqlFor.selectFrom('proposals').selectAll().where(sql<boolean>`state = 'waiting'`).orderBy('created_at')).map(fromRow);
  }

  waitingCount(): number {
    return this.#db.get(sqlFor.selectFrom('proposals').select(sql<number>`count(*)`.as('n')).where(sql<boolean>`state = 'waiting'`))?.n ?? 0;
  }
}

function jsonOf({ operation, changes, evidence, findings }: NewProposal): Record<'operation' | 'changes' | 'evidence' | 'findings', string> {
  return { operation: JSON.stringify(operation), changes: JSON.stringify(changes), evidence: JSON.stringify(evidence), findings: JSON.stringify(findings) };
}

function fromRow(row: Selectable<Tables['proposals']>): ProposalRecord {
  return {
    id: row.id,
    reviewId: row.review_id,
    kind: row.kind as ProposalRecord['kind'],
    target: row.target,
    title: row.title,
    reason: row.reason,
    operation: JSON.parse(row.operation) as Operation,
    changes: JSON.parse(row.changes) as ProposalRecord['changes'],
    evidence: JSON.parse(row.evidence) as ProposalRecord['evidence'],
    findings: JSON.parse(row.findings) as ProposalRecord['findings'],
    state: row.state as ProposalRecord['state'],
    error: row.error,
    done: row.done === null ? null : (JSON.parse(row.done) as Done),
    createdAt: row.created_at,
    decidedAt: row.decided_at,
  };
}
