import { describe, expect, it } from 'vitest';
import type { ListPlace } from '#shared/contract/trajectories.ts';
import type { TrajectorySummary } from '#shared/trajectory.ts';
import { EMPTY_GROUP_FORM, frequentSizes, readGroupForm } from './group-form.ts';
import { recogniseReason, whyNothing } from './reasons.ts';
import { downloadPath, filterOfSelection, MAX_IDS, suggestedFile } from './request.ts';

function lister(count: number) {
  const rows = Array.from({ length: count }, (_, i) => ({ id: `t${count - i}`, n: count - i }) as TrajectorySummary);
  return async ({ after, limit = 100 }: { after?: ListPlace | undefined; limit?: number | undefined }) => {
    const below = rows.filter((r) => after === undefined || r.n < after.n);
    return { items: below.slice(0, limit), more: below.length > limit, newest: count };
  };
}
const { signal } = new AbortController();

describe('filterOfSelection', () => {
  it('keeps the filter when all or nothing is chosen (catches 100,000 ids sent for "all")', async () => {
    const filter = { query: 'staging' };
    expect(await filterOfSelection(lister(5), filter, { mode: 'all', ids: new Set() }, signal)).toBe(filter);
    expect(await filterOfSelection(lister(5), filter, { mode: 'some', ids: new Set() }, signal)).toBe(filter);
  });
  it('leaves out what was taken off "all", over page borders (catches an export of what a person excluded)', async () => {
    const answer = await filterOfSelection(lister(1_203), {}, { mode: 'all', ids: new Set(['t1', 't700', 't1203']) }, signal);
    expect(answer?.ids?.length).toBe(1_200);
    expect(answer?.ids).not.toContain('t700');
  });
  it('refuses more than one request may carry (catches a silent cut at 10,000)', async () => {
    expect(await filterOfSelection(lister(MAX_IDS + 2), {}, { mode: 'all', ids: new Set(['t1']) }, signal)).toBeNull();
    expect((await filterOfSelection(lister(MAX_IDS + 1), {}, { mode: 'all', ids: new Set(['t1']) }, signal))?.ids?.length).toBe(MAX_IDS);
  });
});

describe('files', () => {
  it('suggests a name that is a file name (catches a run name with a slash or a leading dot, the same day twice)', () => {
    expect(suggestedFile('../a b/c', new Date(2026, 10, 3))).toBe('a-b-c-2026-11-03.jsonl');
    expect(suggestedFile(null, new Date(2026, 0, 31))).toBe('trajectories-2026-01-31.jsonl');
    expect(suggestedFile('run-2026-11-30', new Date(2026, 10, 30))).toBe('run-2026-11-30.jsonl');
    expect(suggestedFile('run-2026-11-30', new Date(2026, 11, 1))).toBe('run-2026-11-30-2026-12-01.jsonl');
    expect(suggestedFile('演示', new Date(2026, 0, 31))).toBe('演示-2026-01-31.jsonl');
  });
  it('offers a download only of what lies in the exports folder (catches a link to nothing)', () => {
    expect(downloadPath('/h/exports/a b.jsonl', '/h/exports')).toBe('/exports/a%20b.jsonl');
    expect(downloadPath('C:\\h\\exports\\a.jsonl', 'C:\\h\\exports\\')).toBe('/exports/a.jsonl');
    expect(downloadPath('/tmp/a.jsonl', '/h/exports')).toBeNull();
    expect(downloadPath('/h/exports/sub/a.jsonl', '/h/exports')).toBeNull();
  });
  it('recognises the reasons of the exporter (catches English in the Chinese page)', () => {
    expect(recogniseReason('partial: max_turns')).toEqual({ key: 'partial', detail: 'max_turns' });
    expect(recogniseReason('made by the scripted demo model')?.key).toBe('scripted');
    expect(recogniseReason('may contain a secret (AWS key)')).toEqual({ key: 'secret', detail: 'AWS key' });
    expect(recogniseReason('of a group that was left out: fewer than 4 rollouts')).toEqual({ key: 'ofGroup', detail: 'fewer than 4 rollouts' });
    expect(recogniseReason('more than 512 tokens')).toEqual({ key: 'moreTokens', detail: '512' });
    expect(recogniseReason('something new')).toBeNull();
  });
  it('says which box helps when nothing would be written (catches advice to tick a box that is ticked)', () => {
    const leftOut = [{ reason: 'failed' }, { reason: 'partial: max_turns' }, { reason: 'made by the scripted demo model' }];
    expect(whyNothing(leftOut, { includePartial: false, includeScripted: false })).toBe('scripted');
    expect(whyNothing(leftOut, { includePartial: false, includeScripted: true })).toBe('partial');
    expect(whyNothing(leftOut, { includePartial: true, includeScripted: true })).toBe('other');
  });
});

describe('the form of groups', () => {
  it('reads what was typed (catches a comma for a point, a limit that is sent without a tokenizer)', () => {
    const form = { ...EMPTY_GROUP_FORM, groupSize: '4', minSpread: '0,5', scoreName: ' exact ', tokenizer: '', maxTokens: '100', maskAlgorithm: 'prefix' as const };
    expect(readGroupForm(form)).toEqual({ errors: {}, options: { groupSize: 4, zeroSpread: 'keep', minSpread: 0.5, unfit: 'rollout', scoreName: 'exact', tokenizer: null, maskAlgorithm: 'auto', maxTokens: null } });
    expect(readGroupForm({ ...form, tokenizer: '/m' }).options).toMatchObject({ tokenizer: '/m', maskAlgorithm: 'prefix', maxTokens: 100 });
  });
  it('names the fields that are no value (catches a group size of 0 that the contract refuses whole)', () => {
    expect(readGroupForm({ ...EMPTY_GROUP_FORM, groupSize: '0', minSpread: 'wide', tokenizer: '/m', maxTokens: '0' }).errors).toEqual({ groupSize: 'atLeastOne', minSpread: 'number', maxTokens: 'atLeastOne' });
  });
  it('lists the frequent sizes and counts the others (catches a line of a thousand sizes)', () => {
    const sizes = [5, 4, 3, 2, 1].map((size) => ({ size, count: size * 10 }));
    expect(frequentSizes({ written: 150, leftOut: [], sizes })).toEqual({ sizes: sizes.slice(0, 3), others: 30 });
  });
});
