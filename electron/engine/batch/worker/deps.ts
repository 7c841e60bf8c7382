import type { Message } from '#shared/trajectory.ts';
import type { AgentSpec, Redaction } from '../../agent/types.ts';
import type { ChatModel } from '../../model/types.ts';
import type { Sandbox } from '../../sandbox/types.ts';
import type { Logger } from '../../store/types.ts';
import type { ToolServices } from '../../tools/types.ts';
import type { OwnDistributions } from '../distribution.ts';
import type { RolloutTask, ScoreResult } from '../queue/types.ts';
import type { Clearing } from './clearing.ts';

/** What a rollout is scored by: asked when the agent has ended and its sandbox still stands. */
export type ScoreHook = (rollout: {
  task: RolloutTask;
  sandbox: Sandbox;
  finalAnswer: string | null;
  /** The whole conversation, system message first. */
  messages: readonly Message[];
  signal: AbortSignal;
}) => Promise<ScoreResult[]>;

/** What a worker has of its own; the same for all rollouts of a pass. */
export interface WorkerDeps {
  model: ChatModel;
  /** Of the model, tokens; null when it is not known. */
  contextLength: number | null;
  compression?: AgentSpec['compression'];
  /** Folder for the workspaces of the run, absolute: that of a rollout is `task_<index>` in it. */
  workspaces: string;
  /** Folders that no tool may look into, absolute: the home with its keys. */
  hidden?: readonly string[];
  /** Takes known keys out of what tools answer. */
  redact: Redaction;
  /** What tools have of the engine; without `vision`, which is made of `visionModel`. */
  toolServices: ToolServices;
  /** Looks at pictures; null or absent when none is set up. */
  visionModel?: ChatModel | null;
  /** `distributions:` of config.yaml. */
  distributions?: OwnDistributions;
  /** From `preparePass`. */
  prefill?: readonly Message[];
  now: () => number;
  log: Logger;
  score?: ScoreHook;
  /** Clears up behind ended rollouts; each clears up by itself without one. */
  clearing?: Clearing;
}
