import { useEffect, useState } from 'react';
import { useEngine } from '../../../lib/engine-context.tsx';
import { browserFrames } from './deltas.ts';
import { Transcript } from './transcript.ts';

/** While one moves through the list with a held key, only the trajectory one stays at is read, ms. */
const SETTLE_MS = 60;

/** The trajectory `id`, reading itself while the component is on screen. Null in the very first moment. */
export function useTranscript(id: string): { transcript: Transcript | null; retry: () => void } {
  const engine = useEngine();
  const [transcript, setTranscript] = useState<Transcript | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const next = new Transcript(engine, id, browserFrames(window));
    const timer = setTimeout(() => {
      setTranscript(next);
      void next.open();
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      next.close();
    };
  }, [engine, id, attempt]);
  return { transcript, retry: () => setAttempt((n) => n + 1) };
}
