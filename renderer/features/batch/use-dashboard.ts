import { useEffect, useRef, useState } from 'react';
import type { RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient, useConnection } from '../../lib/engine-context.tsx';
import { doneCount } from './run-codes.ts';

/** Between two looks at the numbers of a run that goes on, ms: often enough to follow it, rare enough to read it. */
const CALM_MS = 4_000;

/** The numbers of a run that its summary has not; looked at again when the run has moved on. Null before the first answer. */
export function useDashboard(run: RunSummary): RunDashboard | null {
  const client = useClient();
  const { generation } = useConnection();
  const [seen, setSeen] = useState<{ runId: string; dashboard: RunDashboard } | null>(null);
  const asked = useRef({ at: 0, busy: false });
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const runId = run.id;
  const stamp = JSON.stringify([doneCount(run), run.state, run.rewards, run.causes, run.states, generation]);
  useEffect(() => {
    const look = async (): Promise<void> => {
      if (asked.current.busy) return;
      asked.current = { at: Date.now(), busy: true };
      try {
        const dashboard = await client.dashboards.get({ runId });
        if (mounted.current) setSeen({ runId, dashboard });
      } catch {
        // The cards keep their last numbers; the screen's banner tells about the engine.
      } finally {
        asked.current.busy = false;
      }
    };
    // While one is on its way the next change of the run asks again; the last change waits for it.
    const wait = asked.current.at + (asked.current.busy ? 2 : 1) * CALM_MS - Date.now();
    const timer = setTimeout(() => void look(), asked.current.at === 0 ? 0 : Math.max(100, wait));
    return () => clearTimeout(timer);
  }, [client, runId, stamp]);
  return seen?.runId === runId ? seen.dashboard : null;
}
