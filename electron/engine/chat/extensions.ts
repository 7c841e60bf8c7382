import type { SessionSettings } from '#shared/contract/chats.ts';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import type { AgentResult } from '../agent/types.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { ToolServices } from '../tools/types.ts';

/** A session whose turn is being prepared or runs. */
export interface SessionPlace {
  sessionId: string;
  settings: SessionSettings;
  sandbox: Sandbox;
}

/** A turn that runs or has ended. */
export interface TurnPlace extends SessionPlace {
  trajectoryId: string;
  /** Tools that the model is offered. */
  tools: readonly ToolSpec[];
  systemPrompt: string;
}

/** What other parts of the engine add to chats. Nothing here may fail a turn: what throws is logged, and the turn goes on without it. */
export interface ChatExtension {
  /** Tools of a session; `turn` is null when only asked which tools there are. Must not do work before a tool is called. */
  services?(place: { sessionId: string; settings: SessionSettings }, turn: { sandbox: Sandbox; signal: AbortSignal; trajectoryId: () => string | null } | null): Pick<ToolServices, 'skills' | 'memory' | 'delegation'>;
  /** Blocks of the system prompt of a new session; kept with it from then on. */
  promptBlocks?(place: SessionPlace, tools: readonly ToolSpec[]): Promise<{ memory?: string | null; user?: string | null; skills?: string | null }>;
  /**
   * Whether the system prompt that a session has used should be made anew, now that the person goes on with it after `idleMs` at rest.
   * The conversation then goes on as a branch with the new one; what was said before stays as it is.
   */
  outdated?(place: SessionPlace, kept: { systemPrompt: string; idleMs: number }, tools: readonly ToolSpec[]): boolean;
  /** Messages behind what the person said, e.g. the text of a skill that was run by name; the model reads them and it as one. Each has a `note`, and is `synthetic` unless it is why the model does what it does. */
  behind?(place: SessionPlace, text: string): Promise<Message[]>;
  /** A turn begins: in the transaction that stores what was said, before its first model call. `said`: by a person; else it is a retry or goes on. */
  turnBegins?(sessionId: string, turn: { tools: readonly ToolSpec[]; said: boolean }): void;
  /** What is known of a call whose result was not stored because the program was killed; null when nothing is. */
  resultOf?(trajectoryId: string, callId: string): string | null;
  /** A message of the turn was stored. */
  stored?(turn: TurnPlace, message: Message): void;
  /** The turn has ended, in the store too. */
  turnEnded?(turn: TurnPlace, result: AgentResult): void;
  /** The session was left: archived or deleted. */
  left?(sessionId: string): void;
}
