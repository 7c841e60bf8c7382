import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { PromptItem, PromptState, RunEvent, RunSpec, RunSummary } from '#shared/contract/runs.ts';
import type { AgentSpec, Redaction } from '../agent/types.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { ChatModel } from '../model/types.ts';
import { removeWorkspaces } from '../sandbox/remove.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import { createRolloutScorer } from '../rewards/hook.ts';
import { availableToolsets } from '../tools/toolsets.ts';
import type { ToolServices } from '../tools/types.ts';
import type { LiveHub } from '../trajectories/live.ts';
import { checkSpec, type Drawable, resumable, usableDistributions } from './checks.ts';
import type { OwnDistributions } from './distribution.ts';
import { BatchError } from './errors.ts';
import { loadPrompts, surveyDataset, takeInChanges } from './load.ts';
import { ofNoRun, refuseInWorkspaces, refuseTakenFolder } from './output-folder.ts';
import { RunOutputs } from './outputs.ts';
import { type RunRecord, RunStore } from './run-store.ts';
import { Clearing, runRollout, type WorkerDeps } from './rollout.ts';
import { BatchPass, budgetSentence, type PassOutcome } from './runner.ts';
import { runSummary, stateCodes } from './summary.ts';
import { RunWatchers } from './watch.ts';
import { preparePass } from './worker/prepare.ts';

const REMOVE_CHUNK = 100;
/** Drawn seeds are below this: short enough to be typed. */
const SEEDS = 2 ** 32;

export interface BatchServiceDeps {
  db: Database;
  hub: LiveHub;
  spend: SpendLedger;
  now: () => number;
  log: Logger;
  /** The Talaria home; workspaces of rollouts are made in it. */
  home: string;
  resources: string;
  /** Holds the folders of runs that name no other. */
  defaultOutputDir: string;
  /** The model of a run. Throws an error with a code and a sentence when there is none. */
  createModel: (spec: RunSpec, options?: { apiKey?: string }) => Promise<ChatModel>;
  /** Of a model, tokens; null when it is not known. Never throws. */
  contextLength?: (provider: string, model: string) => Promise<number | null>;
  compression?: () => AgentSpec['compression'];
  /** In [0, 1); for drawing seeds. */
  random?: () => number;
  /** Takes known keys out of what tools answer. */
  redact?: Redaction;
  /** What tools of rollouts have of the engine at the moment; a `vision` in it says that `visionModel` has one. */
  toolServices?: () => ToolServices;
  /** Looks at pictures for rollouts; null when none is set up. */
  visionModel?: () => Promise<ChatModel | null>;
  /** `distributions:` of config.yaml. */
  distributions?: () => OwnDistributions;
}

/** A key that is used for one pass and stored nowhere. */
export interface PassKey {
  apiKey?: string;
}

export interface ResumeOptions extends PassKey {
  /** Limits that hold from now on; undefined takes one away. What makes a rollout what it is stays as it was, whatever stands here. */
  changes?: Partial<RunSpec>;
}

/**
 * Batch runs: start, watch, pause, resume, cancel, remove. What a run did is in the store; its files can be made from it at any time.
 * Expected failures are BatchErrors.
 */
