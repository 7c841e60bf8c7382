import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FilterEvent, FilterSummary } from '#shared/contract/filters.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import type { Responder } from '../../../../e2e/fakes/fake-model.ts';
import { say, think, together } from '../../../../e2e/fakes/steps.ts';
import { type BatchGround, disagreements, readRows, withBatch } from '../../../../e2e/fixtures/batch-ground.ts';
import { sqlFor } from '../../store/database.ts';
import { FilterService } from './service.ts';

/** Each prompt is answered with its own words; those that begin with "plain" without reasoning. */
const echo: Responder = (r) => {
  const answer = r.prompt.replace(/^\w+: /, '');
  return r.prompt.startsWith('plain') ? say(answer) : together(think('Hm.'), say(answer));
};

const PROMPTS = ['good: Paris is the capital of France.', 'plain: Berlin is the capital of Germany.', 'good: No', "good: I'm sorry, but I can't help with that.", 'good: Paris is  the capital of FRANCE.', 'good: Rome is the capital of Italy.'];

function service({ store, service: runs }: BatchGround): FilterService {
  return new FilterService({ db: store.db, now: Date.now, atRest: (id, work) => runs.atRest(id, work) });
}

async function last(events: AsyncIterable<FilterEvent>): Promise<FilterSummary> {
  for await (const event of events) if (event.type === 'done') return event.summary;
  throw new Error('It did not end');
}

const states = (ground: BatchGround, run: RunSummary) => ground.service.prompts({ id: run.id, after: -1, limit: 100 }).items.map((p) => `${p.state}${p.cause ? `:${p.cause}` : ''}`);
const merged = (run: RunSummary) => readRows(join(run.outputDir, 'trajectories.jsonl')).map((r) => r.prompt_index);

describe('filters of a run', () => {
  // Bug: causes are lost, or the sums, the store and the files disagree on what was discarded.
  test('each discarded rollout has its filter as the cause, with counts', () =>
    withBatch(async (ground) => {
      ground.fake.respond(echo);
      const run = await ground.run({ datasetFile: ground.dataset(PROMPTS), filters: ['no_reasoning', 'too_short:5', 'refused', 'capital=answer contains Rome'], numWorkers: 1 });
      expect(states(ground, run)).toEqual(['completed', 'discarded:no_reasoning', 'discarded:too_short', 'discarded:refused', 'completed', 'discarded:capital']);
      expect(run.causes).toEqual({ no_reasoning: 1, too_short: 1, refused: 1, capital: 1 });
      expect(merged(run)).toEqual([0, 4]);
      expect(disagreements(ground.store, run)).toEqual([]);
      expect(ground.store.db.get(sqlFor.selectFrom('trajectories').select(['outcome', 'discard_reason']).where('prompt_index', '=', 3))).toEqual({ outcome: 'discarded', discard_reason: 'refused' });
    }));

  // Bug: which of two equal answers stays depends on which model call was quicker.
  test('of equal answers the one of the lowest row stays, whichever ended first', () =>
    withBatch(async (ground) => {
      ground.fake.respond((r) => ({ ...together(think('Hm.'), say('The same long answer.')), ...(r.prompt === 'a' ? { gate: { name: 'late' } } : {}) }));
      const { id } = await ground.service.start(ground.spec({ datasetFile: ground.dataset(['a', 'b', 'c']), filters: ['duplicate_answer'], numWorkers: 3 }));
      for await (const event of ground.service.watch(id)) if ((event.run.states.completed ?? 0) + (event.run.states.discarded ?? 0) === 2) break;
      ground.fake.release('late');
      const run = await ground.settled(id);
      expect(states(ground, run)).toEqual(['completed', 'discarded:duplicate_answer', 'discarded:duplicate_answer']);
      expect(run.causes).toEqual({ duplicate_answer: 2 });
      expect(disagreements(ground.store, run)).toEqual([]);
    }));

  // Bug: the repeats that make a group are thrown away as duplicates of each other.
  test('equal answers to one prompt are duplicates only when asked', () =>
    withBatch(async (ground) => {
      ground.fake.respond(() => together(think('Hm.'), say('Forty-two.')));
      const run = await ground.run({ datasetFile: ground.dataset(['a', 'a']), rollouts: 2, filters: ['duplicate_answer'] });
      expect(states(ground, run)).toEqual(['completed', 'completed', 'completed', 'completed']);
      await last(service(ground).refilter({ runId: run.id, filters: ['duplicate_answer:any'] }));
      expect(states(ground, run)).toEqual(['completed', 'discarded:duplicate_answer', 'discarded:duplicate_answer', 'discarded:duplicate_answer']);
    }));
});

