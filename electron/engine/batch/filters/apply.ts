import type { Filter } from '#shared/filters.ts';
import { type Message, outcomeOf } from '#shared/trajectory.ts';
import { hasIncompleteScratchpad, splitReasoning } from '../../trajectories/export/scratchpad.ts';
import { finalAnswer } from './answer.ts';
import { findLoop } from './looped.ts';
import { findRefusal } from './refusal.ts';
import { matchesRule } from './rule.ts';
import type { FilterHit, FilterSubject } from './types.ts';

/** The first filter that matches; null when the trajectory stays. Never throws for anything a model or a dataset says. */
export function applyFilters(filters: readonly Filter[], subject: FilterSubject): FilterHit | null {
  for (const filter of filters) {
    const reason = reasonOf(filter, subject);
    if (reason !== null) return { cause: filter.name, reason };
  }
  return null;
}

/** Every filter that matches, by name: what each would leave out if it were alone. */
export function matchingFilters(filters: readonly Filter[], subject: FilterSubject): string[] {
  return filters.filter((filter) => reasonOf(filter, subject) !== null).map((f) => f.name);
}

function reasonOf(filter: Filter, subject: FilterSubject): string | null {
  const { facts } = subject;
  switch (filter.kind) {
    case 'no_reasoning':
      return hasReasoning(subject) ? null : 'No assistant turn has reasoning.';
    case 'unknown_tool': {
      const name = unknownTool(subject);
      return name === null ? null : `It calls ${JSON.stringify(name.slice(0, 80))}, which is no tool that was offered.`;
    }
    case 'incomplete_scratchpad':
      return answers(subject).some((m) => [m.content, m.reasoning ?? ''].some(isIncomplete)) ? 'A block of reasoning was opened and never closed.' : null;
    case 'partial':
      return outcomeOf({ state: 'ended', exitReason: facts.exitReason, discardReason: null }) === 'partial' ? `It did not come to its end (${facts.exitReason}).` : null;
    case 'truncated':
      return isTruncated(subject) ? 'An answer was cut off by a length limit.' : null;
    case 'refused': {
      const words = findRefusal(finalAnswer(subject.messages()));
      return words === null ? null : `The answer is a refusal: “${words}”`;
    }
    case 'too_short': {
      const length = [...finalAnswer(subject.messages())].length;
      return length < filter.chars ? `The final answer has ${length} characters; ${filter.chars} are asked for.` : null;
    }
    case 'looped':
      return findLoop(subject.messages());
    case 'duplicate_answer': {
      const answer = finalAnswer(subject.messages());
      const other = answer === '' ? null : subject.sameAnswer(answer, filter.samePrompt);
      return other && `The final answer is that of prompt ${other.promptIndex}${other.rollout > 0 || other.promptIndex === subject.promptIndex ? `, rollout ${other.rollout}` : ''}.`;
    }
    case 'rule':
      return matchesRule(filter, subject) ? `It matches ${filter.field} ${filter.op} ${valueText(filter.value)}.` : null;
  }
}

function answers(subject: FilterSubject): Message[] {
  return subject.messages().filter((m) => m.role === 'assistant' && !m.synthetic);
}

function hasReasoning(subject: FilterSubject): boolean {
  return subject.facts.turnsWithReasoning > 0 || answers(subject).some((m) => Boolean(m.reasoning?.trim()) || splitReasoning(m.content).reasoning !== '');
}

function unknownTool(subject: FilterSubject): string | null {
  if (subject.facts.toolCalls === 0) return null;
  const offered = new Set(subject.facts.tools.map((t) => t.name));
  for (const m of answers(subject)) for (const call of m.toolCalls ?? []) if (!offered.has(call.name)) return call.name;
  return null;
}

function isIncomplete(text: string): boolean {
  return hasIncompleteScratchpad(text) || (/^\s*<think>/.test(text) && !text.includes('</think>'));
}

function isTruncated(subject: FilterSubject): boolean {
  if (subject.facts.exitReason === 'truncated' || subject.facts.exitReason === 'context_overflow') return true;
  return answers(subject).at(-1)?.finishReason === 'length';
}

function valueText(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? `/${(value as { pattern: string }).pattern}/` : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
