import type { ToolSpec, Usage } from '#shared/trajectory.ts';
import { isRecord, textOf, type JsonRecord } from './json.ts';
import { createReasoningAssembler } from './reasoning-assembler.ts';
import { createTextCallSplitter, type CallPiece } from './text-call-splitter.ts';
import { createThinkSplitter, splitOrphanClose, type SplitPiece } from './think-splitter.ts';
import { createToolCallAssembler } from './tool-call-assembler.ts';
import type { ChatAnswer, ModelEvent } from './types.ts';

type Delta = Extract<ModelEvent, { type: 'delta' }>;

export interface AnswerContext {
  /** Ids of the tool calls already in the conversation. */
  takenIds: ReadonlySet<string>;
  /** Assistant messages already in the conversation. */
  turn: number;
  /** What was offered: only these are looked for in the text. */
  tools: readonly ToolSpec[];
}

/**
 * Puts the chunks of one streamed `/chat/completions` answer together. `push` takes a chunk (or a whole, unstreamed
 * completion) and answers with what to display; `finish` gives the assembled answer once the stream is over.
 * Shapes: OpenAI, and what OpenRouter, DeepSeek, vLLM, Mistral, Ollama and llama.cpp add to it.
 */
export function createAnswerAssembler(context: AnswerContext) {
  const splitter = createThinkSplitter();
  const calls = createToolCallAssembler();
  const textCalls = createTextCallSplitter(context.tools);
  const reasoning = createReasoningAssembler();
  let inline = '';
  let finishReason: string | null = null;
  let usage: Usage | null = null;
  let costUsd: number | null = null;

  function take(pieces: readonly SplitPiece[], out: Delta[]): void {
    for (const piece of pieces) {
      if (piece.channel === 'content') show(textCalls.push(piece.text), out);
      else {
        inline += piece.text;
        out.push({ type: 'delta', ...piece });
      }
    }
  }

  function show(pieces: readonly CallPiece[], out: Delta[]): void {
    for (const piece of pieces) out.push({ type: 'delta', ...piece });
  }

  function takeContent(value: unknown, out: Delta[]): void {
    if (typeof value === 'string') {
      if (value !== '') take(splitter.push(value), out);
      return;
    }
    if (!Array.isArray(value)) return;
    // Mistral sends a list of typed parts, with the reasoning as parts of its own.
    for (const part of value as unknown[]) {
      if (!isRecord(part)) continue;
      if (part.type === 'thinking') {
        const text = typeof part.thinking === 'string' ? part.thinking : partsText(part.thinking);
        const shown = reasoning.pushText('reasoning_content', text);
        if (shown !== '') out.push({ type: 'delta', channel: 'reasoning', text: shown });
      } else {
        takeContent(textOf(part.text), out);
      }
    }
  }

  function takeDelta(delta: JsonRecord, out: Delta[]): void {
    const shown = reasoning.push(delta);
    if (shown !== '') out.push({ type: 'delta', channel: 'reasoning', text: shown });
    takeContent(delta.content, out);
    takeContent(delta.refusal, out);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const entry of delta.tool_calls as unknown[]) {
      const text = calls.push(entry);
      if (text !== '') out.push({ type: 'delta', channel: 'tool', text });
    }
  }

  return {
    push(chunk: unknown): Delta[] {
      const out: Delta[] = [];
      if (!isRecord(chunk)) return out;
      const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
      // Moonshot counts inside the choice.
      const counted = isRecord(choice) && isRecord(choice.usage) ? choice.usage : chunk.usage;
      usage = usageOf(counted) ?? usage;
      costUsd = costOf(counted) ?? costUsd;
      if (!isRecord(choice)) return out;
      const delta = isRecord(choice.delta) ? choice.delta : choice.message;
      if (isRecord(delta)) takeDelta(delta, out);
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') finishReason = choice.finish_reason;
      return out;
    },

    /** The provider said that, or why, the answer is over. */
    get finished(): boolean {
      return finishReason !== null;
    },

    finish(durationMs: number): { answer: ChatAnswer; rest: Delta[] } {
      const unclosed = splitter.unclosed;
      const rest: Delta[] = [];
      take(splitter.end(), rest);
      const visible = textCalls.end(calls.any);
      show(visible.rest, rest);
      let { content } = visible;
      visible.calls.forEach((call, index) => calls.push({ index, function: call }));
      const native = reasoning.text();
      if (native === null && inline === '') {
        const orphan = splitOrphanClose(content);
        if (orphan !== null) {
          inline = orphan.reasoning;
          content = orphan.content;
        }
      }
      const answer: ChatAnswer = {
        content,
        reasoning: joinReasoning(native, inline),
        reasoningDetails: reasoning.details(),
        toolCalls: calls.finish(context.takenIds, context.turn),
        finishReason,
        unclosedReasoning: unclosed,
        usage,
        costUsd,
        durationMs,
      };
      return { answer, rest };
    },
  };
}

/** Some servers separate the reasoning and leave it in the text as well: then it counts once. */
function joinReasoning(native: string | null, inline: string): string | null {
  if (native === null) return inline === '' ? null : inline;
  if (inline === '' || native.trim() === inline.trim()) return native;
  return `${native}\n\n${inline}`;
}

function partsText(value: unknown): string {
  if (!Array.isArray(value)) return '';
  return value.map((part: unknown) => (isRecord(part) ? textOf(part.text) : textOf(part))).join('');
}

function usageOf(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const completion = isRecord(value.completion_tokens_details) ? value.completion_tokens_details : {};
  const prompt = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  return {
    promptTokens: count(value.prompt_tokens),
    completionTokens: count(value.completion_tokens),
    reasoningTokens: count(completion.reasoning_tokens),
    // DeepSeek and Moonshot count cache hits under names of their own.
    cachedTokens: count(prompt.cached_tokens) || count(value.prompt_cache_hit_tokens) || count(value.cached_tokens),
  };
}

/** OpenRouter: US dollars taken from the account; with a key of one's own for the upstream, what that takes comes on top. */
function costOf(value: unknown): number | null {
  if (!isRecord(value) || typeof value.cost !== 'number' || !Number.isFinite(value.cost) || value.cost < 0) return null;
  const upstream = value.is_byok === true && isRecord(value.cost_details) ? value.cost_details.upstream_inference_cost : 0;
  const whole = value.cost + (typeof upstream === 'number' && Number.isFinite(upstream) && upstream > 0 ? upstream : 0);
  return Number(whole.toPrecision(12));
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