export class BatchService {
  readonly #deps: BatchServiceDeps;
  readonly #store: RunStore;
  readonly #passes = new Map<string, BatchPass>();
  readonly #watchers = new RunWatchers((id) => this.#passes.get(id)?.state);
  /** Runs and names that are being started, resumed or removed. */
  readonly #busy = new Set<string>();
  /** Runs that are not whole yet, or no more. */
  readonly #hidden = new Set<string>();
  /** Ends of passes that the store could not take. */
  readonly #unstored = new Map<string, PassOutcome>();
  #cleanup: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: BatchServiceDeps) {
    this.#deps = deps;
    this.#store = new RunStore(deps.db, deps.now);
  }

  /** Call once after the home was acquired and trajectories were recovered: runs that a crash left open become `interrupted`. */
  recover(): void {
    const runs = this.#store.interruptOpenRuns('The engine was stopped while this run was going on. Resume goes on where it stopped.');
    for (const run of runs) this.#deps.log.info(`Run ${run.name} had been interrupted; it can be resumed.`);
    this.#cleanup = this.#removeWorkspaces(runs);
  }

  /** Newest first. */
  list(): RunSummary[] {
    return this.#store.list().filter((run) => !this.#hidden.has(run.id)).map((run) => this.#summary(this.#asItStands(run)));
  }

  get(id: string): RunSummary {
    return this.#summary(this.#run(id));
  }

  /**
   * Starts a new run; resolves when its first prompts are about to run.
   * @param prepare fills in what is known of its rollouts already; what it throws, and a crash before it is through, leaves nothing of the run
   * Throws `conflict` when the name or the folder is taken, `invalid` for a dataset, model or option that cannot be used.
   */
  async start(spec: RunSpec, key: PassKey = {}, prepare?: (run: RunRecord) => Promise<void>): Promise<{ id: string }> {
    return this.#alone(`name:${spec.runName.toLowerCase()}`, async () => {
      this.#refuseTakenName(spec.runName);
      checkSpec(spec, this.#drawable);
      const folder = join(spec.outputDir ?? this.#deps.defaultOutputDir, spec.runName);
      await refuseInWorkspaces(folder, join(this.#deps.home, 'workspaces'));
      await refuseTakenFolder(folder);
      const model = await this.#deps.createModel(spec, key);
      const dataset = await surveyDataset(spec);
      const total = Math.min(dataset.rows, spec.maxSamples ?? dataset.rows) * spec.rollouts;
      const seed = spec.seed ?? Math.floor((this.#deps.random ?? Math.random)() * SEEDS);
      const run = this.#store.create({ spec: { ...spec, seed, model: model.endpoint.model, provider: model.endpoint.provider }, scripted: model.scripted, outputDir: folder, datasetSha256: dataset.sha256, total: prepare ? total + 1 : total });
      this.#hidden.add(run.id);
      try {
        await loadPrompts(this.#store, { ...run, total });
        if (prepare) {
          await prepare({ ...run, total });
          this.#deps.db.transaction(() => {
            this.#store.setDataset(run.id, { sha256: dataset.sha256, total, changes: null });
            this.#store.recount(run.id);
          });
        }
        await this.#launch(this.#run(run.id), model);
      } catch (error) {
        this.#store.remove(run.id);
        throw ofNoRun(error);
      } finally {
        this.#hidden.delete(run.id);
      }
      return { id: run.id };
    });
  }

  /** Lets running prompts end and takes no new ones. Throws `conflict` when it is not running. */
  pause(id: string): RunSummary {
    const run = this.#run(id);
    const pass = this.#passes.get(id);
    if (!pass) throw new BatchError('conflict', `${run.name} is not running.`);
    pass.pause();
    return this.get(id);
  }

  /**
   * Runs what is pending, cancelled, or failed and worth another try, and brings the files in line with the store. What was edited in the
   * dataset is taken in first. Throws like `start`.
   */
  async resume(id: string, options: ResumeOptions = {}): Promise<RunSummary> {
    this.#run(id);
    if (this.#passes.get(id)?.unpause()) return this.get(id);
    await this.#alone(id, () => this.#resume(id, options));
    return this.get(id);
  }

  /**
   * Makes failed or discarded rollouts (all, or those of `indices`) pending again, whatever their cause, and runs them. While the run is
   * going on they join it. Throws like `start`.
   */
  async retry({ id, what, indices }: { id: string; what: 'failed' | 'discarded'; indices?: number[] | undefined }, options: ResumeOptions = {}): Promise<RunSummary> {
    this.#run(id);
    if (this.#passes.get(id)?.again(what, indices)) return this.get(id);
    await this.#alone(id, () => this.#resume(id, options, () => this.#store.again(id, what, indices)));
    return this.get(id);
  }

  async #resume(id: string, { apiKey, changes }: ResumeOptions, before?: () => void): Promise<void> {
    let run = this.#run(id);
    if (this.#passes.has(id)) throw new BatchError('conflict', `${run.name} is running already.`);
    const spec = { ...run.spec, ...resumable(changes ?? {}) };
    if (spec.budgetUsd !== undefined && run.costUsd >= spec.budgetUsd) throw new BatchError('conflict', budgetSentence(run.costUsd, spec.budgetUsd), { field: 'budgetUsd' });
    const model = await this.#deps.createModel(spec, apiKey === undefined ? {} : { apiKey });
    // a pass that could not store its end
    this.#store.release(id);
    if (changes) this.#store.setSpec(id, spec);
    await takeInChanges(this.#deps.db, this.#store, run, this.#deps.now);
    before?.();
    run = this.#run(id);
    await this.#launch(run, model);
  }

  /** Stops running prompts now; they can be resumed. Resolves when they have stopped. */
  async cancel(id: string): Promise<RunSummary> {
    const run = this.#run(id);
    await this.#passes.get(id)?.cancel();
    const { state } = this.#run(id);
    if (['paused', 'interrupted', 'failed'].includes(state)) {
      this.#store.setState(id, 'cancelled', null);
      this.#unstored.delete(id);
      this.#watchers.changed(id);
    } else if (state !== 'cancelled' && state !== 'completed') throw new BatchError('conflict', `${run.name} cannot be cancelled just now.`);
    return this.get(id);
  }

  /** Removes a run that is not running, with its trajectories; output files stay. */
  async remove(id: string): Promise<{ removed: number }> {
    const run = this.#run(id);
    return this.#alone(id, async () => {
      if (this.#passes.has(id)) throw new BatchError('conflict', `${run.name} is running. Cancel it first.`);
      let removed = 0;
      // in pieces, so that nothing else waits; a crash in between is completed by recover()
      this.#hidden.add(id);
      this.#store.beginRemove(id);
      for (let n = -1; n !== 0; removed += n) {
        n = this.#store.removeTrajectories(id, REMOVE_CHUNK);
        await yieldToOthers();
      }
      this.#store.remove(id);
      await this.#removeWorkspaces([{ ...run, spec: { ...run.spec, keepWorkspaces: false } }]);
      this.#unstored.delete(id);
      this.#hidden.delete(id);
      this.#watchers.ended(id);
      this.#deps.hub.listChanged();
      return { removed };
    });
  }

  /** Works on a run that is not running; nobody starts, resumes or removes it meanwhile. Then who watches it is told. Throws `conflict` while it runs. */
  async atRest<T>(id: string, work: (run: RunRecord) => Promise<T>): Promise<T> {
    this.#run(id);
    return this.#alone(id, async () => {
      const run = this.#run(id);
      if (this.#passes.has(id)) throw new BatchError('conflict', `${run.name} is running. Pause it first.`);
      try {
        return await work(run);
      } finally {
        const states = this.#states(id);
        states.forEach((state, index) => this.#watchers.changed(id, { index, state }));
        this.#watchers.changed(id);
        this.#deps.hub.listChanged();
      }
    });
  }

  prompts(input: { id: string; after: number; limit: number; states?: PromptState[] | undefined; cause?: string | undefined }): { items: PromptItem[]; more: boolean } {
    const { rollouts } = this.#run(input.id).spec;
    return this.#store.prompts.page(input.id, rollouts, input);
  }

  /** The state of everything, then what changes, at most 4 times a second (a new state of the run at once), also over pauses and resumes; ends when the run is removed. */
  watch(id: string, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    this.#run(id);
    const active = () => this.#passes.get(id)?.active ?? [];
    return this.#watchers.watch(
      id,
      () => ({ type: 'snapshot', run: this.get(id), codes: stateCodes(this.#states(id)), active: active() }),
      (changed) => ({ type: 'progress', run: this.get(id), changed, active: active() }),
      signal,
    );
  }

  /** Choices for a new run. */
  options() {
    return {
      distributions: usableDistributions(this.#drawable),
      demoDataset: join(this.#deps.resources, 'demo', 'prompts.jsonl'),
      defaultOutputDir: this.#deps.defaultOutputDir,
      suggestedName: this.#suggestName(),
    };
  }

  /** Stops what runs; it can be resumed. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#passes.values()].map((pass) => pass.close()));
    await this.#cleanup;
  }

  async #launch(run: RunRecord, model: ChatModel): Promise<void> {
    const { db, hub, spend, now, log } = this.#deps;
    const outputs = new RunOutputs(db, run, now);
    const clearing = new Clearing(run.spec.numWorkers);
    const worker = { ...(await this.#worker(run, model)), clearing };
    await this.#cleanup;
    await outputs.claim();
    if (this.#closed) throw new BatchError('unavailable', 'Talaria is closing.');
    this.#store.setState(run.id, 'running', null);
    this.#unstored.delete(run.id);
    const pass: BatchPass = new BatchPass({
      db,
      store: this.#store,
      hub,
      spend,
      now,
      log,
      run,
      outputs,
      work: (task, sink, signal) => runRollout(task, sink, worker, signal),
      cleared: () => clearing.done(),
      onChange: (change) => this.#watchers.changed(run.id, change ?? undefined),
    });
    this.#passes.set(run.id, pass);
    void pass.done.then(() => {
      // before anybody can resume: the next pass waits for this
      this.#cleanup = this.#cleanup.then(() => this.#removeWorkspaces([run]));
      this.#passes.delete(run.id);
      if (pass.unstoredEnd) this.#unstored.set(run.id, pass.unstoredEnd);
      this.#watchers.changed(run.id);
      hub.listChanged();
    });
    pass.start();
    this.#watchers.changed(run.id);
  }

  /** What its workers have of their own. Throws BatchError `invalid` for what the run needs and is not here. */
  async #worker(run: RunRecord, model: ChatModel): Promise<WorkerDeps> {
    const { now, log, home, redact = (text: string) => text, toolServices, distributions, visionModel } = this.#deps;
    const { prefill } = await preparePass(run.spec);
    const compression = this.#deps.compression?.();
    return {
      model,
      contextLength: (await this.#deps.contextLength?.(model.endpoint.provider, model.endpoint.model)) ?? null,
      ...(compression ? { compression } : {}),
      workspaces: this.#workspaces(run.name),
      hidden: [home],
      redact,
      toolServices: toolServices?.() ?? {},
      visionModel: (await visionModel?.()) ?? null,
      distributions: distributions?.() ?? {},
      prefill,
      score: createRolloutScorer(),
      now,
      log,
    };
  }

  #run(id: string): RunRecord {
    const run = this.#store.get(id);
    if (!run) throw new BatchError('not_found', 'This run is no longer in the store.');
    return this.#asItStands(run);
  }

  get #drawable(): Drawable {
    return { available: availableToolsets(this.#deps.toolServices?.() ?? {}), own: this.#deps.distributions?.() ?? {} };
  }

  #states(id: string): readonly PromptState[] {
    return this.#passes.get(id)?.states ?? this.#store.prompts.states(id, this.#run(id).total);
  }

  #asItStands(run: RunRecord): RunRecord {
    return { ...run, ...this.#unstored.get(run.id) };
  }

  #summary(run: RunRecord): RunSummary {
    return runSummary(run, this.#store, this.#passes.get(run.id));
  }

  #refuseTakenName(name: string): void {
    const taken = this.#store.findByName(name);
    if (taken) throw new BatchError('conflict', `A run named ${taken.name} exists already (${taken.state}). Resume it, or choose another name.`, { field: 'runName' });
  }

  /** Keeps two calls from working on the same thing at once. */
  async #alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(what)) throw new BatchError('conflict', 'This run is being started, resumed or removed just now.');
    this.#busy.add(what);
    try {
      return await work();
    } finally {
      this.#busy.delete(what);
    }
  }

  #workspaces(runName: string): string {
    return join(this.#deps.home, 'workspaces', runName);
  }

  async #removeWorkspaces(runs: readonly RunRecord[]): Promise<void> {
    for (const { name, spec } of runs) {
      await removeWorkspaces(this.#workspaces(name), { keep: spec.keepWorkspaces }).catch((error: unknown) => this.#deps.log.error(`The workspaces of ${name} could not be removed`, error));
    }
  }

  #suggestName(): string {
    const taken = this.#store.names();
    const day = new Date(this.#deps.now()).toISOString().slice(0, 10);
    for (let i = 1; ; i += 1) {
      const name = i === 1 ? `run-${day}` : `run-${day}-${i}`;
      if (!taken.has(name)) return name;
    }
  }
}
