import type { SessionSettings } from '#shared/contract/chats.ts';
import type { ChatModel, ReasoningEffort } from '../model/types.ts';
import { SettingsError } from '../store/settings.ts';
import { ToolError } from '../tools/define.ts';
import type { DelegationDeps } from './deps.ts';
import type { ChildTask } from './request.ts';
import { childToolsets } from './toolsets.ts';

/** The agent that asks, and what its children take over from it. */
export interface Parent {
  sessionId: string | null;
  trajectoryId: string;
  /** Of its session, with its own model and toolsets. */
  settings: SessionSettings;
  /** 0 for the agent that a person talks with. */
  depth: number;
}

/** A child that can be begun. */
export interface PlannedChild {
  task: ChildTask;
  toolsets: string[];
  model: ChatModel;
  reasoningEffort: ReasoningEffort | null;
  maxTurns: number;
  /** 1 for a child of the agent that a person talks with. */
  depth: number;
  mayDelegate: boolean;
  /** What it could not be given. */
  note: string | null;
}

/**
 * Makes everything of a call that can fail, for all of its tasks, before any of them begins. Throws ToolError: then nothing was started.
 */
export async function planChildren(deps: DelegationDeps, parent: Parent, tasks: readonly ChildTask[]): Promise<PlannedChild[]> {
  const { max_spawn_depth } = deps.config.read().delegation;
  const depth = parent.depth + 1;
  if (depth > max_spawn_depth) throw new ToolError(`Sub-agents must not start sub-agents any deeper (delegation.max_spawn_depth is ${max_spawn_depth}). Do this task yourself.`);
  const planned: PlannedChild[] = [];
  for (const [index, task] of tasks.entries()) {
    try {
      planned.push(await plan(deps, parent, task, depth, depth < max_spawn_depth));
    } catch (error) {
      const where = tasks.length > 1 ? `tasks[${index}]: ` : '';
      if (error instanceof ToolError || error instanceof SettingsError) throw new ToolError(`${where}${error.message}`);
      throw error;
    }
  }
  return planned;
}

async function plan(deps: DelegationDeps, parent: Parent, task: ChildTask, depth: number, mayDelegate: boolean): Promise<PlannedChild> {
  const { model: configured, max_iterations } = deps.config.read().delegation;
  if (task.profile !== null) throw new ToolError(`There is no profile "${task.profile.slice(0, 60)}". Leave "profile" out, and say in the task what the sub-agent should be.`);
  const { toolsets, note } = childToolsets(task.toolsets, parent.settings.toolsets, mayDelegate);
  const { provider, model } = parent.settings;
  const route = task.model ?? configured;
  const choice = route === undefined ? { provider, model } : choiceOf(deps, route, task.model === null);
  const maxTurns = Math.min(task.maxTurns ?? max_iterations, max_iterations);
  const capped = task.maxTurns !== null && task.maxTurns > maxTurns ? `max_turns was lowered to ${maxTurns}, the most that the settings allow.` : null;
  return {
    task,
    toolsets,
    model: await deps.models.create(choice),
    reasoningEffort: parent.settings.reasoningEffort,
    maxTurns,
    depth,
    mayDelegate,
    note: [note, capped].filter(Boolean).join(' ') || null,
  };
}

function choiceOf({ models }: DelegationDeps, route: string, configured: boolean): ReturnType<DelegationDeps['models']['parse']> {
  try {
    return models.parse(route);
  } catch (error) {
    if (!configured || !(error instanceof SettingsError)) throw error;
    throw new ToolError(`No sub-agent can be started before the person corrects delegation.model in config.yaml. ${error.message}`);
  }
}
