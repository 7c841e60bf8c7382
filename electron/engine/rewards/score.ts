import type { ScoreRule } from '#shared/scoring.ts';
import type { ScoreResult } from '../batch/queue/types.ts';
import { scoreExact, scoreNumeric } from './match.ts';
import { scoreJson } from './json.ts';
import { matchPattern } from './pattern.ts';
import { scoreTests } from './tests/score.ts';
import { type ScoreContext, type ScoreSubject, unknown, type Verdict } from './types.ts';
import { because } from './why.ts';

/**
 * Scores one attempt by each of the rules, in their order. Never throws: a rule that cannot say has the value null and tells why.
 * An attempt without an answer is wrong (0), not unknown.
 */
export async function scoreRollout(rules: readonly ScoreRule[], subject: ScoreSubject, context: ScoreContext): Promise<ScoreResult[]> {
  const results: ScoreResult[] = [];
  for (const rule of rules) {
    let verdict: Verdict;
    try {
      verdict = await verdictOf(rule, subject, context);
    } catch (error) {
      verdict = unknown(error instanceof Error ? error.message : String(error));
    }
    const value = verdict.value !== null && Number.isFinite(verdict.value) ? verdict.value : null;
    results.push({ name: rule.name, rule: rule.text, value, weight: rule.weight, detail: verdict.detail });
  }
  return results;
}

/**
 * The weighted sum of what could be said; null when nothing could. Rules of weight 0 are kept for their own sake and are no part of it.
 */
export function rewardOf(scores: readonly Pick<ScoreResult, 'value' | 'weight'>[]): number | null {
  const said = scores.filter((s) => s.value !== null && s.weight !== 0);
  return said.length === 0 ? null : said.reduce((sum, s) => sum + s.value! * s.weight, 0);
}

/** A person's 1 to 5 stars as a value from 0 to 1. */
export function ratingValue(rating: number): number {
  return (rating - 1) / 4;
}

function verdictOf(rule: ScoreRule, subject: ScoreSubject, context: ScoreContext): Verdict | Promise<Verdict> {
  switch (rule.kind) {
    case 'exact':
      return scoreExact(subject);
    case 'numeric':
      return scoreNumeric(subject, rule.tolerance);
    case 'json':
      return scoreJson(subject);
    case 'regex':
      return scoreRegex(rule, subject, context.signal);
    case 'tests':
      return scoreTests(rule, subject, context);
    case 'turns':
      return { value: subject.turns, detail: {} };
    case 'tool_errors':
      return { value: subject.toolErrors, detail: {} };
    case 'length':
      return scoreLength(rule.target, subject.finalAnswer ?? '');
    case 'rating':
      return subject.rating === null ? unknown(because('not_rated')) : { value: ratingValue(subject.rating), detail: { rating: subject.rating } };
  }
}

async function scoreRegex(rule: Extract<ScoreRule, { kind: 'regex' }>, { finalAnswer }: ScoreSubject, signal: AbortSignal): Promise<Verdict> {
  if (finalAnswer === null) return { value: 0, detail: because('no_answer') };
  const outcome = await matchPattern(rule.source, rule.flags, finalAnswer, signal);
  return typeof outcome === 'string' ? unknown(outcome) : { value: outcome.found === null ? 0 : 1, detail: outcome.found === null ? {} : { found: outcome.found } };
}

/** 1 inside the target; outside it falls with the ratio to the nearer border. */
function scoreLength(target: { min: number; max: number } | null, answer: string): Verdict {
  const chars = answer.length;
  if (target === null) return { value: chars, detail: { chars } };
  const value = chars < target.min ? chars / target.min : chars > target.max ? target.max / chars : 1;
  return { value, detail: { chars } };
}
