import { addUsage, type ToolStat, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';

/**
 * Sums of a run over all its passes. Tokens count every attempt; turns and tools count what the output files hold (completed and
 * partial prompts), as the statistics of Hermes Agent's batch runner do.
 */
export interface Totals {
  usage: Usage;
  /** The part of `usage` that went to attempts which were made again. */
  lost: Usage;
  turns: number;
  turnsWithReasoning: number;
  toolStats: Record<string, ToolStat>;
}

/** What one ended attempt adds. */
export interface AttemptTotals {
  usage: Usage;
  /** Null when it is not in the files. */
  kept: { turns: number; turnsWithReasoning: number; toolStats: Record<string, ToolStat> } | null;
}

export function emptyTotals(): Totals {
  // models make up tool names: "__proto__" must be a name like any other
  return { usage: ZERO_USAGE, lost: ZERO_USAGE, turns: 0, turnsWithReasoning: 0, toolStats: Object.create(null) as Record<string, ToolStat> };
}

/** Adds an attempt in place. */
export function addAttempt(totals: Totals, attempt: AttemptTotals): void {
  totals.usage = addUsage(totals.usage, attempt.usage);
  if (!attempt.kept) return;
  totals.turns += attempt.kept.turns;
  totals.turnsWithReasoning += attempt.kept.turnsWithReasoning;
  for (const [name, stat] of Object.entries(attempt.kept.toolStats)) {
    const sum = (totals.toolStats[name] ??= { count: 0, success: 0, failure: 0 });
    sum.count += stat.count;
    sum.success += stat.success;
    sum.failure += stat.failure;
  }
}

const RATE_WINDOW_MS = 60_000;

/** How fast prompts end, over the last minute of the present pass. */
export class Rate {
  readonly #now: () => number;
  readonly #startedAt: number;
  #ends: number[] = [];
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  ended(): void {
    this.#ends.push(this.#now());
    this.#count += 1;
  }

  /** Prompts per second; null before the first end. */
  perSecond(): number | null {
    if (this.#count === 0) return null;
    const now = this.#now();
    const from = now - RATE_WINDOW_MS;
    if (this.#ends[0] !== undefined && this.#ends[0] < from) this.#ends = this.#ends.filter((t) => t >= from);
    const active = Math.max(now - this.#startedAt, 1);
    // nothing ended for a minute: the whole pass says more than zero
    if (this.#ends.length === 0) return (this.#count / active) * 1000;
    return (this.#ends.length / Math.min(active, RATE_WINDOW_MS)) * 1000;
  }
}
