import { sql } from 'kysely';
import { type Database, sqlFor } from '../store/database.ts';
import { joined, type ReviewKind } from './kinds.ts';

/** A session's counters of the nudge. */
export interface Counters {
  /** Model calls since `skill_manage` was used, of turns in which it is offered. */
  iters: number;
  /** Turns of the person since the memory tool was used, of those in which it is offered. */
  turns: number;
  /** The review that is due after the next turn that ends with an answer. */
  due: ReviewKind | '';
}

/**
 * The counters that say when a conversation is to be reviewed: kept with the session, so that neither a restart nor an interrupted turn
 * loses them, and never shown to the agent. Rules: Hermes, nudge intervals.
 */
export class NudgeCounters {
  readonly #db: Database;
  readonly #intervals: () => { skill: number; memory: number };

  /** @param intervals 0: never. */
  constructor(db: Database, intervals: () => { skill: number; memory: number }) {
    this.#db = db;
    this.#intervals = intervals;
  }

  of(sessionId: string): Counters | undefined {
    const row = this.#db.get(sqlFor.selectFrom('sessions').select(['iters_since_skill', 'turns_since_memory', 'review_due']).where('id', '=', sessionId));
    return row && { iters: row.iters_since_skill, turns: row.turns_since_memory, due: row.review_due as Counters['due'] };
  }

  /** The person says something in a turn where the memory tool is offered: counted and checked before the turn. */
  personSpoke(sessionId: string): void {
    const { memory } = this.#intervals();
    const before = this.of(sessionId);
    if (!before) return;
    const turns = before.turns + 1;
    if (memory > 0 && turns >= memory) this.#set(sessionId, { turns_since_memory: 0, review_due: joined(before.due, 'memory') });
    else this.#set(sessionId, { turns_since_memory: turns });
  }

  /** A model call of a turn where `skill_manage` is offered. */
  modelCalled(sessionId: string): void {
    this.#set(sessionId, { iters_since_skill: sql<number>`iters_since_skill + 1` });
  }

  skillManaged(sessionId: string): void {
    this.#set(sessionId, { iters_since_skill: 0 });
  }

  memoryUsed(sessionId: string): void {
    this.#set(sessionId, { turns_since_memory: 0 });
  }

  /**
   * The check after a turn. Answers with the review that is to be made now, once: what is due stays due while turns are interrupted.
   * @param turn.answered it ended with a final answer and was not interrupted
   */
  turnEnded(sessionId: string, turn: { skillOffered: boolean; answered: boolean }): ReviewKind | null {
    const { skill } = this.#intervals();
    const now = this.of(sessionId);
    if (!now) return null;
    const long = turn.skillOffered && skill > 0 && now.iters >= skill;
    const due = long ? joined(now.due, 'skill') : now.due;
    const fires = turn.answered && due !== '';
    this.#set(sessionId, { ...(long ? { iters_since_skill: 0 } : {}), review_due: fires ? '' : due });
    return fires ? due : null;
  }

  /** A review of this kind was given up; it is made up for after the next turn. */
  owe(sessionId: string, kind: ReviewKind): void {
    const now = this.of(sessionId);
    if (now) this.#set(sessionId, { review_due: joined(now.due, kind) });
  }

  /** The whole session is being reviewed. */
  restart(sessionId: string): void {
    this.#set(sessionId, { iters_since_skill: 0, turns_since_memory: 0, review_due: '' });
  }

  #set(sessionId: string, values: Record<string, unknown>): void {
    this.#db.run(sqlFor.updateTable('sessions').set(values as never).where('id', '=', sessionId));
  }
}
