import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { type RunSpec, runSpecSchema, type RunState, type RunSummary } from '#shared/contract/runs.ts';
import type { ToolStat, Usage } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';
import { recoverTrajectories } from '../trajectories/record.ts';
import { type KeptPrompt, PromptTable } from './queue/prompts.ts';
import { addAttempt, emptyTotals, parseTotals, type Totals } from './totals.ts';

const OPEN_STATES: readonly RunState[] = ['running', 'pausing'];
const AGAIN = 'It was interrupted and will be run again.';
/** As it was stored. The rules for new names may have changed since. */
const storedSpec = runSpecSchema.extend({ runName: z.string() });

export interface RunRecord {
  id: string;
  name: string;
  state: RunState;
  message: string | null;
  spec: RunSpec;
  scripted: boolean;
  /** The run's own folder. */
  outputDir: string;
  datasetSha256: string;
  /** Rollouts: rows of the dataset, also removed ones, times `spec.rollouts`. */
  total: number;
  elapsedMs: number;
  costUsd: number;
  changes: RunSummary['changes'];
  createdAt: number;
  endedAt: number | null;
}

export interface NewRun {
  spec: RunSpec;
  scripted: boolean;
  outputDir: string;
  datasetSha256: string;
  total: number;
}

/** The table `runs`, and by `prompts` its rollouts: what is in them is what happened; the output files only repeat it. */
export class RunStore {
  readonly prompts: PromptTable;
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    this.prompts = new PromptTable(db, now);
  }

  /** Inserts a run in state `running`; its rollouts follow by `prompts.add`. The name must be free. */
  create(run: NewRun): RunRecord {
    const id = randomUUID();
    this.#db.run(
      sqlFor.insertInto('runs').values({
        id,
        name: run.spec.runName,
        state: 'running',
        spec: JSON.stringify(run.spec),
        scripted: run.scripted ? 1 : 0,
        output_dir: run.outputDir,
        dataset_sha256: run.datasetSha256,
        total: run.total,
        totals: JSON.stringify({ ...emptyTotals(), counts: { pending: run.total } }),
        created_at: this.#now(),
      }),
    );
    return this.get(id)!;
  }

  get(id: string): RunRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('runs').selectAll().where('id', '=', id));
    return row && toRecord(row);
  }

  costUsd(id: string): number {
    return this.#db.get(sqlFor.selectFrom('runs').select('cost_usd').where('id', '=', id))?.cost_usd ?? 0;
  }

  findByName(name: string): RunRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('runs').selectAll().where('name', '=', name));
    return row && toRecord(row);
  }

  /** Newest first. */
  list(): RunRecord[] {
    return this.#db.all(sqlFor.selectFrom('runs').selectAll().orderBy('created_at', 'desc').orderBy('id')).map(toRecord);
  }

  names(): Set<string> {
    return new Set(this.#db.all(sqlFor.selectFrom('runs').select('name')).map((r) => r.name));
  }

  setState(id: string, state: RunState, message: string | null): void {
    const ended = OPEN_STATES.includes(state) ? null : this.#now();
    this.#db.run(sqlFor.updateTable('runs').set({ state, message, ended_at: ended }).where('id', '=', id));
  }

  setSpec(id: string, spec: RunSpec): void {
    this.#db.run(sqlFor.updateTable('runs').set({ spec: JSON.stringify(spec) }).where('id', '=', id));
  }

  /** Notes how long it has run over all passes. */
  setElapsed(id: string, elapsedMs: number): void {
    this.#db.run(sqlFor.updateTable('runs').set({ elapsed_ms: Math.round(elapsedMs) }).where('id', '=', id));
  }

  /** JSON of Totals; empty when none were stored. */
  storedTotals(id: string): string {
    return this.#db.getSql<{ totals: string }>('SELECT totals FROM runs WHERE id = ?', [id])?.totals ?? '';
  }

  /** @param totals JSON of Totals */
  setTotals(id: string, totals: string): void {
    this.#db.runSql('UPDATE runs SET totals = ? WHERE id = ?', [totals, id]);
  }

  /** Another state of the dataset, and what that changed. */
  setDataset(id: string, to: { sha256: string; total: number; changes: NonNullable<RunSummary['changes']> | null }): void {
    this.#db.run(
      sqlFor
        .updateTable('runs')
        .set({ dataset_sha256: to.sha256, total: to.total, ...(to.changes ? { changes: JSON.stringify(to.changes) } : {}) })
        .where('id', '=', id),
    );
  }

  /** Removes a run with its prompts and trajectories. Returns how many trajectories that were. */
  remove(id: string): number {
    return this.#db.transaction(() => {
      const { changes } = this.#db.run(sqlFor.deleteFrom('trajectories').where('run_id', '=', id));
      this.#db.run(sqlFor.deleteFrom('runs').where('id', '=', id));
      return changes;
    });
  }

  /** The first step of removing in pieces: a run without its prompts goes at the next start if the rest does not happen. */
  beginRemove(id: string): void {
    this.#db.transaction(() => {
      this.#db.run(sqlFor.updateTable('runs').set({ state: 'running' }).where('id', '=', id));
      this.#db.run(sqlFor.deleteFrom('prompts').where('run_id', '=', id));
    });
  }

  /** Removes up to `limit` trajectories of a run; returns how many. */
  removeTrajectories(id: string, limit: number): number {
    const some = sqlFor.selectFrom('trajectories').select('n').where('run_id', '=', id).limit(limit);
    return this.#db.run(sqlFor.deleteFrom('trajectories').where('n', 'in', some)).changes;
  }

  /** Completed and partial rollouts with `from` ≤ index < `to`, by index. */
  kept(id: string, from: number, to: number): KeptPrompt[] {
    return this.prompts.kept(id, from, to);
  }

  /** Sums as noted at the last progress; counted when there are none. */
  totals(id: string): Totals {
    const stored = this.storedTotals(id);
    return (stored === '' ? null : parseTotals(stored)) ?? this.computeTotals(id);
  }

  /** Counts the sums of a run anew and notes them: after dispositions or rewards were changed in another way than by its pass. */
  recount(id: string): Totals {
    return this.#db.transaction(() => {
      const totals = this.computeTotals(id);
      this.setTotals(id, JSON.stringify(totals));
      return totals;
    });
  }

  /** Makes failed or discarded rollouts pending again. */
  again(id: string, what: 'failed' | 'discarded', indices?: readonly number[]): void {
    this.#db.transaction(() => {
      this.prompts.again(id, what, indices);
      this.recountStates(id);
    });
  }

  /** Counts rollouts by state, cause and removal anew and notes that. Cheap: it reads indexes only. */
  recountStates(id: string): void {
    this.setTotals(id, JSON.stringify(this.#counted(id, this.totals(id))));
  }

  /** Sums over the rollouts and trajectories as they are stored. */
  computeTotals(id: string): Totals {
    const totals = emptyTotals();
    const query = sqlFor
      .selectFrom('trajectories as t')
      .innerJoin('prompts as p', 'p.trajectory_id', 't.id')
      .select(['t.prompt_tokens', 't.completion_tokens', 't.reasoning_tokens', 't.cached_tokens', 't.turns', 't.turns_with_reasoning', 't.tool_stats', 't.reward', 'p.state'])
      .where('p.run_id', '=', id)
      .where('t.state', '=', 'ended');
    for (const r of this.#db.iterate(query)) {
      const kept = r.state === 'completed' || r.state === 'partial';
      addAttempt(totals, {
        usage: usageOf(r),
        kept: kept ? { turns: r.turns, turnsWithReasoning: r.turns_with_reasoning, toolStats: JSON.parse(r.tool_stats) as Record<string, ToolStat> } : null,
        reward: r.reward,
      });
    }
    const lost = this.#db.get(
      sqlFor
        .selectFrom('prompts')
        .select([
          sql<number>`coalesce(sum(lost_prompt_tokens), 0)`.as('prompt_tokens'),
          sql<number>`coalesce(sum(lost_completion_tokens), 0)`.as('completion_tokens'),
          sql<number>`coalesce(sum(lost_reasoning_tokens), 0)`.as('reasoning_tokens'),
          sql<number>`coalesce(sum(lost_cached_tokens), 0)`.as('cached_tokens'),
        ])
        .where('run_id', '=', id),
    );
    if (lost) {
      totals.lost = usageOf(lost);
      addAttempt(totals, { usage: totals.lost, kept: null, reward: null });
    }
    return this.#counted(id, totals);
  }

  /**
   * What a pass that could not store its end left running is pending again; its tokens stay counted. Nobody may be working on the run.
   * Call it (or `interruptOpenRuns`) before a pass. Returns whether there was anything.
   */
  release(id: string): boolean {
    if (!this.prompts.counts(id).running) return false;
    this.#db.transaction(() => {
      recoverTrajectories(this.#db, id);
      this.#release(id);
    });
    return true;
  }

  /**
   * After a crash, or when the program closes: open runs become `interrupted`, their running rollouts pending again. A run whose
   * rollouts were not all stored yet had not begun, and goes. Trajectories must have been recovered. Returns the runs that were interrupted.
   */
  interruptOpenRuns(message: string): RunRecord[] {
    return this.#db.transaction(() => {
      const interrupted: RunRecord[] = [];
      for (const row of this.#db.all(sqlFor.selectFrom('runs').selectAll())) {
        // an earlier version stored fewer sums
        if (row.totals === null || parseTotals(row.totals) === null) this.recount(row.id);
        if (!OPEN_STATES.includes(row.state as RunState)) {
          // an edited dataset was being taken in
          this.prompts.trim(row.id, row.total);
          continue;
        }
        if (this.prompts.size(row.id) < row.total) {
          this.remove(row.id);
          continue;
        }
        this.#release(row.id);
        this.setState(row.id, 'interrupted', message);
        interrupted.push(toRecord(row));
      }
      return interrupted;
    });
  }

  #release(id: string): void {
    const totals = this.totals(id);
    for (const trajectoryId of this.prompts.releaseRunning(id, AGAIN)) {
      const t = this.#db.get(sqlFor.selectFrom('trajectories').select(['prompt_tokens', 'completion_tokens', 'reasoning_tokens', 'cached_tokens']).where('id', '=', trajectoryId));
      if (t) addAttempt(totals, { usage: usageOf(t), kept: null, reward: null });
    }
    this.setTotals(id, JSON.stringify(this.#counted(id, totals)));
  }

  #counted(id: string, totals: Totals): Totals {
    totals.counts = this.prompts.counts(id);
    totals.causes = Object.assign(Object.create(null) as Record<string, number>, Object.fromEntries(this.prompts.causes(id).map((c) => [c.cause, c.count])));
    totals.removed = this.prompts.removed(id);
    return totals;
  }
}

export function usageOf(r: { prompt_tokens: number; completion_tokens: number; reasoning_tokens: number; cached_tokens: number }): Usage {
  return { promptTokens: r.prompt_tokens, completionTokens: r.completion_tokens, reasoningTokens: r.reasoning_tokens, cachedTokens: r.cached_tokens };
}

function toRecord(r: Selectable<Tables['runs']>): RunRecord {
  return {
    id: r.id,
    name: r.name,
    state: r.state as RunState,
    message: r.message,
    spec: readSpec(r.spec),
    scripted: r.scripted === 1,
    outputDir: r.output_dir,
    datasetSha256: r.dataset_sha256,
    total: r.total,
    elapsedMs: r.elapsed_ms,
    costUsd: r.cost_usd,
    changes: r.changes === null ? null : (JSON.parse(r.changes) as RunSummary['changes']),
    createdAt: r.created_at,
    endedAt: r.ended_at,
  };
}

/** With today's defaults for what an earlier version did not know. */
function readSpec(json: string): RunSpec {
  const stored = JSON.parse(json) as Record<string, unknown>;
  const parsed = storedSpec.safeParse(stored);
  return parsed.success ? parsed.data : { ...storedSpec.parse({ datasetFile: '/', runName: 'run' }), ...stored };
}
