import { useEffect, useRef } from 'react';
import type { Client } from '#shared/contract/index.ts';
import { useLoad, useStream, type Loaded } from '../../lib/engine-context.tsx';

/** At most one look at the list per this time, ms. */
const REFRESH_MS = 250;
export const LIST_LIMIT = 200;

export type Shown = 'open' | 'all';
export type ReviewPage = Awaited<ReturnType<Client['reviews']['list']>>;

/** Reviews, newest first, kept fresh: asked again whenever one of them changes. */
export function useReviews(show: Shown, sessionId?: string, limit = LIST_LIMIT): Loaded<ReviewPage> {
  const reviews = useLoad((client, signal) => client.reviews.list({ show, limit, ...(sessionId === undefined ? {} : { sessionId }) }, { signal }), [show, sessionId, limit]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useStream(
    (client, signal) => client.reviews.changes(undefined, { signal }),
    () => {
      timer.current ??= setTimeout(() => {
        timer.current = null;
        reviews.reload();
      }, REFRESH_MS);
    },
    [],
  );
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return reviews;
}
