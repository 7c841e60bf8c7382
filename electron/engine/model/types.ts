import type { Message, ToolCall, ToolSpec, Usage } from '#shared/trajectory.ts';

/** Where a request goes. `apiKey` is never logged or stored. */
export interface Endpoint {
  /** Settings id, e.g. "openrouter", or "custom" for a bare base URL. */
  provider: string;
  baseUrl: string;
  apiKey: string | null;
  model: string;
}

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

export interface ChatRequest {
  /** The whole conversation as it should be sent, system first. */
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  /** Of the provider's sampling; most that know it only do their best. */
  seed?: number;
  reasoningEffort?: ReasoningEffort;
  /** Bytes of an attachment that a message names; null when they are gone. Without it pictures are not sent. */
  attachment?: (id: string) => Promise<Uint8Array | null>;
}

/** The assembled answer of one model call. */
export interface ChatAnswer {
  /** Visible text with inline reasoning tags taken out. */
  content: string;
  reasoning: string | null;
  /** Provider blocks to be replayed unmodified on the next call. */
  reasoningDetails: unknown[] | null;
  toolCalls: ToolCall[];
  /** "stop", "tool_calls", "length", "content_filter"… as the provider said; null when it said nothing. */
  finishReason: string | null;
  /** An inline reasoning tag was opened and never closed. */
  unclosedReasoning: boolean;
  usage: Usage | null;
  /** What the provider said the call cost, USD; null when it does not say. */
  costUsd: number | null;
  /** Set when a fallback answered instead of the model that was asked. */
  servedBy?: { provider: string; model: string };
  durationMs: number;
}

export type ModelEvent =
  /** `tool` deltas carry argument text, for display only. */
  | { type: 'delta'; channel: 'content' | 'reasoning' | 'tool'; text: string }
  /**
   * The attempt failed and will be made again after `waitMs`, by `fallback` when that is set; what was streamed so far is void.
   */
  | { type: 'retry'; attempt: number; waitMs: number; error: ModelError; fallback?: { provider: string; model: string } }
  | { type: 'answer'; answer: ChatAnswer };

export type ModelErrorCode =
  | 'auth' // 401, 403: stops a run
  | 'payment' // 402: stops a run
  | 'rate_limit' // 429, 529
  | 'bad_request' // other 4xx
  | 'not_found' // 404: wrong base URL or model
  | 'context_overflow'
  | 'server' // 5xx, HTML error pages
  | 'network' // refused, reset, cut stream, DNS
  | 'timeout'
  | 'bad_response' // not what an OpenAI-compatible server says
  | 'aborted';

/** A failed model call, in words a person can act on. `providerMessage` is the server's own text, shortened. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly status: number | null;
  readonly providerMessage: string | null;
  readonly retryAfterMs: number | null;

  constructor(code: ModelErrorCode, message: string, more: { status?: number; providerMessage?: string; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'ModelError';
    this.code = code;
    this.status = more.status ?? null;
    this.providerMessage = more.providerMessage ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }

  /** No later request with the same key can succeed: a run should stop. */
  get stopsRun(): boolean {
    return this.code === 'auth' || this.code === 'payment';
  }
}

/**
 * One model behind one endpoint. `stream` yields deltas, possibly retries, and as its last event exactly one answer;
 * it throws a ModelError when the call finally failed (also `aborted`, within a second of the signal).
 * It owns all retrying.
 */
export interface ChatModel {
  readonly endpoint: Omit<Endpoint, 'apiKey'>;
  /** True for the scripted offline teacher. */
  readonly scripted: boolean;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
