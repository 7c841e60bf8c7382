import { join } from 'node:path';
import type { AgentSpec } from '../../agent/types.ts';
import type { ModelChoice } from '../../model/service.ts';
import type { SpendLedger } from '../../model/spend.ts';
import type { ChatModel } from '../../model/types.ts';
import type { Logger } from '../../store/types.ts';
import { attempt, type AttemptDeps, isToRepeat } from './attempt.ts';
import type { RunRecord, TrialRecord, TrialStore } from './store.ts';

export interface RunnerDeps extends AttemptDeps {
  spend: Pick<SpendLedger, 'record' | 'overBudget'>;
  createModel: (choice: ModelChoice) => Promise<ChatModel>;
  contextLength: (provider: string, model: string) => Promise<number | null>;
  compression: () => AgentSpec['compression'];
  log: Logger;
}

/** Runs the attempts of a trial that have not ended, so many at a time, until all have, it is stopped, or no further one can succeed. */
export class TrialRun {
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  readonly #trial: TrialRecord;
  readonly #store: TrialStore;
  readonly #deps: RunnerDeps;
  readonly #folder: string;
  readonly #changed: () => void;
  /** Why no further attempt is begun, a sentence. */
  #halt: string | null = null;
  #cancelled = false;

  /** @param folder of this trial: the copy of the skill and the workspaces lie in it */
  constructor(trial: TrialRecord, store: TrialStore, deps: RunnerDeps, folder: string, changed: () => void) {
    this.#trial = trial;
    this.#store = store;
    this.#deps = deps;
    this.#folder = folder;
    this.#changed = changed;
    this.ended = this.#run();
  }

  /** Stops it; resolves when every attempt has ended. `interrupted`: the engine closes. */
  async stop(how: 'cancelled' | 'interrupted'): Promise<void> {
    this.#cancelled ||= how === 'cancelled';
    this.#abort.abort(new Error('The trial was stopped'));
    await this.ended;
  }

  async #run(): Promise<void> {
    const { id, spec } = this.#trial;
    let working: Promise<void>[] = [];
    try {
      const model = await this.#deps.createModel({ provider: spec.provider, model: spec.model });
      const contextLength = await this.#deps.contextLength(model.endpoint.provider, model.endpoint.model).catch(() => null);
      const waiting = this.#store.runs(id).filter((run) => run.state === 'pending');
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined && this.#halt === null && !this.#abort.signal.aborted; next = waiting.shift()) await this.#one(next, model, contextLength);
      };
      working = Array.from({ length: spec.concurrency }, work);
      await Promise.all(working);
      this.#close();
    } catch (error) {
      // the other attempts must have ended before the trial has
      this.#abort.abort();
      await Promise.allSettled(working);
      this.#deps.log.error(`The trial of the skill ${this.#trial.name} failed`, error);
      this.#store.setState(id, 'failed', error instanceof Error ? error.message : String(error));
    }
    this.#changed();
  }

  #close(): void {
    const { id } = this.#trial;
    const left = this.#store.runs(id).some((run) => run.state !== 'ended');
    if (!left) this.#store.setState(id, 'done', null);
    else if (this.#halt !== null) this.#store.setState(id, 'paused', this.#halt);
    else if (this.#cancelled) this.#store.setState(id, 'cancelled', null);
    else this.#store.setState(id, 'interrupted', 'Talaria was closed while this trial ran. Go on with it to run what is missing.');
  }

  async #one(run: RunRecord, model: ChatModel, contextLength: number | null): Promise<void> {
    const { id, spec, name } = this.#trial;
    const prompt = spec.prompts[run.index];
    const over = this.#overBudget();
    if (prompt === undefined) return;
    if (over !== null) return void (this.#halt = over);
    const compression = this.#deps.compression();
    const outcome = await attempt(
      {
        spec, name, prompt, arm: run.arm, model, contextLength,
        ...(compression ? { compression } : {}),
        tried: { id: this.#trial.skill, copy: join(this.#folder, 'skill') },
        root: join(this.#folder, `${run.index}-${run.arm}`),
        overBudget: () => this.#overBudget(),
        begun: (trajectoryId) => this.#store.setRun(id, run, { state: 'running', trajectoryId }),
        progress: this.#changed,
      },
      this.#deps,
      this.#abort.signal,
    );
    const again = isToRepeat(outcome.result);
    this.#store.setRun(id, run, { state: again ? 'pending' : 'ended' });
    if (again && !this.#abort.signal.aborted) this.#halt ??= outcome.result.error ?? 'No further attempt can succeed.';
    this.#changed();
  }

  #overBudget(): string | null {
    const { id, spec, lostUsd } = this.#trial;
    const spent = lostUsd + this.#store.spentUsd(id);
    if (spec.budgetUsd !== null && spent >= spec.budgetUsd) return `The budget of this trial is used up: $${spent.toFixed(2)} of $${spec.budgetUsd.toFixed(2)}. Go on with a larger one.`;
    return this.#deps.spend.overBudget({});
  }
}
