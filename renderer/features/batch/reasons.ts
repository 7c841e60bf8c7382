import type { TFunction } from 'i18next';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';
import { EXIT_REASONS, type ExitReason } from '#shared/trajectory.ts';

/** The engine's own sentences that have a word here; those of providers and tools are shown as they are. */
const TURN_LIMIT = /^The limit of \d+ model calls was reached\.$/;
const INTERRUPTED = 'The run was interrupted.';
const NO_REASONING = 'No assistant turn has reasoning.';

/** A prompt's reason for people: what the engine itself found in the page's words, anything else as it was said. */
export function reasonText(reason: string, t: TFunction<['batch', 'app']>): string {
  if (TURN_LIMIT.test(reason)) return t('exitReason.max_turns');
  if (reason === INTERRUPTED) return t('exitReason.interrupted');
  if (reason === NO_REASONING) return t('reasons.noReasoning');
  const known = EXIT_REASONS.find((r): r is ExitReason => r === reason);
  return known ? t(`exitReason.${known}`) : reason;
}

export interface ReasonCount {
  reason: string;
  count: number;
  /** The gravest state seen with it: gives its colour. */
  state: PromptState;
}

/** Longer reasons differ in details (a path, a number) more often than in kind: only their start is compared. */
const SAME_START = 60;

const GRAVEST: readonly PromptState[] = ['discarded', 'partial', 'failed'];

/** Groups prompts by why they did not complete, most frequent first. Pure. */
export function countReasons(items: readonly Pick<PromptItem, 'reason' | 'state'>[]): ReasonCount[] {
  const groups = new Map<string, ReasonCount>();
  for (const { reason, state } of items) {
    if (!reason) continue;
    const key = reason.slice(0, SAME_START);
    const group = groups.get(key) ?? { reason, count: 0, state };
    group.count += 1;
    if (GRAVEST.indexOf(state) > GRAVEST.indexOf(group.state)) group.state = state;
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}
