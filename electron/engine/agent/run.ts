import type { ContextMeter } from '#shared/contract/chats.ts';
import { addUsage, type ExitReason, type Message, type NoteKind, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { contextOf } from '#shared/context.ts';
import type { ChatAnswer, ModelError } from '../model/types.ts';
import type { CompactionCall } from './compress/types.ts';
import { requestMessages } from './request.ts';
import { messagesTokens, meterOf } from './tokens.ts';
import type { AgentDeps, AgentEvent, AgentSpec } from './types.ts';

/** Why a run cannot go on, and what the model had said of its answer by then. */
export interface Stop {
  exitReason: ExitReason;
  error: string;
  modelError: ModelError | null;
  partial: { content: string; reasoning: string } | null;
}

/** The state of one user turn. */
export class AgentRun {
  readonly spec: AgentSpec;
  readonly deps: AgentDeps;
  readonly signal: AbortSignal;
  /** Everything stored so far; the index is the seq. */
  readonly messages: Message[] = [];
  /** Ids of all calls in `messages`, also of those that the model is not shown any more. */
  readonly callIds = new Set<string>();
  /** What tools remember; the caller's, when it should outlive the turn. */
  readonly toolState: Map<string, unknown>;
  /** Model calls that were made, whatever became of them. */
  apiCalls = 0;
  /** Model calls that count against the budget of this user turn. */
  turnCalls = 0;
  usage: Usage = ZERO_USAGE;
  /** Something was streamed that belongs to no message yet. */
  streamed = false;
  /** The model's context length as far as it is known, tokens; corrected by what the provider says. */
  contextLength: number | null;
  /** Compression in this turn: below `notBelow` tokens no further pass is made by itself; `overflows` counts refusals that led to one. */
  readonly passes = { notBelow: 0, overflows: 0 };
  /** What the provider counted at the last call, and how many messages there were then. */
  #measured: { tokens: number; messages: number } | null = null;

  constructor(spec: AgentSpec, deps: AgentDeps, signal: AbortSignal) {
    this.spec = spec;
    this.deps = deps;
    this.signal = signal;
    this.toolState = deps.toolState ?? new Map();
    this.contextLength = spec.contextLength ?? null;
  }

  /** Takes over what is stored already. */
  resume(history: readonly Message[]): void {
    for (const message of history) this.#add(message);
    for (let i = history.length - 1; i >= 0 && !history[i]!.compaction; i--) {
      const tokens = history[i]!.usage?.promptTokens ?? 0;
      if (tokens === 0) continue;
      this.#measured = { tokens, messages: i };
      return;
    }
  }

  /** Makes a message part of the conversation; the event tells the consumer, who stores it. */
  keep(message: Message): AgentEvent {
    this.#add(message);
    this.streamed = false;
    // what was counted holds for the messages as they were shown then
    if (message.compaction) this.#measured = null;
    return { type: 'message', message };
  }

  /** Voids what was streamed since the last message. */
  *discard(): Generator<AgentEvent, void> {
    if (this.streamed) yield { type: 'discard_deltas' };
    this.streamed = false;
  }

  #add(message: Message): void {
    this.messages.push(message);
    for (const call of message.toolCalls ?? []) this.callIds.add(call.id);
  }

  /** Another model answers from now on: what was found out about the room in the one before holds no more. */
  answeredByAnother(contextLength: number | null): void {
    this.contextLength = contextLength;
    Object.assign(this.passes, { notBelow: 0, overflows: 0 });
  }

  note(note: NoteKind, content: string): Message {
    return { role: 'user', content, synthetic: true, note, createdAt: this.deps.now() };
  }

  /** Counts a model call that answered. */
  paid(answer: ChatAnswer): AgentEvent {
    if (answer.usage) {
      this.usage = addUsage(this.usage, answer.usage);
      if (answer.usage.promptTokens > 0) this.#measured = { tokens: answer.usage.promptTokens, messages: this.messages.length };
    }
    const { provider, model } = answer.servedBy ?? this.deps.model.endpoint;
    return { type: 'usage', purpose: null, provider, model, usage: answer.usage ?? ZERO_USAGE, costUsd: answer.costUsd };
  }

  /** Counts a call that was made for a summary. */
  paidForSummary(call: CompactionCall): AgentEvent {
    this.apiCalls++;
    this.usage = addUsage(this.usage, call.usage);
    return { type: 'usage', purpose: 'compression', ...call };
  }

  /** The conversation as it is sent. */
  get request(): Message[] {
    return requestMessages(this.messages, this.spec.ephemeral);
  }

  /** Where compression begins, tokens; null when it is off or the context length is unknown. */
  get compressAt(): number | null {
    return this.spec.compression && this.contextLength !== null ? Math.floor(this.spec.compression.threshold * this.contextLength) : null;
  }

  /** How full the next request is. */
  meter(): ContextMeter {
    const { ephemeral = {} } = this.spec;
    const measured = this.#measured;
    return meterOf({
      system: [this.messages.find((m) => m.role === 'system')?.content ?? '', ephemeral.system ?? ''].join('\n'),
      tools: this.deps.tools.specs,
      messages: [...(ephemeral.prefill ?? []), ...contextOf(this.messages)],
      limit: this.contextLength,
      compressAt: this.compressAt,
      measuredTotal: measured && measured.tokens + messagesTokens(this.messages.slice(measured.messages)),
    });
  }

  /** A reason not to make another model call: the person or a spend cap. */
  halted(): Stop | null {
    if (this.signal.aborted) return interrupted(null);
    const sentence = this.deps.overBudget?.() ?? null;
    return sentence === null ? null : { exitReason: 'budget_exceeded', error: sentence, modelError: null, partial: null };
  }

  end(exitReason: ExitReason, error: string | null, more: { finalAnswer?: string | null; modelError?: ModelError | null } = {}): AgentEvent {
    const { finalAnswer = null, modelError = null } = more;
    return { type: 'end', result: { exitReason, error, modelError, finalAnswer, apiCalls: this.apiCalls, usage: this.usage } };
  }
}

export function interrupted(partial: Stop['partial']): Stop {
  return { exitReason: 'interrupted', error: 'The run was interrupted.', modelError: null, partial };
}
