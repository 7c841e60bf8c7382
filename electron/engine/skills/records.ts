import { sql } from 'kysely';
import type { SkillUse } from '#shared/contract/skills.ts';
import { type Database, sqlFor } from '../store/database.ts';

export interface Mark {
  enabled: boolean;
  pinned: boolean;
}

type How = SkillUse['how'];

const MAX_USES_SHOWN = 500;

/** What a person chose for skills, and who used them, by the ids of skills. */
export class Records {
  readonly #db: Database;
  readonly #now: () => number;
  #marks: Map<string, Mark> | null = null;
  #uses: Map<string, { uses: number; lastUsedAt: number }> | null = null;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Undefined where the person never chose. */
  mark(id: string): Mark | undefined {
    this.#marks ??= new Map(this.#db.all(sqlFor.selectFrom('skill_marks').selectAll()).map((row) => [row.skill_id, { enabled: row.enabled === 1, pinned: row.pinned === 1 }]));
    return this.#marks.get(id);
  }

  setMark(id: string, { enabled, pinned }: Mark): void {
    const values = { enabled: Number(enabled), pinned: Number(pinned) };
    this.#db.run(sqlFor.insertInto('skill_marks').values({ skill_id: id, ...values }).onConflict((c) => c.column('skill_id').doUpdateSet(values)));
    this.#marks = null;
  }

  /** Trajectories that viewed or ran a skill. */
  uses(id: string): { uses: number; lastUsedAt: number | null } {
    this.#uses ??= new Map(
      this.#db
        .all(
          sqlFor
            .selectFrom('skill_uses')
            .select(['skill', sql<number>`count(distinct trajectory_id)`.as('uses'), sql<number>`max(at)`.as('lastUsedAt')])
            .where('how', '<>', 'manage')
            .groupBy('skill'),
        )
        .map((row) => [row.skill, row]),
    );
    return this.#uses.get(id) ?? { uses: 0, lastUsedAt: null };
  }

  used(id: string, trajectoryId: string, how: How): void {
    const at = this.#now();
    this.#db.run(sqlFor.insertInto('skill_uses').values({ skill: id, trajectory_id: trajectoryId, how, at }).onConflict((c) => c.columns(['skill', 'trajectory_id', 'how']).doUpdateSet({ count: sql`count + 1`, at })));
    this.#uses = null;
  }

  /** Newest first; trajectories that are gone are left out. */
  usage(id: string): { items: SkillUse[]; outcomes: Record<string, number> } {
    const rows = this.#db.all(
      sqlFor
        .selectFrom('skill_uses')
        .innerJoin('trajectories', 'trajectories.id', 'skill_uses.trajectory_id')
        .select(['trajectory_id', 'title', 'kind', 'how', 'count', 'at', 'outcome'])
        .where('skill', '=', id)
        .where('deleted_at', 'is', null)
        .orderBy('at', 'desc'),
    );
    const outcomes: Record<string, number> = {};
    for (const [trajectory, outcome] of new Map(rows.map((row) => [row.trajectory_id, row.outcome]))) if (trajectory) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const items = rows.slice(0, MAX_USES_SHOWN).map((row) => ({ trajectoryId: row.trajectory_id, title: row.title, kind: row.kind, how: row.how, count: row.count, at: row.at, outcome: row.outcome }) as SkillUse);
    return { items, outcomes };
  }

  /** Ids are read anew: skills were renamed. */
  forget(): void {
    this.#marks = null;
    this.#uses = null;
  }
}
