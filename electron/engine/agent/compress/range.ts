import { contextOf } from '#shared/context.ts';
import { isRequest, type Message } from '#shared/trajectory.ts';
import { messagesTokens, messageTokens } from '../tokens.ts';
import { summaryTokens } from './size.ts';
import type { CompactionJob } from './types.ts';

/** Less than this part of the context must be left, or compressing is not worth a rewritten prompt. */
export const WORTHWHILE = 0.9;
/** What is said around the summary, and what is kept word for word. */
const OVERHEAD_TOKENS = 150;
/** A first request above this part of the threshold would leave no room for anything else: it is covered too. */
const HUGE_REQUEST = 0.5;

export interface Range {
  /** Seqs, inclusive. */
  from: number;
  to: number;
  /** The summary that the new one updates; it lies in what is covered. */
  previous: Message | null;
  /** What the summary has to tell: covered now for the first time, without what the harness wrote. */
  fresh: Message[];
  /** The person's last request, when the model would see it no more. */
  request: Message | null;
  tokensBefore: number;
  /** For the summary. */
  budget: { target: number; most: number };
}

/**
 * What a compaction would cover: everything between head (system, first request and the skills run with it) and tail. The tail is what fits its share of the
 * threshold, at least `protectLast` messages unless nothing were gained by that, and begins where no call is split from its
 * results, and no request from the skills run with it. Null when nothing is to be gained.
 */
export function rangeOf({ messages, settings, contextLength, force = false }: CompactionJob): Range | null {
  const threshold = contextLength * settings.threshold;
  const previous = messages.findLast((m) => m.compaction !== undefined) ?? null;
  const shown = contextOf(messages);
  const tokensBefore = messagesTokens(shown);
  const visible = new Set(shown);
  const first = messages.findIndex(isRequest);
  const behind = first + 1 + skillsAt(messages, first + 1);
  const isHuge = first >= 0 && messagesTokens(messages.slice(first, behind)) > HUGE_REQUEST * threshold;
  const head = first < 0 ? messages.findIndex((m) => m.role !== 'system') : isHuge ? first : behind;
  if (head < 0) return null;
  const from = Math.min(head, previous?.compaction?.from ?? head);
  const covered = previous?.compaction ? Math.max(from, previous.compaction.to + 1) : from;

  const tailTokens = threshold * settings.tailRatio;
  const tails = [
    { count: settings.protectLast, tokens: tailTokens },
    { count: 1, tokens: tailTokens },
    ...(force ? [0.3, 0.15, 0].map((part) => ({ count: 1, tokens: Math.min(tailTokens, part * tokensBefore) })) : []),
  ];
  for (const tail of tails) {
    const start = tailStart(messages, visible, covered, tail);
    if (start <= covered) continue;
    const gone = messages.slice(from, start).filter((m) => visible.has(m));
    const goneTokens = messagesTokens(gone) + (previous && !gone.includes(previous) ? messageTokens(previous) : 0);
    const budget = summaryTokens(goneTokens, contextLength);
    // a summary that is updated does not become shorter by it
    const expected = OVERHEAD_TOKENS + Math.max(budget.target, Math.min(budget.most, previous ? messageTokens(previous) : 0));
    if (tokensBefore - goneTokens + expected >= WORTHWHILE * tokensBefore) continue;
    const last = messages.findLastIndex(isRequest);
    return {
      from,
      to: start - 1,
      previous,
      fresh: messages.slice(from, start).filter((m, i) => !isCovered(previous, from + i) && !m.synthetic && m.role !== 'system'),
      request: last >= from && last < start ? messages[last]! : null,
      tokensBefore,
      budget,
    };
  }
  return null;
}

function isCovered(previous: Message | null, seq: number): boolean {
  const range = previous?.compaction;
  return range !== undefined && seq >= range.from && seq <= range.to;
}

/** Where the tail begins: as early as its tokens allow, then moved to the next earlier place that splits nothing. */
function tailStart(messages: readonly Message[], visible: ReadonlySet<Message>, floor: number, tail: { count: number; tokens: number }): number {
  let start = messages.length;
  let tokens = 0;
  let count = 0;
  for (let i = messages.length - 1; i >= floor; i--) {
    const message = messages[i]!;
    if (message.compaction === undefined && visible.has(message)) {
      tokens += messageTokens(message);
      if (++count > tail.count && tokens > tail.tokens) break;
    }
    start = i;
  }
  while (start > floor && !isBorder(messages, start)) start--;
  return start;
}

/** How many texts of skills there are from `at` on, before anything else. */
function skillsAt(messages: readonly Message[], at: number): number {
  let count = 0;
  while (messages[at + count]?.note === 'skill') count++;
  return count;
}

/** No result at or after `at` answers a call before it, and no skill is run by a request before it. A result belongs to the last assistant message before it. */
function isBorder(messages: readonly Message[], at: number): boolean {
  if (messages[at]?.note === 'skill') return false;
  for (let i = at; i < messages.length && messages[i]!.role !== 'assistant'; i++) if (messages[i]!.role === 'tool') return false;
  return at < messages.length;
}
