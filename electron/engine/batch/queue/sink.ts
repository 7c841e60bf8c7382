import type { PromptState } from '#shared/contract/runs.ts';
import { addUsage, type Message } from '#shared/trajectory.ts';
import type { SpendLedger } from '../../model/spend.ts';
import type { Database } from '../../store/database.ts';
import { sqlFor } from '../../store/database.ts';
import type { LiveHub } from '../../trajectories/live.ts';
import { TrajectoryRecorder } from '../../trajectories/record.ts';
import { cut } from '../dataset.ts';
import { type RunStore, usageOf } from '../run-store.ts';
import { addReward } from '../totals.ts';
import type { RunTally } from './tally.ts';
import type { Lease, RolloutActivity, RolloutHeader, RolloutSink } from './types.ts';

const PROMPT_SHOWN_CHARS = 300;

export interface SinkDeps {
  db: Database;
  store: RunStore;
  hub: LiveHub;
  spend: SpendLedger;
  tally: RunTally;
  now: () => number;
  overBudget: () => string | null;
}

/** Where a rollout stood before this attempt. */
export interface Before {
  state: PromptState;
  cause: string | null;
}

/** How a sink writes. Both throw LeaseLostError, or QueueUnavailableError for what the store throws. */
export interface SinkGuards {
  now: <T>(work: () => T) => T;
  /** Together with what others write at this moment. */
  soon: <T>(work: () => T) => Promise<T>;
}

/** The engine's side of one attempt: its trajectory in the store, those who watch, what it spends. */
export class StoreSink implements RolloutSink {
  readonly #deps: SinkDeps;
  readonly #lease: Lease;
  readonly #before: Before;
  readonly #guard: SinkGuards;
  #recorder: TrajectoryRecorder | null = null;

  constructor(deps: SinkDeps, lease: Lease, before: Before, guard: SinkGuards) {
    this.#deps = deps;
    this.#lease = lease;
    this.#before = before;
    this.#guard = guard;
  }

  /** Null before the attempt has begun. */
  get recorder(): TrajectoryRecorder | null {
    return this.#recorder;
  }

  async begin(header: RolloutHeader): Promise<{ trajectoryId: string }> {
    const { tally, now } = this.#deps;
    const { task } = this.#lease;
    const recorder = this.#guard.now(() => this.#begin(header));
    this.#recorder = recorder;
    tally.began({ index: task.index, prompt: cut(task.prompt, PROMPT_SHOWN_CHARS), trajectoryId: recorder.id, turn: 0, activity: 'starting', startedAt: now() });
    return Promise.resolve({ trajectoryId: recorder.id });
  }

  async message(message: Message): Promise<void> {
    const recorder = this.#begun();
    recorder.announce(message, await this.#guard.soon(() => recorder.store(message)));
  }

  async spend({ purpose, ...call }: Parameters<RolloutSink['spend']>[0]): Promise<void> {
    const { spend } = this.#deps;
    const { n } = this.#begun();
    await this.#guard.soon(() => spend.record({ ...call, purpose: purpose ?? 'batch', trajectoryN: n, runId: this.#lease.task.runId }));
  }

  activity(activity: RolloutActivity): void {
    const { tally } = this.#deps;
    const { index } = this.#lease.task;
    const recorder = this.#recorder;
    if (!recorder) return;
    switch (activity.type) {
      case 'turn':
        tally.doing(index, { turn: activity.turn, activity: 'waiting for the model' });
        break;
      case 'activity':
        tally.doing(index, { activity: activity.text });
        break;
      case 'delta':
        recorder.delta(activity.channel, activity.text);
        break;
      case 'discard_deltas':
        recorder.discardDeltas();
        break;
      case 'tool_start':
        recorder.toolStart(activity.callId, activity.name, activity.summary);
        break;
      case 'tool_output':
        recorder.toolOutput(activity.callId, activity.text);
        break;
    }
  }

  overBudget(): string | null {
    return this.#deps.overBudget();
  }

  #begun(): TrajectoryRecorder {
    if (!this.#recorder) throw new Error('This attempt has not begun');
    return this.#recorder;
  }

  /** In one transaction: an earlier attempt's trajectory goes (its tokens stay counted), the new one begins, the rollout is running. */
  #begin(header: RolloutHeader): TrajectoryRecorder {
    const { db, store, hub, tally, now } = this.#deps;
    const { id: lease, until, task } = this.#lease;
    let recorder: TrajectoryRecorder | null = null;
    const commit = (): void => tally.commit((totals) => {
      const old = db.get(
        sqlFor
          .selectFrom('trajectories')
          .select(['n', 'reward', 'prompt_tokens', 'completion_tokens', 'reasoning_tokens', 'cached_tokens'])
          .where('run_id', '=', task.runId)
          .where('prompt_index', '=', task.promptIndex)
          .where('rollout', '=', task.rollout),
      );
      if (old) {
        db.run(sqlFor.deleteFrom('trajectories').where('n', '=', old.n));
        totals.lost = addUsage(totals.lost, usageOf(old));
        addReward(totals, old.reward, -1);
      }
      const { model, provider, scripted, systemPrompt, toolsets, tools } = header;
      recorder = TrajectoryRecorder.begin(db, hub, now, { kind: 'batch', prompt: task.prompt, runId: task.runId, promptIndex: task.promptIndex, rollout: task.rollout, model, provider, scripted, systemPrompt, toolsets, tools });
      const lost = old ?? { prompt_tokens: 0, completion_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };
      store.prompts.begin(task.runId, task.index, { toolsets, trajectoryId: recorder.id, lease, until, lost });
      return [{ index: task.index, from: this.#before, to: { state: 'running', cause: null } }];
    });
    try {
      commit();
    } catch (error) {
      if (recorder !== null) hub.drop((recorder as TrajectoryRecorder).id);
      throw error;
    }
    return recorder!;
  }
}
