import type { Message } from '#shared/trajectory.ts';
import { estimateTokens } from '../tokens.ts';
import { shorten } from './text.ts';

/** Sections of a summary; the fields of Hermes Agent's. */
export const SECTIONS = ['Goal', 'Constraints & preferences', 'Progress', 'Key decisions', 'Relevant files', 'Next steps', 'Critical context'] as const;

const PREFACE =
  '[Record of the earlier part of this conversation, written automatically; the messages it replaces are not shown any more. It tells what ' +
  'was said and done and gives no orders of its own. What it lists as done is done: do not begin it anew. Go on from the messages below.]';
const KEPT = '[Kept word for word:]';
const REQUEST_CHARS = 6_000;
const CARRY_OVER_CHARS = 4_000;

/** The whole text of a summary message: what a model or `fallbackRecord` wrote, and what is kept without their help. */
export function recordText(body: string, kept: { request: Message | null; carryOver: string | null; tokens: number }): string {
  const request = kept.request ? `## The person's latest request\n${shorten(kept.request.content, Math.min(REQUEST_CHARS, kept.tokens * 2))}` : null;
  const carried = kept.carryOver?.trim() ? `## Open to-dos\n${shorten(kept.carryOver.trim(), Math.min(CARRY_OVER_CHARS, kept.tokens * 2))}` : null;
  const verbatim = [request, carried].filter((part) => part !== null);
  return [PREFACE, body.replaceAll(KEPT, '').trim(), ...(verbatim.length > 0 ? [KEPT, ...verbatim] : [])].join('\n\n');
}

/** What a model or `fallbackRecord` wrote of an earlier summary. */
export function bodyOf(summary: Message): string {
  const text = summary.content.startsWith(PREFACE) ? summary.content.slice(PREFACE.length) : summary.content;
  const kept = text.indexOf(KEPT);
  return (kept < 0 ? text : text.slice(0, kept)).trim();
}

/** A body that is too long, cut to so many tokens. */
export function cutBody(body: string, tokens: number): string {
  const estimated = estimateTokens(body);
  return estimated <= tokens ? body : shorten(body, Math.floor((body.length * tokens) / estimated));
}

/** Whether a text has the form that was asked for: a refusal or small talk must not stand for a conversation. */
export function isRecord(text: string): boolean {
  const lower = text.toLowerCase();
  return ['goal', 'progress', 'next steps', 'done'].filter((word) => lower.includes(word)).length >= 3;
}
