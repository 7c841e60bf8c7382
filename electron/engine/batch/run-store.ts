import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { PromptItem, PromptState, RunSpec, RunState } from '#shared/contract/runs.ts';
import type { ToolStat, Usage } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../store/database.ts';
import type { Tables } from '../store/schema.ts';
import type { TrajectoryRecorder } from '../trajectories/record.ts';
import type { DatasetRow } from './dataset.ts';
import { addAttempt, emptyTotals, type Totals } from './totals.ts';

const PROMPT_SHOWN_CHARS = 2_000;
const OPEN_STATES: readonly RunState[] = ['running', 'pausing'];

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
  total: number;
  elapsedMs: number;
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

export interface PromptRecord {
  prompt: string;
  /** Sampled on the first attempt and kept; null before. */
  toolsets: string[] | null;
}

/** A prompt whose trajectory belongs in the files. */
export interface KeptPrompt {
  index: number;
  trajectoryId: string;
}

/** The tables `runs` and `prompts`: what is in them is what happened; the output files only repeat it. */
export class RunStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Inserts a run in state `running`; its prompts follow by `addPrompts`. The name must be free. */
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
        totals: JSON.stringify(emptyTotals()),
        created_at: this.#now(),
      }),
    );
    return this.get(id)!;
  }

  /** @param occurrence which of several equal rows this one is, from 0 */
  addPrompts(runId: string, rows: readonly (DatasetRow & { occurrence: number })[]): void {
    this.#db.transaction(() => {
      for (const r of rows) {
        this.#db.run(
          sqlFor.insertInto('prompts').values({
            run_id: runId,
            idx: r.index,
            prompt: r.prompt,
            row: JSON.stringify(r.row),
            row_key: `${r.hash}-${r.occurrence}`,
            updated_at: this.#now(),
          }),
        );
      }
    });
  }

  get(id: string): RunRecord | undefined {
    const row = this.#db.get(sqlFor.selectFrom('runs').selectAll().where('id', '=', id));
    return row && toRecord(row);
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

  /** Notes how long it has run over all passes, and its sums. */
  setProgress(id: string, elapsedMs: number, totals: Totals): void {
    this.#db.run(sqlFor.updateTable('runs').set({ elapsed_ms: Math.round(elapsedMs), totals: JSON.stringify(totals) }).where('id', '=', id));
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

  /** State of every prompt, by index. */
  states(id: string): PromptState[] {
    return this.#db.all(sqlFor.selectFrom('prompts').select('state').where('run_id', '=', id).orderBy('idx')).map((r) => r.state as PromptState);
  }

  counts(id: string): Partial<Record<PromptState, number>> {
    const rows = this.#db.all(
      sqlFor.selectFrom('prompts').select(['state', sql<number>`count(*)`.as('count')]).where('run_id', '=', id).groupBy('state'),
    );
    return Object.fromEntries(rows.map((r) => [r.state, r.count]));
  }

  prompt(id: string, index: number): PromptRecord {
    const row = this.#db.get(sqlFor.selectFrom('prompts').select(['prompt', 'toolsets']).where('run_id', '=', id).where('idx', '=', index));
    if (!row) throw new Error(`Prompt ${index} of run ${id} is not in the store`);
    const toolsets = JSON.parse(row.toolsets) as string[];
    return { prompt: row.prompt, toolsets: toolsets.length > 0 ? toolsets : null };
  }

  /** One page by index; long prompts are cut for display. */
  prompts(id: string, after: number, limit: number, states?: readonly PromptState[]): { items: PromptItem[]; more: boolean } {
    const rows = this.#db.all(
      sqlFor
        .selectFrom('prompts')
        .select(['idx', 'state', 'reason', 'trajectory_id', sql<string>`substr(prompt, 1, ${PROMPT_SHOWN_CHARS})`.as('prompt')])
        .where('run_id', '=', id)
        .where('idx', '>', after)
        .$if(states !== undefined, (q) => q.where('state', 'in', [...states!]))
        .orderBy('idx')
        .limit(limit + 1),
    );
    const items = rows.slice(0, limit).map((r) => ({ index: r.idx, prompt: r.prompt, state: r.state as PromptState, reason: r.reason, trajectoryId: r.trajectory_id }));
    return { items, more: rows.length > limit };
  }

  /**
   * In one transaction: an earlier attempt's trajectory goes (its tokens stay counted), `begin` makes the new one, the prompt is
   * `running`. So a prompt never has two.
   */
  beginAttempt(id: string, index: number, toolsets: readonly string[], begin: () => TrajectoryRecorder): { recorder: TrajectoryRecorder; lost: Usage | null } {
    return this.#db.transaction(() => {
      const old = this.#db.get(
        sqlFor
          .selectFrom('trajectories')
          .select(['n', 'prompt_tokens', 'completion_tokens', 'reasoning_tokens', 'cached_tokens'])
          .where('run_id', '=', id)
          .where('prompt_index', '=', index),
      );
      if (old) this.#db.run(sqlFor.deleteFrom('trajectories').where('n', '=', old.n));
      const recorder = begin();
      this.#db.run(
        sqlFor
          .updateTable('prompts')
          .set((eb) => ({
            state: 'running',
            reason: null,
            toolsets: JSON.stringify(toolsets),
            trajectory_id: recorder.id,
            attempts: eb('attempts', '+', 1),
            lost_prompt_tokens: eb('lost_prompt_tokens', '+', old?.prompt_tokens ?? 0),
            lost_completion_tokens: eb('lost_completion_tokens', '+', old?.completion_tokens ?? 0),
            lost_reasoning_tokens: eb('lost_reasoning_tokens', '+', old?.reasoning_tokens ?? 0),
            lost_cached_tokens: eb('lost_cached_tokens', '+', old?.cached_tokens ?? 0),
            updated_at: this.#now(),
          }))
          .where('run_id', '=', id)
          .where('idx', '=', index),
      );
      return { recorder, lost: old ? usageOf(old) : null };
    });
  }

  /** In one transaction: `end` ends the trajectory, the prompt gets its disposition. */
  endAttempt(id: string, index: number, state: PromptState, reason: string | null, end: () => void): void {
    this.#db.transaction(() => {
      end();
      this.setPrompt(id, index, state, reason);
    });
  }

  setPrompt(id: string, index: number, state: PromptState, reason: string | null): void {
    this.#db.run(sqlFor.updateTable('prompts').set({ state, reason, updated_at: this.#now() }).where('run_id', '=', id).where('idx', '=', index));
  }

  /** Completed and partial prompts with `from` ≤ index < `to`, by index. */
  kept(id: string, from: number, to: number): KeptPrompt[] {
    return this.#db
      .all(
        sqlFor
          .selectFrom('prompts')
          .select(['idx', 'trajectory_id'])
          .where('run_id', '=', id)
          .where('idx', '>=', from)
          .where('idx', '<', to)
          .where('state', 'in', ['completed', 'partial'])
          .orderBy('idx'),
      )
      .map((r) => ({ index: r.idx, trajectoryId: r.trajectory_id ?? '' }));
  }

  /** Sums as noted at the last progress; computed when there are none. */
  totals(id: string): Totals {
    const row = this.#db.get(sqlFor.selectFrom('runs').select('totals').where('id', '=', id));
    return row?.totals ? (JSON.parse(row.totals) as Totals) : this.computeTotals(id);
  }

  /** Sums over the trajectories as they are stored. */
  computeTotals(id: string): Totals {
    const totals = emptyTotals();
    const rows = this.#db.all(
      sqlFor
        .selectFrom('trajectories as t')
        .innerJoin('prompts as p', (join) => join.onRef('p.run_id', '=', 't.run_id').onRef('p.idx', '=', 't.prompt_index'))
        .select(['t.prompt_tokens', 't.completion_tokens', 't.reasoning_tokens', 't.cached_tokens', 't.turns', 't.turns_with_reasoning', 't.tool_stats', 'p.state'])
        .where('t.run_id', '=', id)
        .where('t.state', '=', 'ended'),
    );
    for (const r of rows) {
      const kept = r.state === 'completed' || r.state === 'partial';
      addAttempt(totals, {
        usage: usageOf(r),
        kept: kept ? { turns: r.turns, turnsWithReasoning: r.turns_with_reasoning, toolStats: JSON.parse(r.tool_stats) as Record<string, ToolStat> } : null,
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
      addAttempt(totals, { usage: totals.lost, kept: null });
    }
    return totals;
  }

  /**
   * After a crash, or when the program closes: open runs become `interrupted`, their running prompts pending again. A run whose
   * prompts were not all stored yet had not begun, and goes. Returns the runs that were interrupted.
   */
  interruptOpenRuns(message: string): RunRecord[] {
    return this.#db.transaction(() => {
      const interrupted: RunRecord[] = [];
      for (const row of this.#db.all(sqlFor.selectFrom('runs').selectAll().where('state', 'in', [...OPEN_STATES]))) {
        const stored = this.#db.get(sqlFor.selectFrom('prompts').select(sql<number>`count(*)`.as('count')).where('run_id', '=', row.id))?.count ?? 0;
        if (stored < row.total) {
          this.remove(row.id);
          continue;
        }
        this.#db.run(
          sqlFor
            .updateTable('prompts')
            .set({ state: 'pending', reason: 'It was interrupted and will be run again.', updated_at: this.#now() })
            .where('run_id', '=', row.id)
            .where('state', '=', 'running'),
        );
        this.#db.run(sqlFor.updateTable('runs').set({ totals: JSON.stringify(this.computeTotals(row.id)) }).where('id', '=', row.id));
        this.setState(row.id, 'interrupted', message);
        interrupted.push(toRecord(row));
      }
      return interrupted;
    });
  }
}

function usageOf(r: { prompt_tokens: number; completion_tokens: number; reasoning_tokens: number; cached_tokens: number }): Usage {
  return { promptTokens: r.prompt_tokens, completionTokens: r.completion_tokens, reasoningTokens: r.reasoning_tokens, cachedTokens: r.cached_tokens };
}

function toRecord(r: Selectable<Tables['runs']>): RunRecord {
  return {
    id: r.id,
    name: r.name,
    state: r.state as RunState,
    message: r.message,
    spec: JSON.parse(r.spec) as RunSpec,
    scripted: r.scripted === 1,
    outputDir: r.output_dir,
    datasetSha256: r.dataset_sha256,
    total: r.total,
    elapsedMs: r.elapsed_ms,
    createdAt: r.created_at,
    endedAt: r.ended_at,
  };
}
