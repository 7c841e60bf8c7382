import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, TRAJECTORY_KINDS } from '#shared/trajectory.ts';
import { clearable, filterFromSearch, RATINGS, searchFromFilter, type LibraryFilter } from './url.ts';

describe('the filter in the URL', () => {
  it('comes back as it went in (catches a query with &, # or Chinese lost from a link)', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((s) => s.trim() === s && s.isWellFormed());
    const filters: fc.Arbitrary<LibraryFilter> = fc.record(
      {
        runId: word,
        query: word,
        models: fc.array(word, { minLength: 1, maxLength: 3 }),
        kinds: fc.subarray([...TRAJECTORY_KINDS], { minLength: 1 }),
        outcomes: fc.subarray([...OUTCOMES], { minLength: 1 }),
        ratings: fc.subarray(RATINGS, { minLength: 1 }),
        minReward: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
        maxReward: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(filters, (filter) => void expect(filterFromSearch(searchFromFilter(filter))).toEqual(filter)));
  });

  it('drops what it does not know (catches a typed outcome that the contract would refuse)', () => {
    expect(filterFromSearch('?outcome=completed,nonsense&q=')).toEqual({ outcomes: ['completed'] });
    expect(filterFromSearch('?rating=6,x,3&reward=a..2&q=')).toEqual({ ratings: [3], maxReward: 2 });
  });

  it('names what there is to clear (catches "clear filters" for a search alone)', () => {
    expect(clearable({})).toBeNull();
    expect(clearable({ query: 'log' })).toBe('search');
    expect(clearable({ models: ['m'] })).toBe('filters');
    expect(clearable({ query: 'log', runId: 'r' })).toBe('both');
  });
});
