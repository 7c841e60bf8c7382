import type { TFunction } from 'i18next';
import type { PromptItem } from '#shared/contract/runs.ts';
import { EXIT_REASONS, type ExitReason } from '#shared/trajectory.ts';

/** A prompt's reason for people: exit reasons in their words, anything else as the engine said it. */
export function reasonText(reason: string, t: TFunction<['batch', 'app']>): string {
  const known = EXIT_REASONS.find((r): r is ExitReason => r === reason);
  return known ? t(`exitReason.${known}`) : reason;
}

export interface ReasonCount {
  reason: string;
  count: number;
  /** The gravest state seen with it. */
  failed: boolean;
}

/** Longer reasons differ in details (a path, a number) more often than in kind: only their start is compared. */
const SAME_START = 60;

/** Groups prompts by why they did not complete, most frequent first. Pure. */
export function countReasons(items: readonly Pick<PromptItem, 'reason' | 'state'>[]): ReasonCount[] {
  const groups = new Map<string, ReasonCount>();
  for (const { reason, state } of items) {
    if (!reason) continue;
    const key = reason.slice(0, SAME_START);
    const group = groups.get(key) ?? { reason, count: 0, failed: false };
    group.count += 1;
    group.failed ||= state === 'failed';
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}
