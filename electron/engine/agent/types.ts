import type { ExitReason, Message, Usage } from '#shared/trajectory.ts';
import type { ChatModel, ModelError, ReasoningEffort } from '../model/types.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { ToolRegistry } from '../tools/types.ts';

export interface AgentSpec {
  /** Sent first, byte for byte the same on every call. */
  systemPrompt: string;
  /** Model calls allowed for this user turn. */
  maxTurns: number;
  reasoningEffort?: ReasoningEffort;
  maxTokens?: number;
  temperature?: number;
}

export interface AgentDeps {
  model: ChatModel;
  tools: ToolRegistry;
  sandbox: Sandbox;
  now: () => number;
  /** What tools answered, without the keys of the person: a command can read them from the processes of this machine. */
  redact?: (text: string) => string;
}

export type AgentEvent =
  /** A durable message. The loop does not go on before the consumer has taken it, so it can be stored first. */
  | { type: 'message'; message: Message }
  | { type: 'delta'; channel: 'content' | 'reasoning' | 'tool'; text: string }
  /** The deltas since the last message are void. */
  | { type: 'discard_deltas' }
  | { type: 'turn'; turn: number }
  | { type: 'tool_start'; callId: string; name: string; summary: string }
  | { type: 'retry'; attempt: number; waitMs: number; error: ModelError }
  | { type: 'end'; result: AgentResult };

export interface AgentResult {
  exitReason: ExitReason;
  /** For every reason but `completed`: what happened, in a sentence. */
  error: string | null;
  /** Present when the end was caused by the provider. */
  modelError: ModelError | null;
  finalAnswer: string | null;
  apiCalls: number;
  usage: Usage;
}
