import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Price } from '#shared/contract/spend.ts';
import { MAX_TRIAL_PROMPTS, type Trial, type TrialEstimate, type TrialPrompt, type TrialSpec } from '#shared/contract/trials.ts';
import { parseScoreRules } from '#shared/scoring.ts';
import { inspectDataset, readDataset } from '../../batch/dataset.ts';
import { Feed } from '../../feed.ts';
import { bubblewrapMissing } from '../../sandbox/bubblewrap.ts';
import { removeFolder } from '../../sandbox/remove.ts';
import { sqlFor } from '../../store/database.ts';
import { resolveToolsets } from '../../tools/toolsets.ts';
import { readSkillFolder, sameTree, treeOf } from '../import/tree.ts';
import { MAIN_FILE } from '../names.ts';
import type { Shown } from '../types.ts';
import { armOf, copySkill } from './arms.ts';
import { TrialError } from './errors.ts';
import { estimateTrial } from './estimate.ts';
import { viewOf } from './result.ts';
import { rowProblem } from './row.ts';
import { type RunnerDeps, TrialRun } from './runner.ts';
import { type KeptSpec, type TrialRecord, TrialStore } from './store.ts';

/** Changes cross at most this often. */
const PROGRESS_MS = 250;

export interface TrialDeps extends RunnerDeps {
  /** Absolute folder for copies of skills and workspaces. */
  folder: string;
  price: (provider: string, model: string) => Promise<Price | null>;
}

/** "Try this skill": the same prompts with and without it, side by side. Expected failures are TrialErrors and SkillErrors. */
export class TrialService {
  readonly #deps: TrialDeps;
  readonly #store: TrialStore;
  readonly #running = new Map<string, TrialRun>();
  readonly #feed = new Feed<string>(PROGRESS_MS);

  constructor(deps: TrialDeps) {
    this.#deps = deps;
    this.#store = new TrialStore(deps.db, deps.now);
  }

