import { contextOf } from '#shared/context.ts';
import type { Compaction, Message } from '#shared/trajectory.ts';
import { messagesTokens } from '../tokens.ts';
import { fallbackRecord } from './fallback.ts';
import { type Range, rangeOf, WORTHWHILE } from './range.ts';
import { bodyOf, cutBody, recordText } from './record.ts';
import { SummaryFailure, summarise } from './summarise.ts';
import type { CompactionCall, CompactionJob, CompactionResult } from './types.ts';

const CALL_TIMEOUT_MS = 120_000;
const NOTHING_TO_GAIN = 'There is nothing to gain from compressing: what could be summarised is too short beside what has to stay.';

/**
 * Replaces older messages by one structured summary, so that a conversation fits its model's context again. Head (system and first
 * request) and tail stay as they are; an earlier summary is updated, and lies in what the new one covers. When the model fails, the
 * summary is made from the messages without it, and `reason` says so. The caller stores `message` next; see `contextOf`.
 * Rules: context compression of Hermes Agent. Never throws for what a model does; ends within a second of the signal, then without a
 * message.
 */
export async function compactHistory(job: CompactionJob, signal: AbortSignal): Promise<CompactionResult> {
  const range = rangeOf(job);
  if (range === null) return { message: null, reason: NOTHING_TO_GAIN, calls: [] };
  const { most, target } = range.budget;
  const earlier = range.previous && bodyOf(range.previous);
  const calls: CompactionCall[] = [];
  let reason: string | null = null;
  try {
    const task = {
      fresh: range.fresh,
      earlier,
      targetTokens: target,
      focus: job.focus?.trim() || null,
      model: job.model,
      contextLength: job.summaryContextLength === undefined ? job.contextLength : job.summaryContextLength,
      timeoutMs: job.timeoutMs ?? CALL_TIMEOUT_MS,
    };
    const body = await summarise(task, calls, signal);
    const message = summaryMessage(job, range, cutBody(body, most), 'model');
    if (message) return { message, reason: null, calls };
  } catch (error) {
    if (!(error instanceof SummaryFailure) && !signal.aborted) throw error;
    reason = `The model could not summarise the conversation (${(error as Error).message.replace(/\.$/, '')}); the summary was made without it.`;
  }
  if (signal.aborted) return { message: null, reason: 'Compressing was interrupted.', calls };
  const message = summaryMessage(job, range, fallbackRecord(range.fresh, earlier, target), 'fallback');
  return { message, reason: message ? reason : NOTHING_TO_GAIN, calls };
}

/** Null when the context would not become enough shorter. */
function summaryMessage(job: CompactionJob, range: Range, body: string, method: Compaction['method']): Message | null {
  const content = recordText(body, { request: range.request, carryOver: job.carryOver?.() ?? null, tokens: range.budget.target });
  const compaction = { from: range.from, to: range.to, method, tokensBefore: range.tokensBefore, tokensAfter: 0 };
  const message: Message = { role: 'user', content, synthetic: true, note: 'compaction', compaction, createdAt: job.now() };
  const tokensAfter = messagesTokens(contextOf([...job.messages, message]));
  return tokensAfter < WORTHWHILE * range.tokensBefore ? { ...message, compaction: { ...compaction, tokensAfter } } : null;
}
