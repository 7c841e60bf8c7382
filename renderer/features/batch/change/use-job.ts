import { useCallback, useEffect, useRef, useState } from 'react';

interface JobEvent<S> {
  type: 'progress' | 'done';
  done?: number;
  total?: number;
  summary?: S;
}

export interface Job<S> {
  /** Share done, 0…1; null while nothing is known or nothing goes on. */
  progress: number | null;
  busy: boolean;
  /** Of the last one that came to its end. */
  summary: S | null;
  error: unknown;
  /** Ends what goes on and begins anew. Resolves to the summary, or null when it was ended or failed. */
  start: (open: (signal: AbortSignal) => Promise<AsyncIterable<JobEvent<S>>>) => Promise<S | null>;
  cancel: () => void;
}

/** A piece of work of the engine that tells how far it is and what it came to. Leaving the screen ends it. */
export function useJob<S>(): Job<S> {
  const [state, setState] = useState<{ progress: number | null; busy: boolean; summary: S | null; error: unknown }>({ progress: null, busy: false, summary: null, error: null });
  const current = useRef<AbortController | null>(null);
  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = null;
    setState((s) => (s.busy ? { ...s, busy: false, progress: null } : s));
  }, []);
  useEffect(() => cancel, [cancel]);
  const start = useCallback<Job<S>['start']>(async (open) => {
    current.current?.abort();
    const abort = new AbortController();
    current.current = abort;
    setState((s) => ({ ...s, busy: true, progress: null, error: null }));
    try {
      for await (const event of await open(abort.signal)) {
        if (abort.signal.aborted) return null;
        if (event.type === 'progress') setState((s) => ({ ...s, progress: event.total ? (event.done ?? 0) / event.total : null }));
        else if (event.summary !== undefined) {
          setState({ progress: null, busy: false, summary: event.summary, error: null });
          return event.summary;
        }
      }
    } catch (error) {
      if (!abort.signal.aborted) setState((s) => ({ ...s, busy: false, progress: null, error }));
      return null;
    }
    if (!abort.signal.aborted) setState((s) => ({ ...s, busy: false, progress: null }));
    return null;
  }, []);
  return { ...state, start, cancel };
}
