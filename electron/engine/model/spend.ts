import { sql } from 'kysely';
import type { SpendLine, SpendPurpose } from '#shared/contract/chats.ts';
import type { Caps, Price, PriceRow } from '#shared/contract/spend.ts';
import type { Usage } from '#shared/trajectory.ts';
import type { ConfigChange, ConfigFile } from '../store/config.ts';
import { type Database, sqlFor } from '../store/database.ts';
import { costOf, findPrice, priceRows } from './prices.ts';

const DAYS_SHOWN = 30;
const UNPRICED_SHOWN = 50;

/** Compiled with the first call: columns and their order never change. */
let addDay: string | null = null;
let addTrajectory: string | null = null;

/** One paid model call. */
export interface Spent {
  purpose: SpendPurpose;
  provider: string;
  model: string;
  usage: Usage;
  /** What the provider said; null: by the price table. */
  costUsd: number | null;
  /** `n` of the trajectory it belongs to. */
  trajectoryN?: number;
  runId?: string;
}

export interface SpendDeps {
  db: Database;
  config: ConfigFile;
  now: () => number;
  /** A price that the provider's model list gave; used when neither the person nor the built-in table has one. */
  listPrice?: (provider: string, model: string) => Price | null;
}

/**
 * What model calls cost: written with each call by day, trajectory and run, so that a crash loses nothing. Calls without a known price
 * are counted in tokens and said to be unpriced, never taken for free.
 */
export class SpendLedger {
  readonly #deps: SpendDeps;
  readonly #watchers = new Set<() => void>();

  constructor(deps: SpendDeps) {
    this.#deps = deps;
  }

  record(spent: Spent): void {
    const { db } = this.#deps;
    const { provider, model, usage, purpose, trajectoryN, runId } = spent;
    const cost = spent.costUsd ?? this.#cost(provider, model, usage);
    const values = {
      purpose,
      provider,
      model,
      calls: 1,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      reasoning_tokens: usage.reasoningTokens,
      cached_tokens: usage.cachedTokens,
      cost_usd: cost ?? 0,
      unpriced_tokens: cost === null ? usage.promptTokens + usage.completionTokens : 0,
    };
    db.transaction(() => {
      const byDay = { day: this.#day(), ...values };
      addDay ??= sqlFor.insertInto('spend_days').values(byDay).onConflict((c) => c.columns(['day', 'purpose', 'provider', 'model']).doUpdateSet(ADD)).compile().sql;
      db.runSql(addDay, Object.values(byDay));
      if (trajectoryN !== undefined) {
        const byTrajectory = { trajectory_n: trajectoryN, ...values };
        addTrajectory ??= sqlFor.insertInto('trajectory_spend').values(byTrajectory).onConflict((c) => c.columns(['trajectory_n', 'purpose', 'provider', 'model']).doUpdateSet(ADD)).compile().sql;
        db.runSql(addTrajectory, Object.values(byTrajectory));
        if (cost !== null) db.run(sqlFor.updateTable('trajectories').set({ cost_usd: sql`coalesce(cost_usd, 0) + ${cost}` }).where('n', '=', trajectoryN));
      }
      if (runId !== undefined && cost !== null) db.run(sqlFor.updateTable('runs').set({ cost_usd: sql`cost_usd + ${cost}` }).where('id', '=', runId));
    });
    for (const watcher of this.#watchers) watcher();
  }

  /** A sentence when a cap is reached, for the person and the end of the run; null while there is room. */
  overBudget({ sessionId, runId }: { sessionId?: string | undefined; runId?: string | undefined }): string | null {
    const caps = this.caps();
    if (caps.dayUsd !== null && this.todayUsd() >= caps.dayUsd) return sentence('today', this.todayUsd(), caps.dayUsd);
    if (caps.sessionUsd !== null && sessionId !== undefined) {
      const spent = sum(this.ofSession(sessionId));
      if (spent >= caps.sessionUsd) return sentence('this chat', spent, caps.sessionUsd);
    }
    if (caps.runUsd !== null && runId !== undefined) {
      const spent = this.#deps.db.get(sqlFor.selectFrom('runs').select('cost_usd').where('id', '=', runId))?.cost_usd ?? 0;
      if (spent >= caps.runUsd) return sentence('this run', spent, caps.runUsd);
    }
    return null;
  }

  /** All branches of a chat together, and what its sub-agents spent, by purpose. */
  ofSession(sessionId: string): SpendLine[] {
    const branches = sqlFor.selectFrom('trajectories').select('n').where('session_id', '=', sessionId);
    const children = sqlFor.selectFrom('delegations as d').innerJoin('children as c', 'c.delegation_id', 'd.id').innerJoin('trajectories as t', 't.id', 'c.trajectory_id').select('t.n').where('d.session_id', '=', sessionId);
    return this.#deps.db.all(
      sqlFor.selectFrom('trajectory_spend as s').select(SUMS).where('s.trajectory_n', 'in', branches.unionAll(children)).groupBy('s.purpose').orderBy('s.purpose'),
    ) as SpendLine[];
  }

