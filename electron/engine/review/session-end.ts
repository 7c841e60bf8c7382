import { sql } from 'kysely';
import { sqlFor } from '../store/database.ts';
import { resolveToolsets } from '../tools/toolsets.ts';
import type { NudgeCounters } from './counters.ts';
import { coveredThrough } from './covered.ts';
import type { ReviewDeps } from './deps.ts';
import type { ReviewKind } from './kinds.ts';
import type { ReviewSchedule } from './schedule.ts';
import { settingsOf } from './settings.ts';
import { sourceNow, substance } from './snapshot.ts';
import type { ReviewStore } from './store.ts';

const IDLE_MS = 30 * 60_000;
/** What makes a conversation worth a look: more than one question and its answer. */
const MIN_TURNS = 2;
const MIN_TOOL_CALLS = 3;
/** Sessions that were left open when the engine ended: how old they may be, and how many are looked at. */
const LEFT_OPEN_MS = 3 * 86_400_000;
const MAX_LEFT_OPEN = 5;
/** The scripted teacher learns nothing. */
const SCRIPTED = 'offline';

/** Reviews of sessions that end without having come to an interval: left, idle, or found open at the next start. Each content once. */
export class SessionEnds {
  readonly #deps: ReviewDeps;
  readonly #store: ReviewStore;
  readonly #counters: NudgeCounters;
  readonly #schedule: ReviewSchedule;
  readonly #idle = new Map<string, NodeJS.Timeout>();
  #closed = false;

  constructor(deps: ReviewDeps, parts: { store: ReviewStore; counters: NudgeCounters; schedule: ReviewSchedule }) {
    this.#deps = deps;
    this.#store = parts.store;
    this.#counters = parts.counters;
    this.#schedule = parts.schedule;
  }

  /** A turn has ended: if nobody goes on, the session has. */
  wait(sessionId: string): void {
    this.stop(sessionId);
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#idle.delete(sessionId);
      this.ended(sessionId);
    }, this.#idleMs);
    this.#idle.set(sessionId, timer.unref());
  }

  stop(sessionId: string): void {
    const timer = this.#idle.get(sessionId);
    if (timer) clearTimeout(timer);
    this.#idle.delete(sessionId);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
  }

  /** The session is over, as far as anybody knows. */
  ended(sessionId: string): void {
    if (this.#schedule.isBusy(sessionId)) return;
    const { db } = this.#deps;
    const session = db.get(sqlFor.selectFrom('sessions').select(['tip', 'provider', 'toolsets', 'deleted_at']).where('id', '=', sessionId));
    if (!session || session.tip === null || session.deleted_at !== null) return;
    const kind = this.#kind(session.toolsets);
    if (kind === null) return;
    if (session.provider === SCRIPTED && settingsOf(this.#deps.config.read()).model === null) return;
    const source = sourceNow(db, session.tip);
    if (!source) return;
    const covered = coveredThrough(db, this.#store, sessionId, session.tip);
    if (covered >= source.through) return;
    const { turns, toolCalls, answered } = substance(db, source, covered);
    if (!answered || (turns < MIN_TURNS && toolCalls < MIN_TOOL_CALLS)) return;
    db.transaction(() => {
      if (this.#schedule.add({ sessionId, sources: [source], kind, trigger: 'session_end', focus: '' })) this.#counters.restart(sessionId);
    });
  }

  /** Looks after sessions that the engine ended with. Only those that had turns since their last review: their counters say so. */
  findLeftOpen(): void {
    const { db, now } = this.#deps;
    const rows = db.all(
      sqlFor
        .selectFrom('sessions')
        .select(['id', 'updated_at'])
        .where('deleted_at', 'is', null)
        .where('tip', 'is not', null)
        .where('updated_at', '>', now() - LEFT_OPEN_MS)
        .where(sql<boolean>`(iters_since_skill > 0 OR turns_since_memory > 0 OR review_due <> '')`)
        .orderBy('updated_at', 'desc')
        .limit(MAX_LEFT_OPEN),
    );
    for (const { id, updated_at } of rows) {
      // one that was left a moment ago may be gone on with
      if (updated_at > now() - this.#idleMs) this.wait(id);
      else this.ended(id);
    }
  }

  get #idleMs(): number {
    return this.#deps.idleMs ?? IDLE_MS;
  }

  /**
   * What is looked for; null when reviews at the end are off. An interval of 0 says that this kind is not wanted, and so does a chat
   * without the toolset: nothing is kept of what was said where the memory is off.
   */
  #kind(toolsets: string): ReviewKind | null {
    const config = this.#deps.config.read();
    const { enabled, sessionEnd, skillInterval, memoryInterval } = settingsOf(config);
    const having = resolved(JSON.parse(toolsets) as string[]);
    const memory = config.memory.enabled && memoryInterval > 0 && having.includes('memory');
    const skill = skillInterval > 0 && having.includes('skills');
    if (!enabled || !sessionEnd || (!skill && !memory)) return null;
    return memory ? (skill ? 'combined' : 'memory') : 'skill';
  }
}

/** Composites as what they are made of; as they stand where one is no longer known. */
function resolved(toolsets: readonly string[]): readonly string[] {
  try {
    return resolveToolsets(toolsets).toolsets;
  } catch {
    return toolsets;
  }
}
