import { randomUUID } from 'node:crypto';
import { type Filter, parseFilters } from '#shared/filters.ts';
import { outcomeOf, ZERO_USAGE } from '#shared/trajectory.ts';
import type { Logger } from '../../store/types.ts';
import { sqlFor } from '../../store/database.ts';
import type { TrajectoryRecorder } from '../../trajectories/record.ts';
import { cut } from '../dataset.ts';
import { isStoreFailure } from '../errors.ts';
import { judgeRollout } from '../filters/judge.ts';
import { addScores } from '../../rewards/store.ts';
import type { RunRecord } from '../run-store.ts';
import { addAttempt } from '../totals.ts';
import { GroupCommit } from './group-commit.ts';
import { discarded, isKept, judge, type Verdict } from './judge.ts';
import type { PromptRow } from './prompts.ts';
import { type SinkDeps, StoreSink } from './sink.ts';
import { type Disposition, type Lease, LeaseLostError, QueueUnavailableError, type RolloutResult, type RolloutSink, type RolloutTask, type WorkQueue } from './types.ts';

/** A worker that gives no sign of life for so long has lost its rollout. */
export const LEASE_MS = 60_000;
const REASON_CHARS = 2_000;

export interface StoreQueueDeps extends SinkDeps {
  run: RunRecord;
  log: Logger;
  /** What an attempt becomes that was told to stop. */
  interruptedState: () => 'cancelled' | 'pending';
  /** A rollout has got its disposition; it is stored. */
  onSettled: (settled: Settled) => void;
}

export interface Settled {
  index: number;
  disposition: Disposition;
  result: RolloutResult;
}

interface Held {
  lease: Lease;
  sink: StoreSink;
  row: PromptRow;
}

/**
 * The work of one run, embedded: the table `prompts`, and for what is handed out this process, which is the only one that works on the
 * home. A rollout is `running` in the table when its attempt begins, so that one that was only claimed stays as it was if all ends here.
 */
export class StoreQueue implements WorkQueue {
  readonly #deps: StoreQueueDeps;
  readonly #filters: readonly Filter[];
  readonly #group: GroupCommit;
  /** By rollout, those that lapse first at the front. */
  readonly #held = new Map<number, Held>();

  constructor(deps: StoreQueueDeps) {
    this.#deps = deps;
    this.#filters = parseFilters(deps.run.spec.filters);
    this.#group = new GroupCommit(deps.db);
  }

  claim(): Promise<{ lease: Lease; sink: RolloutSink } | null> {
    return answer(() => {
      for (;;) {
        const index = this.#lapsed() ?? this.#deps.tally.take();
        if (index === null) return null;
        const held = this.#hold(index);
        if (held) return { lease: held.lease, sink: held.sink };
      }
    });
  }

  renew(lease: Lease): Promise<void> {
    return answer(() => {
      const { store, run, now } = this.#deps;
      const { index } = lease.task;
      const held = this.#holder(lease);
      const until = now() + LEASE_MS;
      if (held.sink.recorder) store.prompts.renew(run.id, index, lease.id, until);
      lease.until = until;
      this.#held.delete(index);
      this.#held.set(index, held);
    });
  }

  settle(lease: Lease, result: RolloutResult): Promise<Disposition> {
    return answer(() => this.#settle(this.#holder(lease), result));
  }

  #holder(lease: Lease): Held {
    const held = this.#held.get(lease.task.index);
    if (held?.lease.id !== lease.id) throw new LeaseLostError();
    return held;
  }

  /** A rollout whose worker has not been heard of in time. */
  #lapsed(): number | null {
    const [first] = this.#held.values();
    if (!first || first.lease.until > this.#deps.now()) return null;
    const { index } = first.lease.task;
    this.#held.delete(index);
    this.#deps.tally.ended(index);
    this.#deps.log.error(`The worker of rollout ${index} of run ${this.#deps.run.name} gave no sign of life; it goes to another one`);
    // its trajectory goes with the next attempt, which counts its tokens as lost
    if (first.sink.recorder) this.#settle(first, { ...NOTHING, exitReason: 'interrupted', error: 'Its worker gave no sign of life.', usage: first.sink.recorder.counters.usage });
    return index;
  }

