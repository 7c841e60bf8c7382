import type { EnginePaths } from '#engine/paths.ts';
import type { Task } from '#shared/contract/tasks.ts';

/** What the engine's process needs to know before it can open the engine. */
export interface EngineStart {
  home: string;
  version: string;
  paths: EnginePaths;
}

/** What main must know of the engine's work. */
export interface EngineWork {
  /** Tasks of the background that run. */
  tasks: number;
  /** Agents that run, whatever for. */
  agents: number;
  /** The person wants the app to go on without a window while they do. */
  keep: boolean;
}

export const NO_WORK: EngineWork = { tasks: 0, agents: 0, keep: false };

/** A task that ended by itself. */
export type EndedTask = Pick<Task, 'id' | 'title' | 'state' | 'error'>;

/** Main → engine process. `work` asks for a `work` message now. A `port` message carries one MessagePort. */
export type ToEngine =
  | { type: 'start'; start: EngineStart }
  | { type: 'port' }
  | { type: 'close' }
  | { type: 'work' }
  | { type: 'keychain'; id: number; ok: true; value: string }
  | { type: 'keychain'; id: number; ok: false; message: string };

/** Engine process → main. After `busy`, `failed` and `closed` main ends the process: a message must not die with its sender. */
export type FromEngine =
  | { type: 'ready' }
  | { type: 'busy'; message: string }
  | { type: 'failed'; message: string }
  | { type: 'closed' }
  | { type: 'work'; work: EngineWork }
  | { type: 'ended'; task: EndedTask }
  | { type: 'keychain'; id: number; call: 'encrypt' | 'decrypt' | 'check'; text: string };
