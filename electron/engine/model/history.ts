import { joinedText } from '#shared/context.ts';
import type { Message, ToolCall } from '#shared/trajectory.ts';

const MISSING_RESULT = JSON.stringify({ error: 'No result of this call was recorded: it was interrupted before it could end.' });

/**
 * Makes a conversation acceptable to strict providers, without touching what is already right:
 * - every tool call has exactly one result, directly after its assistant message, in call order;
 * - results that answer no call are dropped, of several results for one call the first is kept, a missing one is stubbed
 *   (marked synthetic);
 * - two calls of one message never share an id: the later one is renamed, and gets the later result;
 * - lone surrogates, which are no valid UTF-8, become U+FFFD.
 * A result belongs to the last assistant message before it.
 */
export function repairHistory(messages: readonly Message[]): Message[] {
  const repaired: Message[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message === undefined || message.role === 'tool') continue;
    if (message.role !== 'assistant' || message.toolCalls === undefined || message.toolCalls.length === 0) {
      repaired.push(wellFormed(message));
      continue;
    }
    const results = resultsAfter(messages, at);
    const calls = uniqueIds(message.toolCalls);
    repaired.push(wellFormed({ ...message, toolCalls: calls }));
    message.toolCalls.forEach((original, index) => {
      const call = calls[index] ?? original;
      const found = results.get(original.id)?.shift();
      repaired.push(wellFormed(found ? { ...found, toolCallId: call.id } : stub(call, message.createdAt)));
    });
  }
  return repaired;
}

/**
 * User messages in a row (texts of skills, notes, a summary, what was said meanwhile) become one, and so do system messages: chat templates that want the
 * roles to alternate refuse the request else (Mistral, Gemma). For messages that `repairHistory` has gone over.
 */
export function joinNeighbours(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    if (before === undefined || before.role !== message.role || (message.role !== 'user' && message.role !== 'system')) joined.push(message);
    else joined[joined.length - 1] = joinedWith(before, message);
  }
  return joined;
}

function joinedWith(before: Message, message: Message): Message {
  const attachments = [...(before.attachments ?? []), ...(message.attachments ?? [])];
  return {
    ...before,
    content: joinedText(before.content, message.content),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

const READ = 'I have read the results.';

/** Puts a word of the assistant between a result and a user message: some servers refuse one directly behind the other. */
export function answerBeforeUser(messages: readonly Message[]): Message[] {
  return messages.flatMap((message, at): Message[] =>
    message.role === 'user' && messages[at - 1]?.role === 'tool' ? [{ role: 'assistant', content: READ, synthetic: true, createdAt: message.createdAt }, message] : [message],
  );
}

function resultsAfter(messages: readonly Message[], at: number): Map<string, Message[]> {
  const results = new Map<string, Message[]>();
  for (const message of messages.slice(at + 1)) {
    if (message.role === 'assistant') break;
    if (message.role !== 'tool' || message.toolCallId === undefined) continue;
    const earlier = results.get(message.toolCallId);
    if (earlier) earlier.push(message);
    else results.set(message.toolCallId, [message]);
  }
  return results;
}

function uniqueIds(calls: readonly ToolCall[]): ToolCall[] {
  const all = new Set(calls.map((call) => call.id));
  if (all.size === calls.length) return [...calls];
  const taken = new Set<string>();
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; taken.has(id) || (id !== call.id && all.has(id)); n += 1) id = `${call.id}_${n}`;
    taken.add(id);
    return { ...call, id };
  });
}

function stub(call: ToolCall, createdAt: number): Message {
  return { role: 'tool', content: MISSING_RESULT, toolCallId: call.id, toolName: call.name, isError: true, synthetic: true, createdAt };
}

function wellFormed(message: Message): Message {
  const fixed: Message = { ...message, content: message.content.toWellFormed() };
  if (message.reasoning !== undefined) fixed.reasoning = message.reasoning.toWellFormed();
  if (message.toolCallId !== undefined) fixed.toolCallId = message.toolCallId.toWellFormed();
  if (message.toolCalls !== undefined) {
    fixed.toolCalls = message.toolCalls.map((call) => ({
      id: call.id.toWellFormed(),
      name: call.name.toWellFormed(),
      arguments: call.arguments.toWellFormed(),
    }));
  }
  if (message.reasoningDetails !== undefined) fixed.reasoningDetails = message.reasoningDetails.map(wellFormedValue);
  return fixed;
}

function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedValue(item)]));
}
