import type { Message } from '#shared/trajectory.ts';
import { estimateTokens } from '../tokens.ts';
import { objectOf, shorten } from './text.ts';

const REQUEST_CHARS = 6_000;
const ANSWER_CHARS = 3_000;
const OLD_RESULT_CHARS = 700;
const LATE_RESULT_CHARS = 2_500;
/** Results among the last so many messages count as late. */
const LATE_MESSAGES = 12;
const ARGUMENT_CHARS = 300;
const ARGUMENTS_CHARS = 1_000;
/** Beyond so many pieces everything is shortened more instead. */
const MAX_PIECES = 6;
const LEAST_SCALE = 1 / 8;

/**
 * Messages as text for whoever summarises them, in pieces of at most `pieceTokens`: reasoning left out, tool results and long
 * arguments shortened (old results more than late ones), everything shorter when there were too many pieces.
 */
export function transcriptPieces(messages: readonly Message[], pieceTokens: number): string[] {
  for (let scale = 1; ; scale /= 2) {
    const pieces = group(messages.map((m, i) => entry(m, scale, i >= messages.length - LATE_MESSAGES)), pieceTokens);
    if (pieces.length <= MAX_PIECES || scale <= LEAST_SCALE) return pieces;
  }
}

function group(entries: readonly string[], pieceTokens: number): string[] {
  const pieces: string[] = [];
  let piece: string[] = [];
  let tokens = 0;
  for (const text of entries) {
    const size = estimateTokens(text) + 1;
    if (piece.length > 0 && tokens + size > pieceTokens) {
      pieces.push(piece.join('\n'));
      piece = [];
      tokens = 0;
    }
    // one entry alone may be larger than a small piece
    const fitting = size > pieceTokens ? shorten(text, Math.floor((text.length * pieceTokens) / size)) : text;
    piece.push(fitting);
    tokens += Math.min(size, pieceTokens);
  }
  if (piece.length > 0) pieces.push(piece.join('\n'));
  return pieces;
}

function entry(m: Message, scale: number, late: boolean): string {
  if (m.role === 'user') return asData(`${m.note === 'skill' ? 'SKILL of the person' : 'PERSON'}: ${shorten(m.content, REQUEST_CHARS * scale)}`);
  if (m.role === 'tool') {
    const head = `RESULT of ${m.toolName ?? 'tool'}${m.isError ? ' (failed)' : ''}`;
    return asData(`${head}: ${shorten(m.content, (late ? LATE_RESULT_CHARS : OLD_RESULT_CHARS) * scale)}`);
  }
  const cut = m.finishReason === 'interrupted' ? ' (interrupted)' : '';
  const lines = m.content.trim() === '' ? [] : [`AGENT${cut}: ${shorten(m.content.trim(), ANSWER_CHARS * scale)}`];
  for (const call of m.toolCalls ?? []) lines.push(`AGENT calls ${call.name} ${shortArguments(call.arguments, scale)}`);
  return asData(lines.join('\n') || 'AGENT: (nothing)');
}

/** Long values are shortened each by itself, so that paths and commands stay whole. */
function shortArguments(raw: string, scale: number): string {
  const args = objectOf(raw);
  if (!args) return shorten(raw, ARGUMENTS_CHARS * scale);
  const short = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? shorten(value, ARGUMENT_CHARS * Math.max(scale, 0.5)) : value]));
  return shorten(JSON.stringify(short), ARGUMENTS_CHARS);
}

/** Takes the meaning from tags that could end the block the text is put into. */
export function asData(text: string): string {
  return text.replace(/<(?=\/?\s*(?:conversation|record)\b)/gi, '‹').toWellFormed();
}
