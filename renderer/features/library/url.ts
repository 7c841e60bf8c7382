import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { OUTCOMES } from '#shared/trajectory.ts';

/** The part of the filter that lives in the URL, so that a view can be linked to and the back button works. */
export type LibraryFilter = Pick<TrajectoryFilter, 'runId' | 'outcomes' | 'models' | 'query'>;

/** Reads `?run=…&q=…&outcome=…&model=…`; unknown outcomes are left out. */
export function filterFromSearch(search: string): LibraryFilter {
  const params = new URLSearchParams(search);
  const filter: LibraryFilter = {};
  const run = params.get('run');
  if (run) filter.runId = run;
  const given = params.getAll('outcome').flatMap((v) => v.split(','));
  const outcomes = OUTCOMES.filter((o) => given.includes(o));
  if (outcomes.length > 0) filter.outcomes = outcomes;
  const models = params.getAll('model').filter((m) => m !== '');
  if (models.length > 0) filter.models = models;
  const query = params.get('q')?.slice(0, 500).trim();
  if (query) filter.query = query;
  return filter;
}

/** The other way round; empty for no filter, else with the leading question mark. */
export function searchFromFilter(filter: LibraryFilter): string {
  const params = new URLSearchParams();
  if (filter.runId) params.set('run', filter.runId);
  if (filter.query) params.set('q', filter.query);
  if (filter.outcomes?.length) params.set('outcome', filter.outcomes.join(','));
  for (const model of filter.models ?? []) params.append('model', model);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

export function isFiltered(filter: LibraryFilter): boolean {
  return searchFromFilter(filter) !== '';
}

/** What there is to clear; null for no filter at all. */
export function clearable(filter: LibraryFilter): 'search' | 'filters' | 'both' | null {
  const { query, ...rest } = filter;
  if (!isFiltered(rest)) return query ? 'search' : null;
  return query ? 'both' : 'filters';
}

/** The address of one trajectory within a filtered Library. */
export function libraryPath(id: string | null, filter: LibraryFilter): string {
  return `/library${id === null ? '' : `/${encodeURIComponent(id)}`}${searchFromFilter(filter)}`;
}
