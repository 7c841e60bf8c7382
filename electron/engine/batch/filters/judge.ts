import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Filter } from '#shared/filters.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { answerHash, finalAnswer } from './answer.ts';
import { applyFilters } from './apply.ts';
import { type Disposed, dispose } from './dispose.ts';
import { type FreshFacts, type RolloutPlace, storedSubject } from './subject.ts';
import type { FilterHit, OtherRollout } from './types.ts';

/**
 * What the filters of its run say to a rollout that came to an end worth keeping and whose messages are stored. Call it in the
 * transaction that settles the rollout, after its trajectory id was noted with it. One that a person kept is not judged.
 * An answer is a duplicate of that of an earlier row or rollout; what later ones make of it is found by `settleDuplicates`.
 */
export function judgeRollout(db: Database, filters: readonly Filter[], place: RolloutPlace, fresh: FreshFacts = {}): FilterHit | null {
  if (filters.length === 0) return null;
  const { runId, index } = place;
  const prompt = db.get(sqlFor.selectFrom('prompts').select(['kept_anyway']).where('run_id', '=', runId).where('idx', '=', index));
  if (!prompt) return null;
  const subject = storedSubject(db, place, (answer, samePrompt) => earlierAnswer(db, place, answerHash(answer), samePrompt), fresh);
  if (!subject) return null;
  if (filters.some((f) => f.kind === 'duplicate_answer')) noteAnswer(db, place, finalAnswer(subject.messages()));
  return prompt.kept_anyway === 1 ? null : applyFilters(filters, subject);
}

/**
 * Of equal answers the one of the lowest index stays, whichever came first: rollouts that ended at other times make the same files.
 * Call it at the end of a pass. Yields to others between answers. Returns how many rollouts changed.
 */
export async function settleDuplicates(db: Database, filters: readonly Filter[], run: { runId: string; rollouts: number }, now: () => number): Promise<number> {
  if (!filters.some((f) => f.kind === 'duplicate_answer')) return 0;
  const candidates = sqlFor
    .selectFrom('prompts')
    .where('run_id', '=', run.runId)
    .where('answer_hash', 'is not', null)
    .where((eb) => eb.or([eb('state', 'in', ['completed', 'partial']), eb('cause', '=', 'duplicate_answer')]));
  const equal = db.all(candidates.select('answer_hash').groupBy('answer_hash').having((eb) => eb.fn.countAll<number>(), '>', 1));
  let changed = 0;
  for (const { answer_hash } of equal) {
    const places = db.all(candidates.select(['idx', 'state', 'cause', 'reason']).where('answer_hash', '=', answer_hash).orderBy('idx'));
    db.transaction(() => {
      for (const { idx, state, cause, reason } of places) {
        const hit = judgeRollout(db, filters, { ...run, index: idx });
        const before: Disposed = { state, cause, reason };
        if (dispose(db, { runId: run.runId, index: idx }, before, hit, now())) changed += 1;
      }
    });
    await yieldToOthers();
  }
  return changed;
}

function noteAnswer(db: Database, { runId, index }: RolloutPlace, answer: string): void {
  const hash = answer === '' ? null : answerHash(answer);
  db.run(sqlFor.updateTable('prompts').set({ answer_hash: hash }).where('run_id', '=', runId).where('idx', '=', index));
}

function earlierAnswer(db: Database, { runId, index, rollouts }: RolloutPlace, hash: string, samePrompt: boolean): OtherRollout | null {
  const other = db.get(
    sqlFor
      .selectFrom('prompts as o')
      .select('o.idx')
      .where('o.run_id', '=', runId)
      .where('o.answer_hash', '=', hash)
      .where('o.idx', '<', index)
      .where('o.state', 'in', ['completed', 'partial'])
      // rows with the same prompt are repeats that somebody wanted
      .$if(!samePrompt, (q) => q.where('o.prompt', '<>', sqlFor.selectFrom('prompts').select('prompt').where('run_id', '=', runId).where('idx', '=', index)))
      .orderBy('o.idx')
      .limit(1),
  );
  return other ? { promptIndex: Math.floor(other.idx / rollouts), rollout: other.idx % rollouts } : null;
}
