import type { Message } from '#shared/trajectory.ts';
import { type ChatAnswer, type ChatModel, ModelError, type ModelEvent } from '../../model/types.ts';
import { estimateTokens, messagesTokens } from '../tokens.ts';
import { isRecord } from './record.ts';
import { askFor, INSTRUCTIONS } from './summary-prompt.ts';
import { transcriptPieces } from './transcript.ts';
import type { CompactionCall } from './types.ts';

/** Beyond this even models with more context begin to overlook things. */
const MOST_PIECE_TOKENS = 120_000;
const LEAST_PIECE_TOKENS = 500;
/** A model whose context length is unknown is believed to have this. */
const UNKNOWN_CONTEXT = 32_000;
/** For models that reason before they write. */
const REASONING_TOKENS = 4_000;
/** Estimates may be too small by so much. */
const INPUT_SHARE = 0.75;
const MAX_HALVINGS = 3;

export interface SummaryTask {
  fresh: readonly Message[];
  /** The record so far, which is to be updated. */
  earlier: string | null;
  targetTokens: number;
  focus: string | null;
  model: ChatModel;
  contextLength: number | null;
  timeoutMs: number;
}

/** Why a model wrote no usable summary; the message is a sentence. */
export class SummaryFailure extends Error {
  override name = 'SummaryFailure';
}

/**
 * The summary as a model writes it. What does not fit its context at once is read in pieces, each of which updates the record. Every
 * paid call is put on `calls`. Throws SummaryFailure; ends at once when the signal says so.
 */
export async function summarise(task: SummaryTask, calls: CompactionCall[], signal: AbortSignal): Promise<string> {
  const context = task.contextLength ?? UNKNOWN_CONTEXT;
  const fixed = estimateTokens(INSTRUCTIONS) + estimateTokens(task.focus ?? '') + 400;
  const output = Math.min(2 * task.targetTokens + REASONING_TOKENS, Math.floor(context / 4));
  const room = Math.floor(INPUT_SHARE * context) - output - fixed - Math.max(task.targetTokens, estimateTokens(task.earlier ?? ''));
  let pieceTokens = Math.min(MOST_PIECE_TOKENS, Math.max(LEAST_PIECE_TOKENS, room));
  for (let halvings = 0; ; halvings++) {
    try {
      let record = task.earlier;
      const pieces = transcriptPieces(task.fresh, pieceTokens);
      for (const [i, piece] of pieces.entries()) {
        const messages = askFor({ record, piece, part: i + 1, parts: pieces.length, targetTokens: task.targetTokens, focus: task.focus });
        record = textOf(await ask(task, messages, output, calls, signal));
      }
      if (record === null) throw new SummaryFailure('there was nothing to summarise');
      return record;
    } catch (error) {
      const tooLong = error instanceof ModelError && error.code === 'context_overflow';
      if (!tooLong || halvings >= MAX_HALVINGS || pieceTokens <= LEAST_PIECE_TOKENS) throw asFailure(error);
      pieceTokens = Math.max(LEAST_PIECE_TOKENS, Math.floor(pieceTokens / 2));
    }
  }
}

async function ask(task: SummaryTask, messages: Message[], maxTokens: number, calls: CompactionCall[], signal: AbortSignal): Promise<ChatAnswer> {
  const timeout = AbortSignal.timeout(task.timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => undefined);
  const stop = () => reject(new SummaryFailure(timeout.aborted ? `it did not answer within ${Math.round(task.timeoutMs / 1000)} seconds` : 'it was interrupted'));
  either.addEventListener('abort', stop, { once: true });
  if (either.aborted) stop();
  const events = task.model.stream({ messages, tools: [], maxTokens }, either)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next: IteratorResult<ModelEvent> = await Promise.race([events.next(), stopped]);
      if (next.done) throw new SummaryFailure('it ended without an answer');
      if (next.value.type !== 'answer') continue;
      calls.push(paidFor(task.model, messages, next.value.answer));
      return next.value.answer;
    }
  } catch (error) {
    // the model may have noticed the abort before the race did
    if (either.aborted) stop();
    throw either.aborted ? await stopped.catch((failure: unknown) => failure) : error;
  } finally {
    either.removeEventListener('abort', stop);
    void events.return?.()?.catch(() => undefined);
  }
}

/** Without counts of the provider's, ours: what was paid must not vanish. */
function paidFor(model: ChatModel, messages: Message[], answer: ChatAnswer): CompactionCall {
  const { provider, model: name } = answer.servedBy ?? model.endpoint;
  const reasoningTokens = estimateTokens(answer.reasoning ?? '');
  const estimated = { promptTokens: messagesTokens(messages), completionTokens: estimateTokens(answer.content) + reasoningTokens, reasoningTokens, cachedTokens: 0 };
  return { provider, model: name, usage: answer.usage ?? estimated, costUsd: answer.costUsd };
}

function textOf(answer: ChatAnswer): string {
  if (answer.toolCalls.length > 0) throw new SummaryFailure('it called tools instead of writing');
  const text = answer.content.trim().replace(/^```\w*\n([\s\S]*)\n```$/, '$1').trim();
  if (text === '') throw new SummaryFailure('its answer was empty');
  if (answer.finishReason === 'length') throw new SummaryFailure('its answer was cut off');
  if (!isRecord(text)) throw new SummaryFailure('its answer was no summary');
  return text;
}

function asFailure(error: unknown): unknown {
  return error instanceof ModelError ? new SummaryFailure(error.message) : error;
}
