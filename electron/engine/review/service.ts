import type { z } from 'zod';
import type { Review, ReviewSettings, reviewsContract } from '#shared/contract/reviews.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import { Feed } from '../feed.ts';
import { sqlFor } from '../store/database.ts';
import { pausedBecause } from './caps.ts';
import { NudgeCounters } from './counters.ts';
import { Decisions } from './decide.ts';
import type { ReviewDeps } from './deps.ts';
import { ReviewError } from './errors.ts';
import { reviewExtension } from './extension.ts';
import type { Source } from './kinds.ts';
import { recoverReviews } from './recover.ts';
import { ReviewSchedule } from './schedule.ts';
import { SessionEnds } from './session-end.ts';
import { changesOf, settingsOf } from './settings.ts';
import { sourceNow } from './snapshot.ts';
import { type ReviewRecord, ReviewStore } from './store.ts';

/** At most so often is a watcher told. */
const TOLD_EVERY_MS = 250;

type Contract = typeof reviewsContract;
type Input<K extends keyof Contract> = NonNullable<Contract[K]['~orpc']['inputSchema']> extends z.ZodType<infer T> ? T : never;

/** Reviews of ended turns: what runs, what they propose, what the person decides. One method for each procedure of the contract; expected failures are ReviewErrors. */
export class ReviewService {
  readonly #deps: ReviewDeps;
  readonly #store: ReviewStore;
  readonly #counters: NudgeCounters;
  readonly #schedule: ReviewSchedule;
  readonly #ends: SessionEnds;
  readonly #decisions: Decisions;
  readonly #feed = new Feed<string>(TOLD_EVERY_MS);
  #deciding: Promise<unknown> = Promise.resolve();

  constructor(deps: ReviewDeps) {
    this.#deps = deps;
    this.#store = new ReviewStore(deps.db, deps.now);
    this.#counters = new NudgeCounters(deps.db, () => {
      const { enabled, skillInterval, memoryInterval } = this.settings();
      return enabled ? { skill: skillInterval, memory: memoryInterval } : { skill: 0, memory: 0 };
    });
    this.#schedule = new ReviewSchedule(deps, this.#store, this.#counters, (id) => this.#changed(id));
    this.#ends = new SessionEnds(deps, { store: this.#store, counters: this.#counters, schedule: this.#schedule });
    this.#decisions = new Decisions(deps, this.#store);
  }

  /** Mends what a killed engine left. Call once after skills and memory were recovered. Answers with how many reviews had been running. */
  recover(): number {
    return recoverReviews(this.#deps.db, this.#store, this.#deps.now);
  }

  /** From now on reviews begin, also of sessions that an earlier engine was ended with. */
  begin(): void {
    this.#ends.findLeftOpen();
    this.#schedule.begin();
  }

  extension(): ChatExtension {
    return reviewExtension(this.#deps, { counters: this.#counters, schedule: this.#schedule, ends: this.#ends });
  }

  /** Gives up what runs; nothing begins any more. */
  async close(): Promise<void> {
    this.#ends.close();
    await this.#schedule.close();
    await this.#deciding;
  }

  list(input: Input<'list'>): { items: Review[]; more: boolean; waiting: number; paused: string | null } {
    const { items, more } = this.#store.page(input);
    return { items: items.map((record) => this.#store.shown(record)), more, waiting: this.#store.proposals.waitingCount(), paused: pausedBecause(this.#store, this.#deps) };
  }

  get({ id }: Input<'get'>): Review {
    return this.#store.shown(this.#record(id));
  }

  /** One after the other: a decision sees what the one before it did. */
  decide({ proposalId, decision, edited }: Input<'decide'>): Promise<Review> {
    const decided = this.#deciding.then(async () => {
      const proposal = this.#store.proposals.get(proposalId);
      if (!proposal) throw new ReviewError('not_found', 'This proposal is no longer in the store.');
      try {
        if (decision === 'accept') await this.#decisions.accept(proposal, edited);
        else if (decision === 'undo') await this.#decisions.undo(proposal);
        else this.#decisions.reject(proposal);
      } finally {
        this.#changed(proposal.reviewId);
      }
      return this.get({ id: proposal.reviewId });
    });
    this.#deciding = decided.catch(() => undefined);
    return decided;
  }

  start({ sessionId, trajectoryIds = [], kind, focus }: Input<'start'>): Review {
    const sources = this.#sourcesOf(sessionId, trajectoryIds);
    const record = this.#schedule.add({ sessionId: sessionId ?? null, sources, kind, trigger: trajectoryIds.length > 0 ? 'learn' : 'manual', focus: focus.trim() });
    return this.#store.shown(record!);
  }

  async cancel({ id }: Input<'cancel'>): Promise<Review> {
    await this.#schedule.cancel(this.#record(id));
    return this.get({ id });
  }

  settings(): ReviewSettings {
    return settingsOf(this.#deps.config.read());
  }

  configure(input: Input<'configure'>): ReviewSettings {
    // a model that cannot be is refused before anything is written
    if (input.model) this.#deps.models.parse(input.model);
    this.#deps.config.change(changesOf(input, this.settings()));
    return this.settings();
  }

  /** None at first, then which reviews changed, at most 4 times a second. */
  changes(signal?: AbortSignal): AsyncGenerator<{ changed: string[]; waiting: number; running: number }> {
    return this.#feed.watch((changed) => ({ changed, ...this.counts() }), { signal });
  }

  /** For the status line. */
  counts(): { waiting: number; running: number } {
    return { waiting: this.#store.proposals.waitingCount(), running: this.#store.inState('running').length };
  }

  #record(id: string): ReviewRecord {
    const record = this.#store.get(id);
    if (!record) throw new ReviewError('not_found', 'This review is no longer in the store.');
    return record;
  }

  #sourcesOf(sessionId: string | undefined, trajectoryIds: readonly string[]): Source[] {
    const { db } = this.#deps;
    const ids = [...new Set(trajectoryIds)];
    if (sessionId !== undefined) {
      const session = db.get(sqlFor.selectFrom('sessions').select(['tip', 'deleted_at']).where('id', '=', sessionId));
      if (!session || session.deleted_at !== null) throw new ReviewError('not_found', 'This chat is no longer in the store.');
      if (session.tip !== null && !ids.includes(session.tip)) ids.unshift(session.tip);
      if (ids.length === 0) throw new ReviewError('invalid', 'Nothing has been said in this chat yet.', { field: 'sessionId' });
    }
    if (ids.length === 0) throw new ReviewError('invalid', 'Choose a chat, or trajectories to learn from.', { field: 'trajectoryIds' });
    const sources = ids.flatMap((id) => sourceNow(db, id) ?? []);
    if (sources.length === 0) throw new ReviewError('not_found', 'These trajectories are no longer in the store.');
    return sources;
  }

  #changed(reviewId: string): void {
    this.#feed.changed(reviewId);
    this.#deps.hub.listChanged();
  }
}
