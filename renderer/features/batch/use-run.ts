import { useEffect, useMemo, useState } from 'react';
import { useClient, useStream } from '../../lib/engine-context.tsx';
import { PromptPages } from './prompt-pages.ts';
import { applyRunEvent, type RunView } from './run-codes.ts';

/** Watches one run: its picture, and the error when it cannot be watched. */
export function useRun(id: string): { view: RunView | null; error: unknown } {
  const [view, setView] = useState<RunView | null>(null);
  const [error, setError] = useState<unknown>(null);
  useStream(
    (client, signal) => client.runs.watch({ id }, { signal }),
    (event) => {
      setView((v) => applyRunEvent(v, event));
      setError(null);
    },
    [id],
    setError,
  );
  return { view, error };
}

/** The run's prompts by index; re-renders when pages arrive. */
export function usePromptPages(id: string): PromptPages {
  const client = useClient();
  const [, redraw] = useState(0);
  const pages = useMemo(() => new PromptPages(client.runs, id, () => redraw((n) => n + 1)), [client, id]);
  return pages;
}

/** The time, for what counts seconds on screen; stands still while `running` is false. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
