import type { SessionSummary } from '#shared/contract/chats.ts';

export type News = 'asks' | 'ended' | 'failed';
type Known = Pick<SessionSummary, 'state' | 'exitReason' | 'error'>;

/** What a change of a chat is to somebody who does not look at it; null when it is nothing. @param before as it was known, if it was */
export function newsOf(before: Known | undefined, now: Known): News | null {
  if (now.state === 'asking') return before?.state === 'asking' ? null : 'asks';
  if (now.state !== 'idle' || before === undefined || before.state === 'idle') return null;
  // Stopped by the person: that is no news to the person.
  if (now.exitReason === 'interrupted') return null;
  return now.exitReason === 'completed' ? 'ended' : 'failed';
}
