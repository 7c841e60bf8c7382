import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AppStatus } from '#shared/contract/app.ts';
import { type Database, sqlFor } from './store/database.ts';
import type { LiveHub } from './trajectories/live.ts';

const TICK_MS = 500;

/** What the status line shows, and the ticks of the trajectory list; both at most twice a second. */
export class StatusService {
  readonly #db: Database;
  readonly #hub: LiveHub;
  readonly #now: () => number;

  constructor(db: Database, hub: LiveHub, now: () => number) {
    this.#db = db;
    this.#hub = hub;
    this.#now = now;
  }

  /** The status now, then whenever trajectories come or end. */
  watch(signal?: AbortSignal): AsyncGenerator<AppStatus> {
    return this.#ticks(() => this.#status(), signal);
  }

  watchTrajectories(signal?: AbortSignal): AsyncGenerator<{ total: number; newest: number }> {
    return this.#ticks(() => this.#list(), signal);
  }

  #list(): { total: number; newest: number } {
    const t = sqlFor.selectFrom('trajectories');
    const total = this.#db.get(t.select(sql<number>`count(*)`.as('total')))?.total ?? 0;
    const newest = this.#db.get(t.select(sql<number | null>`max(n)`.as('newest')))?.newest ?? 0;
    return { total, newest };
  }

  #status(): AppStatus {
    const midnight = new Date(this.#now());
    midnight.setHours(0, 0, 0, 0);
    const today = this.#db.get(
      sqlFor
        .selectFrom('trajectories')
        .select([sql<number>`coalesce(sum(prompt_tokens + completion_tokens), 0)`.as('tokens'), sql<number | null>`sum(cost_usd)`.as('cost')])
        .where('created_at', '>=', midnight.getTime()),
    );
    const runs = this.#db.get(sqlFor.selectFrom('runs').select(sql<number>`count(*)`.as('n')).where('state', 'in', ['running', 'pausing']));
    return {
      runsActive: runs?.n ?? 0,
      agentsActive: this.#hub.running,
      trajectories: this.#list().total,
      tokensToday: today?.tokens ?? 0,
      costTodayUsd: today?.cost ?? null,
    };
  }

  async *#ticks<T>(read: () => T, signal?: AbortSignal): AsyncGenerator<T> {
    let dirty = false;
    let wake = (): void => {};
    const nudge = (): void => {
      dirty = true;
      wake();
    };
    const off = this.#hub.onListChange(nudge);
    const onAbort = (): void => wake();
    signal?.addEventListener('abort', onAbort);
    try {
      yield read();
      while (!signal?.aborted) {
        if (!dirty) {
          await new Promise<void>((r) => {
            wake = r;
          });
          continue;
        }
        dirty = false;
        yield read();
        await sleep(TICK_MS, undefined, { signal }).catch(() => {});
      }
    } finally {
      off();
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
