import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { join } from 'node:path';
import type { PromptState, RunSpec } from '#shared/contract/runs.ts';
import { type ExitReason, outcomeOf, type Usage } from '#shared/trajectory.ts';
import { runAgent } from '../agent/loop.ts';
import { buildSystemPrompt } from '../agent/prompt.ts';
import type { AgentEvent, AgentResult } from '../agent/types.ts';
import type { ChatModel, ModelError } from '../model/types.ts';
import { createHostSandbox } from '../sandbox/host.ts';
import { removeFolder } from '../sandbox/remove.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import { createRegistry } from '../tools/registry.ts';
import type { LiveHub } from '../trajectories/live.ts';
import { TrajectoryRecorder } from '../trajectories/record.ts';
import { cut } from './dataset.ts';
import { sampleToolsets } from './distribution.ts';
import type { RunRecord, RunStore } from './run-store.ts';
import type { AttemptTotals } from './totals.ts';

const REASON_CHARS = 2_000;

export interface RolloutDeps {
  db: Database;
  store: RunStore;
  hub: LiveHub;
  now: () => number;
  log: Logger;
  model: ChatModel;
  run: RunRecord;
  /** Folder for the workspaces of this run. */
  workspaces: string;
  random: () => number;
  redact: (text: string) => string;
  /** What becomes of a prompt whose agent was interrupted. */
  interruptedState: () => Extract<PromptState, 'cancelled' | 'pending'>;
  onBegin: (begun: { index: number; prompt: string; trajectoryId: string; lost: Usage | null }) => void;
  onActivity: (index: number, activity: { turn?: number; activity: string }) => void;
}

/** How an attempt ended; the store has it already. */
export interface RolloutEnd {
  state: PromptState;
  reason: string | null;
  /** Null when the attempt failed before it began. */
  trajectoryId: string | null;
  modelError: ModelError | null;
  totals: AttemptTotals | null;
}

/**
 * One attempt at one prompt, in a fresh workspace that is gone afterwards: tools sampled, agent run, every message stored as it
 * comes, the end recorded together with the prompt's disposition. A defect on the way makes this prompt `failed` and no other.
 * Throws only when the store cannot be written.
 */
export async function runRollout(deps: RolloutDeps, index: number, signal: AbortSignal): Promise<RolloutEnd> {
  const { store, run, log } = deps;
  const folder = join(deps.workspaces, `task_${index}`);
  let sandbox: Sandbox | null = null;
  let recorder: TrajectoryRecorder | null = null;
  try {
    const { prompt, toolsets: sampled } = store.prompt(run.id, index);
    const toolsets = sampled ?? [...sampleToolsets(run.spec.distribution, deps.random)];
    const tools = createRegistry(toolsets);
    // what a killed engine left there belongs to another attempt
    await removeFolder(folder);
    sandbox = await createHostSandbox({ root: folder });
    const systemPrompt = buildSystemPrompt(tools.specs);
    const begun = store.beginAttempt(run.id, index, toolsets, () => TrajectoryRecorder.begin(deps.db, deps.hub, deps.now, {
      kind: 'batch',
      prompt,
      runId: run.id,
      promptIndex: index,
      model: deps.model.endpoint.model,
      provider: deps.model.endpoint.provider,
      scripted: deps.model.scripted,
      systemPrompt,
      toolsets,
      tools: tools.specs,
    }));
    recorder = begun.recorder;
    deps.onBegin({ index, prompt, trajectoryId: recorder.id, lost: begun.lost });
    const agent = runAgent(agentSpec(run.spec, systemPrompt), [{ role: 'user', content: prompt, createdAt: deps.now() }], { model: deps.model, tools, sandbox, now: deps.now, redact: deps.redact }, signal);
    const result = await follow(agent, recorder, (activity) => deps.onActivity(index, activity));
    return record(deps, index, recorder, result);
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error(`Prompt ${index} of run ${run.name} failed unexpectedly`, error);
    return recordDefect(deps, index, recorder, cut(stack, REASON_CHARS));
  } finally {
    await sandbox?.dispose({ remove: true }).catch((error: unknown) => log.error(`The workspace ${folder} could not be removed`, error));
  }
}

