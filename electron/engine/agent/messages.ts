import type { Message } from '#shared/trajectory.ts';
import type { ChatAnswer } from '../model/types.ts';
import type { CheckedCall } from './calls.ts';
import { lostResult } from './execute.ts';
import type { AgentRun, Stop } from './run.ts';

/** What a model answered, as it is kept: with the calls as they are run. */
export function assistantMessage(run: AgentRun, answer: ChatAnswer, checked: readonly CheckedCall[] = []): Message {
  return {
    role: 'assistant',
    content: answer.content,
    ...(answer.reasoning ? { reasoning: answer.reasoning } : {}),
    ...(answer.reasoningDetails ? { reasoningDetails: answer.reasoningDetails } : {}),
    ...(checked.length > 0 ? { toolCalls: checked.map((c) => c.call) } : {}),
    ...(answer.finishReason ? { finishReason: answer.finishReason } : {}),
    ...(answer.usage ? { usage: answer.usage } : {}),
    createdAt: run.deps.now(),
    durationMs: answer.durationMs,
  };
}

/** What was heard of an answer before it was interrupted: people want to keep it, and it replays like any other. */
export function partialMessage(run: AgentRun, partial: NonNullable<Stop['partial']>): Message {
  const { content, reasoning } = partial;
  return { role: 'assistant', content, ...(reasoning ? { reasoning } : {}), finishReason: 'interrupted', createdAt: run.deps.now() };
}

/** What a call is answered with when the program ended while it ran. */
export const LOST_RESULT = 'No result of this call was recorded: the program ended while it ran.';

/** A result for every call of the last assistant message that has none. */
export function missingResults(messages: readonly Message[], text: string, now: number): Message[] {
  const at = messages.findLastIndex((m) => m.role === 'assistant');
  const answered = new Set(messages.slice(at + 1).map((m) => m.toolCallId));
  return (messages[at]?.toolCalls ?? []).filter((call) => !answered.has(call.id)).map((call) => lostResult(call, text, now));
}
