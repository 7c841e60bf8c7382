import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { OUTCOMES, TRAJECTORY_KINDS } from '#shared/trajectory.ts';

/** 0 stands for no rating. */
export const RATINGS = [5, 4, 3, 2, 1, 0];

/** The part of the filter that lives in the URL, so that a view can be linked to and the back button works. */
export type LibraryFilter = Pick<TrajectoryFilter, 'runId' | 'kinds' | 'outcomes' | 'models' | 'query' | 'ratings' | 'minReward' | 'maxReward'>;

/** Reads `?run=…&q=…&kind=…&outcome=…&model=…&rating=…&reward=min..max`; what is unknown or no number is left out. A rating of 0 means none. */
export function filterFromSearch(search: string): LibraryFilter {
  const params = new URLSearchParams(search);
  const filter: LibraryFilter = {};
  const run = params.get('run');
  if (run) filter.runId = run;
  const kinds = params.getAll('kind').flatMap((v) => v.split(','));
  const known = TRAJECTORY_KINDS.filter((k) => kinds.includes(k));
  if (known.length > 0) filter.kinds = known;
  const given = params.getAll('outcome').flatMap((v) => v.split(','));
  const outcomes = OUTCOMES.filter((o) => given.includes(o));
  if (outcomes.length > 0) filter.outcomes = outcomes;
  const models = params.getAll('model').filter((m) => m !== '');
  if (models.length > 0) filter.models = models;
  const stars = params.getAll('rating').flatMap((v) => v.split(','));
  const ratings = RATINGS.filter((r) => stars.includes(String(r)));
  if (ratings.length > 0) filter.ratings = ratings;
  const [min, max] = (params.get('reward') ?? '').split('..').map(bound);
  if (min !== undefined) filter.minReward = min;
  if (max !== undefined) filter.maxReward = max;
  const query = params.get('q')?.slice(0, 500).trim();
  if (query) filter.query = query;
  return filter;
}

/** The other way round; empty for no filter, else with the leading question mark. */
export function searchFromFilter(filter: LibraryFilter): string {
  const params = new URLSearchParams();
  if (filter.runId) params.set('run', filter.runId);
  if (filter.query) params.set('q', filter.query);
  if (filter.kinds?.length) params.set('kind', filter.kinds.join(','));
  if (filter.outcomes?.length) params.set('outcome', filter.outcomes.join(','));
  for (const model of filter.models ?? []) params.append('model', model);
  if (filter.ratings?.length) params.set('rating', filter.ratings.join(','));
  if (filter.minReward !== undefined || filter.maxReward !== undefined) params.set('reward', `${filter.minReward ?? ''}..${filter.maxReward ?? ''}`);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

function bound(text: string): number | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
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
