import { sql } from 'kysely';
import type { AppStatus } from '#shared/contract/app.ts';
import { throttled } from './feed.ts';
import { type Database, sqlFor } from './store/database.ts';
import type { SpendLedger } from './model/spend.ts';
import type { LiveHub } from './trajectories/live.ts';

const TICK_MS = 500;

export interface StatusDeps {
  db: Database;
  hub: LiveHub;
  spend: SpendLedger;
  /** Chats that ask or ended unseen. */
  chatsWaiting: () => number;
  reviews?: () => { waiting: number; running: number };
  tasks?: () => { running: number; unread: number };
}

/** What the status line shows, and the ticks of the trajectory list; both at most twice a second. */
export class StatusService {
  readonly #deps: StatusDeps;

  constructor(deps: StatusDeps) {
    this.#deps = deps;
  }

  /** The status now, then whenever trajectories come or end. */
  watch(signal?: AbortSignal): AsyncGenerator<AppStatus> {
    return this.#ticks(() => this.#status(), signal);
  }

  watchTrajectories(signal?: AbortSignal): AsyncGenerator<{ total: number; newest: number }> {
    return this.#ticks(() => this.#list(), signal);
  }

  #list(): { total: number; newest: number } {
    const { db } = this.#deps;
    const t = sqlFor.selectFrom('trajectories').where('deleted_at', 'is', null);
    const total = db.get(t.select(sql<number>`count(*)`.as('total')))?.total ?? 0;
    const newest = db.get(t.select(sql<number | null>`max(n)`.as('newest')))?.newest ?? 0;
    return { total, newest };
  }

  #status(): AppStatus {
    const { db, hub, spend, chatsWaiting, reviews, tasks } = this.#deps;
    const { waiting, running } = reviews?.() ?? { waiting: 0, running: 0 };
    const { running: tasksRunning, unread: tasksUnread } = tasks?.() ?? { running: 0, unread: 0 };
    const runs = db.get(sqlFor.selectFrom('runs').select(sql<number>`count(*)`.as('n')).where('state', 'in', ['running', 'pausing']));
    return {
      runsActive: runs?.n ?? 0,
      agentsActive: hub.running,
      trajectories: this.#list().total,
      tokensToday: spend.todayTokens(),
      costTodayUsd: spend.todayUsd(),
      dayCapUsd: spend.caps().dayUsd,
      chatsWaiting: chatsWaiting(),
      proposalsWaiting: waiting,
      reviewsRunning: running,
      tasksRunning,
      tasksUnread,
    };
  }

  #ticks<T>(read: () => T, signal?: AbortSignal): AsyncGenerator<T> {
    const { hub, spend } = this.#deps;
    const join = (tell: () => void): (() => void) => {
      const offs = [hub.onListChange(tell), spend.onChange(tell)];
      return () => offs.forEach((off) => off());
    };
    return throttled(TICK_MS, join, read, signal);
  }
}
