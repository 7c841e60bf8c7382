import type { Turn } from './turns.ts';

/** A turn as plain text with marks that people and models both read: for pasting into a note or an issue. */
export function turnAsText(turn: Turn): string {
  const { message } = turn;
  const parts: string[] = [];
  if (message.reasoning) parts.push(`<think>\n${message.reasoning.trim()}\n</think>`);
  if (message.content.trim() !== '') parts.push(message.content.trim());
  if (turn.kind === 'assistant') {
    for (const { call, result } of turn.calls) {
      parts.push(`→ ${call.name} ${call.arguments}`);
      if (result) parts.push(`← ${result.content.trim()}`);
    }
    for (const stray of turn.strays) parts.push(`← ${stray.content.trim()}`);
  }
  return parts.join('\n\n');
}
