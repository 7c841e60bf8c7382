import { useEffect, useRef, useState } from 'react';
import type { Plan } from '#shared/contract/plans.ts';
import type { RunSpec } from '#shared/contract/runs.ts';
import { useClient, useConnection } from '../../../lib/engine-context.tsx';

/** After the last change of the form; a dataset is read only once. */
const DEBOUNCE_MS = 350;

export interface PlanState {
  /** The last one that came; of an earlier form while a new one is on its way. */
  plan: Plan | null;
  /** The run that `plan` is of. */
  of: string;
  busy: boolean;
  error: unknown;
}

/** What the run of the form would do, asked again when it has changed. Null: the form describes no run yet. */
export function usePlan(spec: RunSpec | null): PlanState {
  const client = useClient();
  const { generation } = useConnection();
  const key = spec === null ? '' : JSON.stringify(spec);
  const [state, setState] = useState<PlanState>({ plan: null, of: '', busy: false, error: null });
  const wanted = useRef(spec);
  useEffect(() => {
    wanted.current = spec;
  });
  useEffect(() => {
    const now = wanted.current;
    if (key === '' || now === null) return;
    const abort = new AbortController();
    setState((s) => ({ ...s, busy: true }));
    const timer = setTimeout(() => {
      client.plans.dryRun(now, { signal: abort.signal }).then(
        (plan) => !abort.signal.aborted && setState({ plan, of: key, busy: false, error: null }),
        (error: unknown) => !abort.signal.aborted && setState({ plan: null, of: key, busy: false, error }),
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, key, generation]);
  return key === '' ? { plan: null, of: '', busy: false, error: null } : { ...state, busy: state.busy || state.of !== key };
}
