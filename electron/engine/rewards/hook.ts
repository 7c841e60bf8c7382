import { parseScoreRules, rulesOfRow, type ScoreRule } from '#shared/scoring.ts';
import type { Message } from '#shared/trajectory.ts';
import type { RolloutTask, ScoreResult } from '../batch/queue/types.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { scoreRollout } from './score.ts';

/** An attempt that has just ended, in its own sandbox. */
interface EndedRollout {
  task: Pick<RolloutTask, 'prompt' | 'row' | 'spec'>;
  sandbox: Sandbox;
  finalAnswer: string | null;
  messages: readonly Message[];
  signal: AbortSignal;
}

/** Scores attempts as they end, by the rules of their row or else of their run. Never rejects. */
export function createRolloutScorer(): (rollout: EndedRollout) => Promise<ScoreResult[]> {
  const parsed = new WeakMap<readonly string[], ReturnType<typeof rulesFor>>();
  return async ({ task, sandbox, finalAnswer, messages, signal }) => {
    const { prompt, row, spec } = task;
    let rules = row['scoring'] === undefined ? parsed.get(spec.scoring) : undefined;
    if (rules === undefined) {
      rules = rulesFor(row, spec.scoring);
      if (row['scoring'] === undefined) parsed.set(spec.scoring, rules);
    }
    if ('error' in rules) return [rules.error];
    return scoreRollout(rules.rules, { prompt, row, finalAnswer, ...countsOf(messages), rating: null }, { sandbox, signal });
  };
}

/** A row's own rules take the place of the run's. Rules that cannot be read are a score that says so. */
export function rulesFor(row: Readonly<Record<string, unknown>>, scoring: readonly string[]): { rules: ScoreRule[] } | { error: ScoreResult } {
  try {
    return { rules: rulesOfRow(row['scoring']) ?? parseScoreRules(scoring) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { error: { name: 'scoring', rule: '', value: null, weight: 1, detail: { why } } };
  }
}

function countsOf(messages: readonly Message[]): { turns: number; toolErrors: number } {
  return {
    turns: messages.filter((m) => m.role === 'assistant').length,
    toolErrors: messages.filter((m) => m.role === 'tool' && m.isError).length,
  };
}
