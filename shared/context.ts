import type { Message } from './trajectory.ts';

/** The text of user messages in a row, which requests and exports hold as one: both by this, so that what is trained on is what the model read. */
export function joinedText(before: string, after: string): string {
  return before === '' || after === '' ? before + after : `${before}\n\n${after}`;
}

/**
 * What a model is shown of a conversation: the stored messages, where later compactions stand for the messages they cover, and without
 * budget notes of earlier user turns. A pure function of what is stored, so that every request can be rebuilt from its trajectory.
 * @param messages all messages of one trajectory; the index is the seq.
 */
export function contextOf(messages: readonly Message[]): Message[] {
  let covered: { from: number; to: number; message: Message } | null = null;
  let lastRequest = -1;
  messages.forEach((message, seq) => {
    // a later compaction covers at least what an earlier one did
    if (message.compaction) covered = { from: message.compaction.from, to: message.compaction.to, message };
    if (message.role === 'user' && !message.synthetic) lastRequest = seq;
  });
  const context: Message[] = [];
  messages.forEach((message, seq) => {
    if (covered && seq === covered.from) context.push(covered.message);
    if (covered && seq >= covered.from && seq <= covered.to) return;
    if (message.compaction) return;
    if (message.note === 'budget' && seq < lastRequest) return;
    context.push(message);
  });
  return context;
}
