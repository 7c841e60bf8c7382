import { addUsage, type Message, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { runAgent } from '../../agent/loop.ts';
import { buildSystemPrompt } from '../../agent/prompt/system-prompt.ts';
import type { AgentDeps, AgentResult, AgentSpec } from '../../agent/types.ts';
import { expectCommands } from '../../sandbox/spawner.ts';
import type { Sandbox } from '../../sandbox/types.ts';
import { cut } from '../dataset.ts';
import type { RolloutModelError, RolloutResult, RolloutSink, RolloutTask } from '../queue/types.ts';
import type { WorkerDeps } from './deps.ts';
import { follow } from './follow.ts';
import { RolloutProblem } from './problem.ts';
import { rowOptions } from './row.ts';
import { scoresOf } from './scores.ts';
import { rolloutServices } from './services.ts';
import { SinkGuard } from './sink-guard.ts';
import { timeLimit } from './time-limit.ts';
import { chooseTools } from './tools.ts';
import { openWorkspace, workspaceOf } from './workspace.ts';

const REASON_CHARS = 2_000;

/**
 * One attempt at one rollout, in a fresh sandbox: tools chosen, the agent run through all turns of the row, everything it does handed to
 * the sink, the end scored. What goes wrong on the way is this attempt's result and nobody else's. What it started ends with it, at the latest when
 * `deps.clearing` is done; its workspace stays only when the run wants that.
 * @param signal stops it: the result is `interrupted`.
 * @throws only what the sink throws (the lease is lost, the store cannot be written): then there is nothing to hand in.
 */
export async function runRollout(task: RolloutTask, sink: RolloutSink, deps: WorkerDeps, signal: AbortSignal): Promise<RolloutResult> {
  const guard = new SinkGuard(sink);
  const paid = { apiCalls: 0, usage: ZERO_USAGE };
  let sandbox: Sandbox | null = null;
  try {
    const row = rowOptions(task);
    const services = rolloutServices(deps.toolServices, deps.visionModel ?? null, guard, deps.now);
    const { toolsets, tools } = chooseTools(task, row, services, deps.distributions ?? {});
    if (tools.specs.some(({ name }) => name === 'terminal')) expectCommands();
    await deps.clearing?.room(task.index);
    sandbox = await openWorkspace(task, row, deps, signal);
    const systemPrompt = buildSystemPrompt({ tools: tools.specs, system: row.system });
    const { model, provider } = deps.model.endpoint;
    await guard.begin({ model, provider, scripted: deps.model.scripted, systemPrompt, toolsets, tools: tools.specs });
    const agent = { model: deps.model, tools, sandbox, now: deps.now, redact: deps.redact, toolServices: services, toolState: new Map(), overBudget: () => guard.overBudget() };
    const { result, messages } = await converse(task, row.turns, agentSpec(task, systemPrompt, deps), agent, guard, paid, signal);
    const scores = await scoresOf(deps.score, result.exitReason, { task, sandbox, finalAnswer: result.finalAnswer, messages, signal });
    return { ...resultOf(result), ...paid, scores };
  } catch (error) {
    if (guard.failed) throw guard.error;
    return { ...failureOf(error, task, deps, signal), ...paid };
  } finally {
    if (sandbox) await leave(sandbox, task, deps, signal);
  }
}

/** A container is given back at once: it holds more than a folder does. So is everything when the run has to stop. */
async function leave(sandbox: Sandbox, { index, spec }: RolloutTask, { log, workspaces, clearing }: WorkerDeps, signal: AbortSignal): Promise<void> {
  const clear = (): Promise<void> =>
    sandbox.dispose({ remove: !spec.keepWorkspaces }).catch((error: unknown) => log.error(`The workspace ${workspaceOf(workspaces, index)} could not be cleaned up`, error));
  if (clearing && sandbox.kind !== 'container' && !signal.aborted) clearing.later(index, clear);
  else await clear();
}

/** All turns of the person, one after another in one conversation; one that does not end well is the last. */
async function converse(
  task: RolloutTask,
  turns: readonly string[],
  spec: AgentSpec,
  deps: AgentDeps,
  sink: RolloutSink,
  paid: { apiCalls: number; usage: Usage },
  signal: AbortSignal,
): Promise<{ result: AgentResult; messages: Message[] }> {
  const limit = timeLimit(task.spec.timeoutPerPrompt, signal);
  const messages: Message[] = [];
  try {
    for (let i = 0; ; i++) {
      const input: Message[] = [{ role: 'user', content: turns[i] ?? '', createdAt: deps.now() }];
      const result = await follow(runAgent(spec, { history: [...messages], input }, deps, limit.signal), sink, messages);
      paid.apiCalls += result.apiCalls;
      paid.usage = addUsage(paid.usage, result.usage);
      if (result.exitReason === 'interrupted' && limit.reached()) return { result: { ...result, exitReason: 'timeout', error: limit.sentence }, messages };
      if (result.exitReason !== 'completed' || i >= turns.length - 1) return { result, messages };
    }
  } finally {
    limit.dispose();
  }
}

function agentSpec({ spec }: RolloutTask, systemPrompt: string, { contextLength, compression, prefill = [] }: WorkerDeps): AgentSpec {
  const { maxTurns, reasoningDisabled, reasoningEffort, maxTokens, temperature, topP, ephemeralSystemPrompt } = spec;
  const effort = reasoningDisabled ? 'none' : reasoningEffort;
  return {
    systemPrompt,
    maxTurns,
    contextLength,
    ...(compression ? { compression } : {}),
    ...(effort ? { reasoningEffort: effort } : {}),
    ...(maxTokens !== undefined ? { maxTokens } : {}),
    ...(temperature !== undefined ? { temperature } : {}),
    ...(topP !== undefined ? { topP } : {}),
    ...(ephemeralSystemPrompt || prefill.length > 0 ? { ephemeral: { ...(ephemeralSystemPrompt ? { system: ephemeralSystemPrompt } : {}), prefill } } : {}),
  };
}

function resultOf({ exitReason, error, modelError, finalAnswer, apiCalls, usage }: AgentResult): RolloutResult {
  const overBudget = exitReason === 'budget_exceeded' ? error : null;
  return { exitReason, error, defect: null, modelError: modelError && plainError(modelError), overBudget, finalAnswer, apiCalls, usage, scores: [] };
}

function plainError({ code, message, providerMessage, stopsRun }: RolloutModelError): RolloutModelError {
  return { code, message, providerMessage, stopsRun };
}

function failureOf(error: unknown, task: RolloutTask, { log }: WorkerDeps, signal: AbortSignal): RolloutResult {
  const nothing = { exitReason: null, error: null, defect: null, modelError: null, overBudget: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE, scores: [] };
  if (error instanceof RolloutProblem) return { ...nothing, defect: error.defect };
  if (signal.aborted) return { ...nothing, exitReason: 'interrupted', error: 'The run was interrupted.' };
  log.error(`Prompt ${task.promptIndex} of run ${task.runName} failed unexpectedly`, error);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...nothing, defect: { cause: 'defect', reason: cut(stack, REASON_CHARS), retryable: true } };
}
