import { isAbsolute, join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { PromptItem, PromptState, RunEvent, RunSpec, RunSummary } from '#shared/contract/runs.ts';
import type { ChatModel } from '../model/types.ts';
import { removeWorkspaces } from '../sandbox/remove.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import type { LiveHub } from '../trajectories/live.ts';
import { DistributionError, getDistribution, listDistributions } from './distribution.ts';
import { BatchError } from './errors.ts';
import { datasetUnchanged, loadPrompts, surveyDataset } from './load.ts';
import { refuseInWorkspaces, refuseTakenFolder, RunOutputs } from './outputs.ts';
import { type RunRecord, RunStore } from './run-store.ts';
import { BatchPass, type PassOutcome } from './runner.ts';
import { runSummary, stateCodes } from './summary.ts';
import { RunWatchers } from './watch.ts';

const REMOVE_CHUNK = 100;

export interface BatchServiceDeps {
  db: Database;
  hub: LiveHub;
  now: () => number;
  log: Logger;
  /** The Talaria home; workspaces of rollouts are made in it. */
  home: string;
  resources: string;
  /** Holds the folders of runs that name no other. */
  defaultOutputDir: string;
  /** The model of a run. Throws an error with a code and a sentence when there is none. */
  createModel: (spec: RunSpec, options?: { apiKey?: string }) => Promise<ChatModel>;
  /** In [0, 1); for sampling toolsets. */
  random?: () => number;
  /** Takes known keys out of what tools answer. */
  redact?: (text: string) => string;
}

/** A key that is used for one pass and stored nowhere. */
export interface PassKey {
  apiKey?: string;
}

/**
 * Batch runs: start, watch, pause, resume, cancel, remove. What a run did is in the store; its files can be made from it at any time.
 * Expected failures are BatchErrors.
 */
export class BatchService {
  readonly #deps: BatchServiceDeps;
  readonly #store: RunStore;
  readonly #passes = new Map<string, BatchPass>();
  readonly #watchers = new RunWatchers();
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
    this.#cleanup = this.#removeWorkspaces(runs.map((r) => r.name));
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
   * Throws `conflict` when the name or the folder is taken, `invalid` for a dataset, model or option that cannot be used.
   */
  async start(spec: RunSpec, key: PassKey = {}): Promise<{ id: string }> {
    return this.#alone(`name:${spec.runName.toLowerCase()}`, async () => {
      this.#refuseTakenName(spec.runName);
      checkDistribution(spec.distribution);
      if (!isAbsolute(spec.datasetFile)) throw new BatchError('invalid', 'Give the whole path of the dataset file.', { field: 'datasetFile' });
      if (spec.outputDir !== undefined && !isAbsolute(spec.outputDir)) throw new BatchError('invalid', 'Give the whole path of the output folder.', { field: 'outputDir' });
      const folder = join(spec.outputDir ?? this.#deps.defaultOutputDir, spec.runName);
      await refuseInWorkspaces(folder, join(this.#deps.home, 'workspaces'));
      await refuseTakenFolder(folder);
      const model = await this.#deps.createModel(spec, key);
      const dataset = await surveyDataset(spec.datasetFile);
      const total = Math.min(dataset.rows, spec.maxSamples ?? dataset.rows);
      const run = this.#store.create({ spec: { ...spec, model: model.endpoint.model, provider: model.endpoint.provider }, scripted: model.scripted, outputDir: folder, datasetSha256: dataset.sha256, total });
      this.#hidden.add(run.id);
      try {
        await loadPrompts(this.#store, run);
        await this.#launch(run, model);
      } catch (error) {
        this.#store.remove(run.id);
        throw error;
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

  /** Runs what is pending, failed or cancelled, and brings the files in line with the store. Throws like `start`. */
  async resume(id: string, key: PassKey = {}): Promise<RunSummary> {
    const run = this.#run(id);
    if (this.#passes.get(id)?.unpause()) return this.get(id);
    await this.#alone(id, async () => {
      if (this.#passes.has(id)) throw new BatchError('conflict', `${run.name} is running already.`);
      if (!(await datasetUnchanged(run))) {
        throw new BatchError(
          'conflict',
          `${run.spec.datasetFile} has changed since ${run.name} was started, so its prompts no longer match. Put the old file back, or start a new run under another name.`,
          { field: 'datasetFile' },
        );
      }
      await this.#launch(this.#run(id), await this.#deps.createModel(run.spec, key));
    });
    return this.get(id);
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
      this.#unstored.delete(id);
      this.#hidden.delete(id);
      this.#watchers.ended(id);
      this.#deps.hub.listChanged();
      return { removed };
    });
  }

  prompts(input: { id: string; after: number; limit: number; states?: PromptState[] | undefined }): { items: PromptItem[]; more: boolean } {
    this.#run(input.id);
    return this.#store.prompts(input.id, input.after, input.limit, input.states);
  }

  /** The state of everything, then what changes, at most 4 times a second, also over pauses and resumes; ends when the run is removed. */
  watch(id: string, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    this.#run(id);
    const active = () => this.#passes.get(id)?.active ?? [];
    return this.#watchers.watch<RunEvent>(
      id,
      () => ({ type: 'snapshot', run: this.get(id), codes: stateCodes(this.#passes.get(id)?.states ?? this.#store.states(id)), active: active() }),
      (changed) => ({ type: 'progress', run: this.get(id), changed, active: active() }),
      signal,
    );
  }

  /** Choices for a new run. */
  options() {
    return {
      distributions: usableDistributions(),
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
    const { db, hub, now, log, random = Math.random, redact = (text: string) => text } = this.#deps;
    const outputs = new RunOutputs(db, this.#store, run, now);
    await this.#cleanup;
    await outputs.claim();
    await outputs.reconcile();
    if (this.#closed) throw new BatchError('unavailable', 'Talaria is closing.');
    this.#store.setState(run.id, 'running', null);
    this.#unstored.delete(run.id);
    const pass: BatchPass = new BatchPass({
      db,
      store: this.#store,
      hub,
      now,
      log,
      model,
      run,
      workspaces: this.#workspaces(run.name),
      random,
      redact,
      outputs,
      onChange: (index) => this.#watchers.changed(run.id, index === null ? undefined : { index, state: pass.states[index]! }),
    });
    this.#passes.set(run.id, pass);
    void pass.done.then(() => {
      // before anybody can resume: the next pass waits for this
      this.#cleanup = this.#cleanup.then(() => this.#removeWorkspaces([run.name]));
      this.#passes.delete(run.id);
      if (pass.unstoredEnd) this.#unstored.set(run.id, pass.unstoredEnd);
      this.#watchers.changed(run.id);
      hub.listChanged();
    });
    pass.start();
    this.#watchers.changed(run.id);
  }

  #run(id: string): RunRecord {
    const run = this.#store.get(id);
    if (!run) throw new BatchError('not_found', 'This run is no longer in the store.');
    return this.#asItStands(run);
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

  async #removeWorkspaces(runNames: readonly string[]): Promise<void> {
    for (const name of runNames) {
      await removeWorkspaces(this.#workspaces(name)).catch((error: unknown) => this.#deps.log.error(`The workspaces of ${name} could not be removed`, error));
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

function checkDistribution(name: string): void {
  try {
    getDistribution(name);
  } catch (error) {
    throw error instanceof DistributionError ? new BatchError('invalid', error.message, { field: 'distribution', cause: error }) : error;
  }
}

/** Only those that have a tool in this version. */
function usableDistributions(): { name: string; description: string; toolsets: Record<string, number>; skipped: string[] }[] {
  return listDistributions()
    .filter((d) => d.built.length > 0)
    .map(({ name, toolsets, built, skipped }) => ({
      name,
      description: built.map((t) => `${t} ${toolsets[t]} %`).join(', ') + (skipped.length > 0 ? `; not in this version: ${skipped.join(', ')}` : ''),
      toolsets: { ...toolsets },
      skipped: [...skipped],
    }));
}
