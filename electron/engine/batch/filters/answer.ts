import { createHash } from 'node:crypto';
import type { Message } from '#shared/trajectory.ts';
import { splitReasoning } from '../../trajectories/export/scratchpad.ts';

/** Text of the last answer without reasoning; empty when the last turn called tools or there is none. */
export function finalAnswer(messages: readonly Message[]): string {
  const last = messages.findLast((m) => m.role === 'assistant' && !m.synthetic);
  return !last || last.toolCalls?.length ? '' : splitReasoning(last.content).content.trim();
}

/** The same for answers that differ only in white space, case or form of their characters. */
export function answerHash(answer: string): string {
  return createHash('sha256').update(answer.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()).digest('base64url').slice(0, 24);
}
