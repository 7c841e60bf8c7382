import type { PromptState } from '#shared/contract/runs.ts';
import { addUsage, type ToolStat, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';

/** Models make up names of tools without end; those beyond so many are counted together. */
const MAX_TOOL_NAMES = 300;
const OTHER_TOOLS = '(other)';

/**
 * Sums of a run over all its passes. Tokens count every attempt; turns and tools count what the output files hold (completed and
 * partial rollouts), as the statistics of Hermes Agent's batch runner do.
 */
export interface Totals {
  usage: Usage;
  /** The part of `usage` that went to attempts which were made again. */
  lost: Usage;
  turns: number;
  turnsWithReasoning: number;
  toolStats: Record<string, ToolStat>;
  /** Of the rollouts that have a reward. */
  rewards: { count: number; sum: number };
  /** Rollouts by state, those of removed rows too. */
  counts: Partial<Record<PromptState, number>>;
  /** Failed and discarded rollouts by cause. */
  causes: Record<string, number>;
  /** Rollouts whose row the dataset no longer has. */
  removed: number;
}

/** What one ended attempt adds. */
export interface AttemptTotals {
  usage: Usage;
  /** Null when it is not in the files. */
  kept: { turns: number; turnsWithReasoning: number; toolStats: Record<string, ToolStat> } | null;
  reward: number | null;
}

export function emptyTotals(): Totals {
  return {
    usage: ZERO_USAGE,
    lost: ZERO_USAGE,
    turns: 0,
    turnsWithReasoning: 0,
    toolStats: table(),
    rewards: { count: 0, sum: 0 },
    counts: {},
    causes: table(),
    removed: 0,
  };
}

/** Totals as they were stored; null when that was before rollouts had causes and rewards, so that they must be counted anew. */
export function parseTotals(json: string): Totals | null {
  const stored = JSON.parse(json) as Partial<Totals>;
  if (!stored.counts || !stored.causes || !stored.rewards) return null;
  return { ...emptyTotals(), ...stored, toolStats: Object.assign(table<ToolStat>(), stored.toolStats), causes: Object.assign(table<number>(), stored.causes) };
}

/** Adds an attempt in place. */
export function addAttempt(totals: Totals, { usage, kept, reward }: AttemptTotals): void {
  totals.usage = addUsage(totals.usage, usage);
  addReward(totals, reward, 1);
  if (!kept) return;
  totals.turns += kept.turns;
  totals.turnsWithReasoning += kept.turnsWithReasoning;
  for (const [name, stat] of Object.entries(kept.toolStats)) {
    const known = name in totals.toolStats || Object.keys(totals.toolStats).length < MAX_TOOL_NAMES;
    const sum = (totals.toolStats[known ? name : OTHER_TOOLS] ??= { count: 0, success: 0, failure: 0 });
    sum.count += stat.count;
    sum.success += stat.success;
    sum.failure += stat.failure;
  }
}

/** Takes a reward into account, or (with -1) out of it again. */
export function addReward({ rewards }: Totals, reward: number | null, times: 1 | -1): void {
  if (reward === null) return;
  rewards.count += times;
  // what is left of floating sums is no reward
  rewards.sum = rewards.count === 0 ? 0 : rewards.sum + times * reward;
}

/** Counts a rollout that went from one state and cause to another. */
export function moveRollout({ counts, causes }: Totals, from: { state: PromptState; cause: string | null }, to: { state: PromptState; cause: string | null }): void {
  add(counts, from.state, -1);
  add(counts, to.state, 1);
  if (from.cause !== null) add(causes, from.cause, -1);
  if (to.cause !== null) add(causes, to.cause, 1);
}

function add<K extends string>(table: Partial<Record<K, number>>, key: K, times: 1 | -1): void {
  const sum = (table[key] ?? 0) + times;
  if (sum > 0) table[key] = sum;
  else delete table[key];
}

/** Names come from models and people: "__proto__" must be a name like any other. */
function table<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

const RATE_WINDOW_MS = 60_000;
const RATE_SLOTS = 60;
const SLOT_MS = RATE_WINDOW_MS / RATE_SLOTS;

/** How fast rollouts end, over the last minute of the present pass. */
export class Rate {
  readonly #now: () => number;
  readonly #startedAt: number;
  /** Ends by second, in a ring. */
  readonly #slots = new Uint32Array(RATE_SLOTS);
  #slot: number;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
    this.#slot = Math.floor(this.#startedAt / SLOT_MS);
  }

  ended(): void {
    this.#turn();
    this.#slots[this.#slot % RATE_SLOTS]! += 1;
    this.#count += 1;
  }

  /** Rollouts per second; null before the first end. */
  perSecond(): number | null {
    if (this.#count === 0) return null;
    this.#turn();
    const recent = this.#slots.reduce((a, b) => a + b, 0);
    const active = Math.max(this.#now() - this.#startedAt, 1);
    // nothing ended for a minute: the whole pass says more than zero
    if (recent === 0) return (this.#count / active) * 1000;
    return (recent / Math.min(active, RATE_WINDOW_MS)) * 1000;
  }

  #turn(): void {
    const slot = Math.floor(this.#now() / SLOT_MS);
    if (slot - this.#slot >= RATE_SLOTS) this.#slots.fill(0);
    else for (let s = this.#slot + 1; s <= slot; s += 1) this.#slots[s % RATE_SLOTS] = 0;
    this.#slot = Math.max(slot, this.#slot);
  }
}