function agentSpec(spec: RunSpec, systemPrompt: string) {
  return { systemPrompt, maxTurns: spec.maxTurns, ...(spec.reasoningEffort ? { reasoningEffort: spec.reasoningEffort } : {}) };
}

/** Stores what the agent does, and tells in a few words what it is doing. */
async function follow(
  agent: AsyncIterable<AgentEvent>,
  recorder: TrajectoryRecorder,
  onActivity: (activity: { turn?: number; activity: string }) => void,
): Promise<AgentResult> {
  const doing = { content: 'answering', reasoning: 'thinking', tool: 'calling a tool' };
  for await (const event of agent) {
    switch (event.type) {
      case 'message':
        recorder.append(event.message);
        break;
      case 'delta':
        recorder.delta(event.channel, event.text);
        onActivity({ activity: doing[event.channel] });
        break;
      case 'discard_deltas':
        recorder.discardDeltas();
        break;
      case 'turn':
        onActivity({ turn: event.turn, activity: 'waiting for the model' });
        // a model that answers without real waiting must not keep the others from their turn
        await yieldToOthers();
        break;
      case 'tool_start':
        onActivity({ activity: event.summary });
        break;
      case 'retry':
        onActivity({ activity: `trying again in ${Math.ceil(event.waitMs / 1000)} s: ${event.error.message}` });
        break;
      case 'end':
        return event.result;
    }
  }
  throw new Error('The agent ended without a result');
}

/** The trajectory's end and the prompt's disposition in one transaction; then everybody is told. */
function record(deps: RolloutDeps, index: number, recorder: TrajectoryRecorder, result: AgentResult): RolloutEnd {
  const { counters } = recorder;
  const wouldKeep = keeps(result.exitReason);
  const discardReason = wouldKeep && counters.turnsWithReasoning === 0 ? 'no_reasoning' : null;
  const state = discardReason ? 'discarded' : dispositionOf(result.exitReason, deps.interruptedState);
  const reason = discardReason ? ['No assistant turn has reasoning.', result.error].filter(Boolean).join(' ') : sentenceOf(result);
  deps.store.endAttempt(deps.run.id, index, state, reason, () =>
    recorder.end({ exitReason: result.exitReason, error: result.error, discardReason, apiCalls: result.apiCalls, usage: result.usage }),
  );
  recorder.announceEnd();
  return {
    state,
    reason,
    trajectoryId: recorder.id,
    modelError: result.modelError,
    totals: { usage: result.usage, kept: wouldKeep && !discardReason ? { turns: counters.turns, turnsWithReasoning: counters.turnsWithReasoning, toolStats: counters.toolStats } : null },
  };
}

function recordDefect(deps: RolloutDeps, index: number, recorder: TrajectoryRecorder | null, reason: string): RolloutEnd {
  const end = { state: 'failed' as const, reason, modelError: null };
  if (!recorder) {
    deps.store.setPrompt(deps.run.id, index, 'failed', reason);
    return { ...end, trajectoryId: null, totals: null };
  }
  const { usage } = recorder.counters;
  deps.store.endAttempt(deps.run.id, index, 'failed', reason, () => recorder.end({ exitReason: 'error', error: reason }));
  recorder.announceEnd();
  return { ...end, trajectoryId: recorder.id, totals: { usage, kept: null } };
}

function keeps(exitReason: ExitReason): boolean {
  const outcome = outcomeOf({ state: 'ended', exitReason, discardReason: null });
  return exitReason !== 'interrupted' && (outcome === 'completed' || outcome === 'partial');
}

function dispositionOf(exitReason: ExitReason, interrupted: RolloutDeps['interruptedState']): PromptState {
  if (exitReason === 'interrupted') return interrupted();
  if (exitReason === 'completed') return 'completed';
  return keeps(exitReason) ? 'partial' : 'failed';
}

/** Why, with the provider's own words when it was the provider. */
function sentenceOf(result: AgentResult): string | null {
  const said = result.modelError?.providerMessage;
  return said && !result.error?.includes(said) ? `${result.error ?? ''} The provider said: “${said}”` : result.error;
}