  /** Ends what a killed engine left running, as `interrupted`, and removes what it left on the disk. Call once, after trajectories were recovered. */
  recover(): number {
    const { folder } = this.#deps;
    for (const name of existsSync(folder) ? readdirSync(folder) : []) if (this.#store.get(name) === null) rmSync(join(folder, name), { recursive: true, force: true });
    return this.#store.recover();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((run) => run.stop('interrupted')));
  }

  async estimate(spec: TrialSpec): Promise<TrialEstimate> {
    const { library, toolServices } = this.#deps;
    await library.ready();
    const { skill } = library.find(spec.skillId);
    const services = toolServices();
    const arm = armOf(library, 'with', { id: spec.skillId, copy: skill.folder }, () => null);
    const text = (await readSkillFolder(skill.folder)).find(({ path }) => path === MAIN_FILE)?.bytes.toString('utf8') ?? '';
    const problems = await this.#problems(spec);
    if (problems.some(({ field }) => field === 'toolsets' || field === 'prompts')) return { attempts: spec.prompts.length * 2, lowUsd: null, highUsd: null, tokensLow: 0, tokensHigh: 0, skillTokens: 0, problems: problems.map(({ message }) => message) };
    const price = await this.#deps.price(spec.provider, spec.model).catch(() => null);
    return { ...estimateTrial(spec, { skillText: text, index: arm.index, services: { ...services, skills: arm.tools }, price }), problems: problems.map(({ message }) => message) };
  }

  /** The first rows of a dataset file that have a prompt. Throws BatchError `invalid` when it cannot be read. */
  async prompts(path: string, signal?: AbortSignal): Promise<{ prompts: TrialPrompt[]; rows: number; suggestedScoring: string[] }> {
    const { rows, suggestedScoring, problem } = await inspectDataset(path, {}, signal);
    if (problem !== null) throw new TrialError('invalid', problem, { field: 'path' });
    const prompts: TrialPrompt[] = [];
    for await (const item of readDataset(path)) {
      if (item.type !== 'row' || item.prompt.trim() === '') continue;
      prompts.push({ prompt: item.prompt.slice(0, 100_000), row: item.row });
      if (prompts.length >= MAX_TRIAL_PROMPTS) break;
    }
    return { prompts, rows, suggestedScoring };
  }

  async start(asked: TrialSpec): Promise<Trial> {
    const { library, folder } = this.#deps;
    const [problem] = await this.#problems(asked);
    if (problem) throw new TrialError('invalid', problem.message, { field: problem.field });
    await library.ready();
    const { skill, summary } = library.find(asked.skillId);
    const id = randomUUID();
    const copy = join(folder, id, 'skill');
    try {
      await copySkill(skill.folder, copy);
      const kept: KeptSpec = { spec: { ...asked, seed: asked.seed ?? randomInt(2 ** 31 - 1) }, name: summary.name, tree: treeOf(await readSkillFolder(copy)), lostUsd: 0, undo: null };
      this.#store.add(id, kept);
    } catch (error) {
      await removeFolder(join(folder, id)).catch(() => undefined);
      throw error;
    }
    return this.#run(id);
  }

  async list(skillId: string): Promise<{ items: Trial[] }> {
    return { items: await Promise.all(this.#store.of(skillId).map((trial) => this.#view(trial))) };
  }

  /** The trial now and as it changes, until it no longer runs. */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<Trial> {
    for await (const trial of this.#feed.watch(() => this.#get(id), { concerns: (changed) => changed === id, signal })) {
      yield trial;
      if (trial.state !== 'running') return;
    }
  }

  async cancel(id: string): Promise<Trial> {
    await this.#running.get(id)?.stop('cancelled');
    return this.#get(id);
  }

  async resume({ id, budgetUsd }: { id: string; budgetUsd?: number | null | undefined }): Promise<Trial> {
    const trial = this.#record(id);
    this.#refuseRunning(trial);
    const pending = this.#store.runs(id).filter((run) => run.state !== 'ended');
    if (pending.length === 0) throw new TrialError('conflict', 'All attempts of this trial have ended. Begin a new one to try the skill again.');
    const spec = { ...trial.spec, ...(budgetUsd === undefined ? {} : { budgetUsd }) };
    const [problem] = await this.#problems(spec);
    if (problem) throw new TrialError('invalid', problem.message, { field: problem.field });
    // asked for twice at the same time, it goes on once
    this.#refuseRunning(this.#record(id));
    this.#deps.db.transaction(() => {
      // attempts that are made again cost what they cost
      const ids = pending.flatMap(({ trajectoryId }) => trajectoryId ?? []);
      const lost = ids.reduce((sum, one) => sum + (this.#deps.db.get(sqlFor.selectFrom('trajectories').select('cost_usd').where('id', '=', one))?.cost_usd ?? 0), 0);
      this.#store.keep(id, { ...keptOf(trial), spec, lostUsd: trial.lostUsd + lost });
      for (const run of pending) this.#store.setRun(id, run, { state: 'pending', trajectoryId: null });
      this.#store.setState(id, 'running', null);
    });
    return this.#run(id);
  }

  /** Keeps the skill (switches it on) or discards it (switches it off; with `remove`, one that an agent made goes into the trash). */
  async decide({ id, decision, remove }: { id: string; decision: 'keep' | 'discard'; remove: boolean }): Promise<Trial> {
    const trial = this.#record(id);
    if (trial.state === 'running') throw new TrialError('conflict', 'The trial still runs. Wait for its end, or cancel it.');
    if (trial.decision !== null) throw new TrialError('conflict', 'This was decided already. Take the decision back first.');
    const { library } = this.#deps;
    await library.ready();
    const { summary } = library.find(trial.skill);
    let versionId: number | null = null;
    if (decision === 'discard' && remove) {
      if (summary.root !== 'own' || (summary.author !== 'agent' && summary.author !== 'review')) throw new TrialError('invalid', 'Only skills that an agent made are removed from here. Switch it off instead, or delete it in the Skills screen.');
      ({ versionId } = await library.change({ action: 'delete', name: trial.skill }, { author: 'person', trajectoryId: null, reviewId: null, reason: 'Discarded after a trial', consent: true }));
    } else library.setMark(trial.skill, { enabled: decision === 'keep' });
    this.#store.decide(id, decision, { ...keptOf(trial), undo: { enabled: summary.enabled, versionId } });
    return this.#get(id);
  }

  /** Takes the decision back. */
  async undo(id: string): Promise<Trial> {
    const trial = this.#record(id);
    if (trial.decision === null || trial.undo === null) throw new TrialError('conflict', 'Nothing was decided that could be taken back.');
    const { library } = this.#deps;
    if (trial.undo.versionId !== null) await library.revert(trial.undo.versionId, { author: 'person', trajectoryId: null, reviewId: null, reason: 'The decision after a trial was taken back', consent: true });
    library.setMark(trial.skill, { enabled: trial.undo.enabled });
    this.#store.decide(id, null, { ...keptOf(trial), undo: null });
    return this.#get(id);
  }

  async remove(id: string): Promise<Record<string, never>> {
    const trial = this.#record(id);
    if (trial.state === 'running') throw new TrialError('conflict', 'The trial still runs. Cancel it first.');
    this.#store.remove(id);
    this.#deps.hub.listChanged();
    await removeFolder(join(this.#deps.folder, id));
    return {};
  }

  #run(id: string): Promise<Trial> {
    const place = join(this.#deps.folder, id);
    const run = new TrialRun(this.#record(id), this.#store, this.#deps, place, () => this.#feed.changed(id));
    this.#running.set(id, run);
    void run.ended.finally(() => {
      if (this.#running.get(id) === run) this.#running.delete(id);
    });
    return this.#get(id);
  }

  /** What keeps a trial from starting. */
  async #problems(spec: TrialSpec): Promise<{ field: string; message: string }[]> {
    const found: { field: string; message: string }[] = [];
    const add = (field: string, message: string): void => void found.push({ field, message });
    await this.#deps.library.ready();
    const { skill, summary }: Shown = this.#deps.library.find(spec.skillId);
    if (summary.verdict === 'dangerous') add('skillId', 'This skill may be dangerous, and is given to no agent. Look at its findings.');
    else if (summary.errors > 0) add('skillId', `The skill cannot be used as it is: ${summary.notOffered ?? 'correct its SKILL.md first.'}`);
    try {
      parseScoreRules(spec.scoring);
    } catch (error) {
      add('scoring', (error as Error).message);
    }
    try {
      resolveToolsets(spec.toolsets);
      const { tools: skills } = armOf(this.#deps.library, 'with', { id: spec.skillId, copy: skill.folder }, () => null);
      const problem = rowProblem(spec, { ...this.#deps.toolServices(), skills });
      if (problem !== null) add('prompts', problem);
    } catch (error) {
      add('toolsets', (error as Error).message);
    }
    const missing = spec.sandbox === 'bubblewrap' ? await bubblewrapMissing() : null;
    if (missing !== null) add('sandbox', missing);
    const over = this.#deps.spend.overBudget({});
    if (over !== null) add('budgetUsd', over);
    return found;
  }

  #refuseRunning({ state }: TrialRecord): void {
    if (state === 'running') throw new TrialError('conflict', 'This trial is running.');
  }

  #record(id: string): TrialRecord {
    const trial = this.#store.get(id);
    if (!trial) throw new TrialError('not_found', 'This trial is no longer in the store.');
    return trial;
  }

  #get(id: string): Promise<Trial> {
    return this.#view(this.#record(id));
  }

  async #view(trial: TrialRecord): Promise<Trial> {
    return viewOf(this.#deps.db, trial, this.#store.runs(trial.id), { stale: await this.#isStale(trial), spentUsd: trial.lostUsd + this.#store.spentUsd(trial.id) });
  }

  /** Whether the skill is no longer what was tried. */
  async #isStale(trial: TrialRecord): Promise<boolean> {
    const now = this.#deps.library.shown().find(({ summary }) => summary.id === trial.skill);
    if (!now) return true;
    return !sameTree(treeOf(await readSkillFolder(now.skill.folder).catch(() => [])), trial.tree);
  }
}

function keptOf({ spec, name, tree, lostUsd, undo }: TrialRecord): KeptSpec {
  return { spec, name, tree, lostUsd, undo };
}

