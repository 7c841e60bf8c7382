import { createHash } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { FilterSummary } from '#shared/contract/filters.ts';
import type { Filter } from '#shared/filters.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { answerHash, finalAnswer } from './answer.ts';
import { applyFilters, matchingFilters } from './apply.ts';
import { type Disposed, JUDGED_STATES } from './dispose.ts';
import { storedSubject } from './subject.ts';
import type { FilterHit, FilterSubject, OtherRollout } from './types.ts';

const PAGE = 200;
/** So long this may work before others get their turn. */
const SLICE_MS = 8;

/** A rollout that is to change. */
export interface Change {
  index: number;
  before: Disposed;
  hit: FilterHit | null;
}

export interface Evaluation {
  summary: FilterSummary;
  changes: Change[];
  /** Hashes of final answers by rollout, when filters look for duplicates. */
  answers: Map<number, string | null>;
}

/**
 * Asks filters about every ended rollout of a run, in order, and changes nothing. Holds one rollout's messages at a time.
 * @param onProgress with how many are done @throws the signal's reason when it is aborted
 */
export async function evaluateFilters(db: Database, run: { id: string; rollouts: number }, filters: readonly Filter[], onProgress: (done: number, total: number) => void, signal: AbortSignal): Promise<Evaluation> {
  const judged = sqlFor.selectFrom('prompts').where('run_id', '=', run.id).where('state', 'in', [...JUDGED_STATES]).where('trajectory_id', 'is not', null);
  const total = db.get(judged.select((eb) => eb.fn.countAll<number>().as('count')))?.count ?? 0;
  const summary: FilterSummary = { total, kept: 0, discarded: 0, causes: {}, alone: Object.fromEntries(filters.map((f) => [f.name, 0])), keptAnyway: 0, newlyDiscarded: 0, newlyKept: 0 };
  const duplicates = filters.find((f) => f.kind === 'duplicate_answer');
  const answers = new SeenAnswers(run.rollouts);
  const hashes = new Map<number, string | null>();
  const changes: Change[] = [];
  let done = 0;
  let sliceFrom = performance.now();
  for (let after = -1; ; ) {
    const page = db.all(judged.select(['idx', 'state', 'cause', 'reason', 'kept_anyway']).where('idx', '>', after).orderBy('idx').limit(PAGE));
    if (page.length === 0) break;
    for (const { idx, kept_anyway, ...before } of page) {
      after = idx;
      done += 1;
      signal.throwIfAborted();
      const subject = storedSubject(db, { runId: run.id, index: idx, rollouts: run.rollouts }, (answer, samePrompt) => answers.find(answer, samePrompt, subject!));
      if (!subject) continue;
      for (const name of matchingFilters(filters, { ...subject, sameAnswer: (answer, samePrompt) => answers.findAny(answer, samePrompt, subject) })) summary.alone[name]! += 1;
      const hit = kept_anyway === 1 ? null : applyFilters(filters, subject);
      if (duplicates) hashes.set(idx, answers.add(subject, hit === null));
      if (kept_anyway === 1) summary.keptAnyway += 1;
      if (hit) {
        summary.discarded += 1;
        summary.causes[hit.cause] = (summary.causes[hit.cause] ?? 0) + 1;
      } else summary.kept += 1;
      const was = before.state === 'discarded';
      if (hit && !was) summary.newlyDiscarded += 1;
      if (!hit && was) summary.newlyKept += 1;
      if (hit ? !was || before.cause !== hit.cause : was) changes.push({ index: idx, before, hit });
      if (performance.now() - sliceFrom < SLICE_MS) continue;
      onProgress(done, total);
      await yieldToOthers();
      sliceFrom = performance.now();
    }
  }
  onProgress(total, total);
  return { summary, changes, answers: hashes };
}

/** Answers of the rollouts so far, by hash; the prompt tells wanted repeats from duplicates. */
class SeenAnswers {
  readonly #rollouts: number;
  readonly #byHash = new Map<string, { index: number; prompt: string; kept: boolean }[]>();

  constructor(rollouts: number) {
    this.#rollouts = rollouts;
  }

  /** Returns the answer's hash; null when there is no answer. */
  add(subject: FilterSubject, kept: boolean): string | null {
    const answer = finalAnswer(subject.messages());
    if (answer === '') return null;
    const hash = answerHash(answer);
    const seen = this.#byHash.get(hash) ?? [];
    // prompts are held as hashes: they may be long, and many
    seen.push({ index: subject.promptIndex * this.#rollouts + subject.rollout, prompt: textHash(subject.prompt()), kept });
    this.#byHash.set(hash, seen);
    return hash;
  }

  find(answer: string, samePrompt: boolean, subject: FilterSubject): OtherRollout | null {
    return this.#find(answer, samePrompt, subject, true);
  }

  findAny(answer: string, samePrompt: boolean, subject: FilterSubject): OtherRollout | null {
    return this.#find(answer, samePrompt, subject, false);
  }

  #find(answer: string, samePrompt: boolean, subject: FilterSubject, onlyKept: boolean): OtherRollout | null {
    const prompt = samePrompt ? '' : textHash(subject.prompt());
    const other = this.#byHash.get(answerHash(answer))?.find((o) => (o.kept || !onlyKept) && (samePrompt || o.prompt !== prompt));
    return other ? { promptIndex: Math.floor(other.index / this.#rollouts), rollout: other.index % this.#rollouts } : null;
  }
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