  /** Of the local day, priced calls only. */
  todayUsd(): number {
    return sum(this.#ofDay(this.#day()));
  }

  /** Prompt and completion tokens of the local day, priced or not. */
  todayTokens(): number {
    return this.#ofDay(this.#day()).reduce((tokens, line) => tokens + line.tokens, 0);
  }

  summary(): { caps: Caps; today: SpendLine[]; days: { day: string; lines: SpendLine[] }[] } {
    const days = this.#deps.db.all(sqlFor.selectFrom('spend_days').select('day').distinct().orderBy('day', 'desc').limit(DAYS_SHOWN));
    return { caps: this.caps(), today: this.#ofDay(this.#day()), days: days.map(({ day }) => ({ day, lines: this.#ofDay(day) })) };
  }

  caps(): Caps {
    const { session_usd, run_usd, day_usd } = this.#deps.config.read().spend;
    return { sessionUsd: session_usd ?? null, runUsd: run_usd ?? null, dayUsd: day_usd ?? null };
  }

  /** Null takes a cap away, left out leaves it. Throws ConfigError or HomeError when config.yaml cannot be written. */
  setCaps(caps: { [K in keyof Caps]?: Caps[K] | undefined }): Caps {
    const keys = { sessionUsd: 'session_usd', runUsd: 'run_usd', dayUsd: 'day_usd' } as const;
    const changes = (Object.keys(keys) as (keyof Caps)[])
      .filter((cap) => caps[cap] !== undefined)
      .map((cap): ConfigChange => [['spend', keys[cap]], caps[cap] ?? undefined]);
    this.#deps.config.change(changes);
    return this.caps();
  }

  /** The price table, and the models that calls were made to without a known price. */
  prices(): { rows: PriceRow[]; unpriced: { provider: string; model: string; tokens: number }[] } {
    const unpriced = this.#deps.db.all(
      sqlFor
        .selectFrom('spend_days')
        .select(['provider', 'model', sql<number>`sum(unpriced_tokens)`.as('tokens')])
        .where('unpriced_tokens', '>', 0)
        .groupBy(['provider', 'model'])
        .orderBy('tokens', 'desc')
        .limit(UNPRICED_SHOWN),
    );
    return { rows: priceRows(this.#deps.config.read().prices), unpriced: unpriced.filter(({ provider, model }) => this.#price(provider, model) === null) };
  }

  /** Null goes back to the built-in price, or to none. Counts from the next call on: what was spent stays as it was counted. */
  setPrice(model: string, price: Price | null): PriceRow[] {
    this.#deps.config.change([[['prices', model], price ? { ...price } : undefined]]);
    return priceRows(this.#deps.config.read().prices);
  }

  /** Calls `watcher` after each call that was recorded. Returns how to stop. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #ofDay(day: string): SpendLine[] {
    return this.#deps.db.all(sqlFor.selectFrom('spend_days as s').select(SUMS).where('s.day', '=', day).groupBy('s.purpose').orderBy('s.purpose')) as SpendLine[];
  }

  #price(provider: string, model: string): Price | null {
    return findPrice(this.#deps.config.read().prices, provider, model) ?? this.#deps.listPrice?.(provider, model) ?? null;
  }

  #cost(provider: string, model: string, usage: Usage): number | null {
    const price = this.#price(provider, model);
    return price && costOf(price, usage);
  }

  /** The local day, YYYY-MM-DD. */
  #day(): string {
    const d = new Date(this.#deps.now());
    return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`;
  }
}

const SUMS = [
  sql<string>`s.purpose`.as('purpose'),
  sql<number>`sum(s.calls)`.as('calls'),
  sql<number>`sum(s.prompt_tokens + s.completion_tokens)`.as('tokens'),
  sql<number>`sum(s.cost_usd)`.as('costUsd'),
  sql<number>`sum(s.unpriced_tokens)`.as('unpricedTokens'),
] as const;

/** Adds the new row to the one that is there. */
const ADD = Object.fromEntries(
  ['calls', 'prompt_tokens', 'completion_tokens', 'reasoning_tokens', 'cached_tokens', 'cost_usd', 'unpriced_tokens'].map((column) => [column, sql`${sql.ref(column)} + ${sql.ref(`excluded.${column}`)}`]),
);

function sum(lines: readonly SpendLine[]): number {
  return lines.reduce((total, line) => total + line.costUsd, 0);
}

function sentence(what: string, spent: number, cap: number): string {
  return `The spend cap of ${what} is reached: $${spent.toFixed(2)} of $${cap.toFixed(2)}. Raise it in Settings under Spend, then go on.`;
}
