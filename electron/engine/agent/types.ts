import type { ContextMeter, SpendPurpose } from '#shared/contract/chats.ts';
import type { ExitReason, Message, Usage } from '#shared/trajectory.ts';
import type { ChatModel, ChatRequest, ModelError, ReasoningEffort } from '../model/types.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { ApproveHook, ToolRegistry, ToolServices } from '../tools/types.ts';

export interface AgentSpec {
  /** Sent first, byte for byte the same on every call. */
  systemPrompt: string;
  /** Model calls allowed for this user turn. */
  maxTurns: number;
  reasoningEffort?: ReasoningEffort;
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  /** Sent with each call, for providers that sample by it. */
  seed?: number;
  /** The model's context length, tokens; null or absent when it is not known: then nothing is compressed before the provider complains. */
  contextLength?: number | null;
  /** Absent: never compress. */
  compression?: CompressionSettings;
  /** Seen by the model at call time only, never stored: put behind the system prompt, and few-shot messages behind that. */
  ephemeral?: { system?: string; prefill?: readonly Message[] };
}

export interface CompressionSettings {
  /** Part of the context length at which older messages are replaced, e.g. 0.5. */
  threshold: number;
  /** Part of the threshold that is kept of the end of the conversation, e.g. 0.2. */
  tailRatio: number;
  /** Messages of the end that are kept in any case. */
  protectLast: number;
}

/** Takes the keys of the person out of a text. */
export interface Redaction {
  (text: string): string;
  /** For text that comes in pieces: how many characters at its end may be the beginning of a key. */
  openEnd?: (text: string) => number;
}

/** What `runAgent` starts from. */
export interface AgentInput {
  /** Messages that are stored already, system message first; they are not announced again. Empty for a new conversation. */
  history: readonly Message[];
  /** What is new: the person's message. Announced as messages before the first call. */
  input: readonly Message[];
}

export interface AgentDeps {
  model: ChatModel;
  /**
   * Asked before each call, where the model may change within a turn: the context length of the one that answers next, tokens, or null
   * when it is not known; undefined when it is the same model as before.
   */
  contextLength?: () => Promise<number | null | undefined>;
  tools: ToolRegistry;
  sandbox: Sandbox;
  now: () => number;
  /** What tools answered, without the keys of the person: a command can read them from the processes of this machine. */
  redact?: Redaction;
  /** What tools remember between calls; kept by the caller when it should outlive the turn. */
  toolState?: Map<string, unknown>;
  toolServices?: ToolServices;
  /** Asks the person; absent where nobody can be asked. */
  approve?: ApproveHook;
  /** Bytes of an attachment that a message names; null when they are gone. Without it pictures are not sent. */
  attachment?: ChatRequest['attachment'];
  /**
   * Messages that a person sent meanwhile to steer the agent: taken (and thereby removed) before each model call, and after an answer
   * that would end the run. What is still there at the end (the person interrupted, the budget is used up) is the caller's to send next.
   */
  steering?: () => readonly Message[];
  /** A sentence when a spend cap is reached: the run then ends as `budget_exceeded` before its next call. */
  overBudget?: () => string | null;
  /** Writes summaries for compression; the run's own model when absent. */
  summaryModel?: ChatModel;
  /** What must survive compression besides the messages, e.g. the open todos, as text for the summary. */
  carryOver?: () => string | null;
}

export type AgentEvent =
  /** A durable message. The loop does not go on before the consumer has taken it, so it can be stored first. */
  | { type: 'message'; message: Message }
  | { type: 'delta'; channel: 'content' | 'reasoning' | 'tool'; text: string }
  /** The deltas since the last message are void. */
  | { type: 'discard_deltas' }
  | { type: 'turn'; turn: number }
  | { type: 'tool_start'; callId: string; name: string; summary: string }
  /** Live output of a running tool, for display. */
  | { type: 'tool_output'; callId: string; text: string }
  /** One model call was paid for, also one whose answer was thrown away. */
  | { type: 'usage'; purpose: SpendPurpose | null; provider: string; model: string; usage: Usage; costUsd: number | null }
  | { type: 'context'; meter: ContextMeter }
  | { type: 'compressing' }
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
