import { useEffect, useRef } from 'react';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useLoad, useStream, type Loaded } from '../../lib/engine-context.tsx';

/** At most one look at the list per this time, ms. */
const REFRESH_MS = 1_000;

/** All runs, kept fresh: asked again, at most once a second, whenever the engine's numbers move. */
export function useRuns(): Loaded<{ items: RunSummary[] }> {
  const runs = useLoad((client) => client.runs.list(), []);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useStream(
    (client, signal) => client.app.status(undefined, { signal }),
    () => {
      timer.current ??= setTimeout(() => {
        timer.current = null;
        runs.reload();
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
  return runs;
}