describe('refilter', () => {
  // Bug: a filter that was too strict has thrown paid work away for good.
  test('both ways without a model call: store, sums, definition and files', () =>
    withBatch(async (ground) => {
      ground.fake.respond(echo);
      const run = await ground.run({ datasetFile: ground.dataset(PROMPTS), filters: ['no_reasoning', 'refused'] });
      const calls = ground.fake.counts.chats;
      const filters = service(ground);
      const preview = await last(filters.preview({ runId: run.id, filters: ['duplicate_answer', 'too_short:5', 'no_reasoning'] }));
      expect(preview).toEqual({
        total: 6, kept: 3, discarded: 3, causes: { duplicate_answer: 1, too_short: 1, no_reasoning: 1 }, alone: { duplicate_answer: 1, too_short: 1, no_reasoning: 1 }, keptAnyway: 0, newlyDiscarded: 2, newlyKept: 1,
      });
      expect(merged(run)).toEqual([0, 2, 4, 5]);

      expect(await last(filters.refilter({ runId: run.id, filters: ['duplicate_answer', 'too_short:5', 'no_reasoning'] }))).toEqual(preview);
      const after = ground.service.get(run.id);
      expect(states(ground, after)).toEqual(['completed', 'discarded:no_reasoning', 'discarded:too_short', 'completed', 'discarded:duplicate_answer', 'completed']);
      expect(after).toMatchObject({ states: { completed: 3, discarded: 3 }, causes: { duplicate_answer: 1, too_short: 1, no_reasoning: 1 }, turns: 3 });
      expect(after.spec.filters).toEqual(['duplicate_answer', 'too_short:5', 'no_reasoning']);
      expect(merged(run)).toEqual([0, 3, 5]);
      expect(disagreements(ground.store, after)).toEqual([]);
      expect(readFileSync(join(run.outputDir, 'run.yaml'), 'utf8')).toContain('too_short:5');

      expect(await last(filters.refilter({ runId: run.id, filters: [] }))).toMatchObject({ kept: 6, newlyKept: 3 });
      expect(merged(run)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(disagreements(ground.store, ground.service.get(run.id))).toEqual([]);
      expect(ground.fake.counts.chats).toBe(calls);
      // a pass goes by the new filters, and asks nobody again
      await ground.resumed(run.id);
      expect(ground.fake.counts.chats).toBe(calls);
    }));

  // Bug: what a person kept is thrown out again by the next pass over the filters.
  test('what a person keeps stays kept until they take that back', () =>
    withBatch(async (ground) => {
      ground.fake.respond(echo);
      const run = await ground.run({ datasetFile: ground.dataset(PROMPTS), filters: ['no_reasoning', 'refused'] });
      const filters = service(ground);
      expect(await filters.keep({ runId: run.id, indices: [1, 0, 99, 1] })).toEqual({ changed: 1 });
      expect(merged(run)).toEqual([0, 1, 2, 4, 5]);
      expect(await last(filters.refilter({ runId: run.id, filters: ['no_reasoning'] }))).toMatchObject({ keptAnyway: 1, alone: { no_reasoning: 1 }, discarded: 0 });
      expect(merged(run)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await filters.unkeep({ runId: run.id, indices: [1, 2] })).toEqual({ changed: 1 });
      expect(states(ground, run)[1]).toBe('discarded:no_reasoning');
      expect(disagreements(ground.store, ground.service.get(run.id))).toEqual([]);
    }));

  // Bug: half of the rollouts are judged by the new filters, half by the old.
  test('a cancelled one has changed nothing, and a running run is refused', () =>
    withBatch(async (ground) => {
      ground.fake.respond(echo);
      const run = await ground.run({ datasetFile: ground.dataset(PROMPTS), filters: [] });
      const filters = service(ground);
      const abort = new AbortController();
      abort.abort(new Error('cancelled'));
      await expect(last(filters.refilter({ runId: run.id, filters: ['no_reasoning'] }, abort.signal))).rejects.toThrow('cancelled');
      for await (const event of filters.refilter({ runId: run.id, filters: ['no_reasoning'] })) if (event.type === 'progress' && event.stage === 'judging') break;
      const stood = states(ground, run);
      // either it was cancelled in time or all of it happened
      expect([['completed', 'completed', 'completed', 'completed', 'completed', 'completed'], ['completed', 'discarded:no_reasoning', 'completed', 'completed', 'completed', 'completed']]).toContainEqual(stood);
      expect(disagreements(ground.store, ground.service.get(run.id))).toEqual([]);
      await expect(last(filters.refilter({ runId: run.id, filters: ['no_such'] }))).rejects.toMatchObject({ code: 'invalid', field: 'filters' });
      await expect(last(filters.preview({ runId: 'none', filters: [] }))).rejects.toMatchObject({ code: 'not_found' });

      ground.fake.respond(() => ({ ...say('x'), gate: { name: 'never' } }));
      const { id } = await ground.service.start(ground.spec({ runName: 'going', datasetFile: ground.dataset(['a']) }));
      await ground.fake.waitForChats(PROMPTS.length + 1);
      await expect(last(filters.refilter({ runId: id, filters: [] }))).rejects.toMatchObject({ code: 'conflict' });
      await expect(filters.keep({ runId: id, indices: [0] })).rejects.toMatchObject({ code: 'conflict' });
      await ground.service.cancel(id);
      expect(existsSync(join(run.outputDir, 'trajectories.jsonl'))).toBe(true);
    }));
});
