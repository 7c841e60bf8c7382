import type { EnginePaths } from '#engine/paths.ts';

/** What the engine's process needs to know before it can open the engine. */
export interface EngineStart {
  home: string;
  version: string;
  paths: EnginePaths;
}

/** Main → engine process. A `port` message carries one MessagePort. */
export type ToEngine =
  | { type: 'start'; start: EngineStart }
  | { type: 'port' }
  | { type: 'close' }
  | { type: 'keychain'; id: number; ok: true; value: string }
  | { type: 'keychain'; id: number; ok: false; message: string };

/** Engine process → main. After `busy`, `failed` and `closed` main ends the process: a message must not die with its sender. */
export type FromEngine =
  | { type: 'ready' }
  | { type: 'busy'; message: string }
  | { type: 'failed'; message: string }
  | { type: 'closed' }
  | { type: 'keychain'; id: number; call: 'encrypt' | 'decrypt' | 'check'; text: string };