  /** Leases a rollout; null when what is stored of it cannot be read: then only this one has failed. */
  #hold(index: number): Held | null {
    const { store, run, now, log } = this.#deps;
    const row = store.prompts.get(run.id, index);
    const lease: Lease = { id: randomUUID(), until: now() + LEASE_MS, task: taskOf(run, index, row) };
    const sink = new StoreSink(this.#deps, lease, row, {
      now: (work) => {
        this.#holder(lease);
        return guard(work);
      },
      soon: (work) =>
        this.#group
          .write(() => {
            this.#holder(lease);
            return work();
          })
          .catch((error: unknown) => {
            throw unavailable(error);
          }),
    });
    const held = { lease, sink, row };
    this.#held.set(index, held);
    try {
      lease.task.row = JSON.parse(row.row) as Record<string, unknown>;
      const toolsets = JSON.parse(row.toolsets) as string[];
      lease.task.toolsets = toolsets.length > 0 ? toolsets : null;
      return held;
    } catch (error) {
      log.error(`Prompt ${lease.task.promptIndex} of run ${run.name} failed unexpectedly`, error);
      const reason = cut(error instanceof Error ? (error.stack ?? error.message) : String(error), REASON_CHARS);
      this.#settle(held, { ...NOTHING, defect: { cause: 'defect', reason, retryable: true } });
      return null;
    }
  }

  /** Trajectory, scores, disposition and sums in one transaction; then everybody is told. */
  #settle({ lease, sink, row }: Held, result: RolloutResult): Disposition {
    const { tally, store, run, onSettled } = this.#deps;
    const { index } = lease.task;
    const { recorder } = sink;
    let verdict!: Verdict;
    tally.commit((totals) => {
      const end = this.#end(lease.task, recorder, result);
      verdict = end.verdict;
      if (!store.prompts.settle(run.id, index, verdict, recorder ? lease.id : undefined)) throw new LeaseLostError();
      if (recorder) {
        const { usage, turns, turnsWithReasoning, toolStats } = recorder.counters;
        addAttempt(totals, { usage: result.exitReason === null ? usage : result.usage, kept: isKept(verdict) ? { turns, turnsWithReasoning, toolStats } : null, reward: end.reward });
      }
      return [{ index, from: recorder ? { state: 'running', cause: null } : row, to: verdict }];
    });
    const { state, cause, reason, retryable } = verdict;
    this.#held.delete(index);
    tally.ended(index);
    recorder?.announceEnd();
    const disposition = { state, cause, reason, retryable, trajectoryId: recorder?.id ?? null };
    onSettled({ index, disposition, result });
    return disposition;
  }

  #end(task: RolloutTask, recorder: TrajectoryRecorder | null, result: RolloutResult): { verdict: Verdict; reward: number | null } {
    const { db, now, interruptedState } = this.#deps;
    const verdict = judge(result, interruptedState(), recorder?.counters.turns ?? 0);
    if (!recorder) return { verdict, reward: null };
    const { exitReason, error } = verdict.exit;
    recorder.end({ exitReason, error, ...(result.exitReason === null ? {} : { apiCalls: result.apiCalls, usage: result.usage }) });
    const reward = result.scores.length > 0 ? addScores(db, recorder.n, result.scores, now()) : null;
    const hit = isKept(verdict) ? judgeRollout(db, this.#filters, { runId: task.runId, index: task.index, rollouts: task.spec.rollouts }) : null;
    if (!hit) return { verdict, reward };
    const discardReason = hit.cause;
    db.run(sqlFor.updateTable('trajectories').set({ discard_reason: discardReason, outcome: outcomeOf({ state: 'ended', exitReason, discardReason }) }).where('n', '=', recorder.n));
    return { verdict: discarded(verdict, hit), reward };
  }
}

const NOTHING: RolloutResult = { exitReason: null, error: null, defect: null, modelError: null, overBudget: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE, scores: [] };

function taskOf(run: RunRecord, index: number, row: PromptRow): RolloutTask {
  const { rollouts } = run.spec;
  return {
    runId: run.id,
    runName: run.name,
    index,
    promptIndex: Math.floor(index / rollouts),
    rollout: index % rollouts,
    prompt: row.prompt,
    row: {},
    toolsets: null,
    attempt: row.attempts + 1,
    spec: run.spec,
  };
}

function answer<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(guard(work)));
}

/** What the store throws says that the queue is not available. */
function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(error: unknown): unknown {
  return isStoreFailure(error) ? new QueueUnavailableError(error) : error;
}
