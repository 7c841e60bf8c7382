import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { useEngine } from '../../../lib/engine-context.tsx';
import { browserFrames } from '../../library/view/deltas.ts';
import { browserIdle, ChatTranscript } from './chat-transcript.ts';

const NO_STATE = createStore(() => ({ ready: false, error: null as unknown }));

/**
 * The messages of branch `id`. While those of another branch are fetched the ones before stay, so that nothing flickers.
 * @param working a turn goes on: when the stream of messages had ended, it is opened again
 */
export function useChatTranscript(id: string, working: boolean): { transcript: ChatTranscript | null; error: unknown; retry: () => void } {
  const engine = useEngine();
  const [wanted, setWanted] = useState<ChatTranscript | null>(null);
  const [shown, setShown] = useState<ChatTranscript | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const next = new ChatTranscript(engine, id, { frames: browserFrames(window), now: Date.now, idle: browserIdle(window) });
    setWanted(next);
    void next.open();
    return () => next.close();
  }, [engine, id, attempt]);
  const ready = useStore(wanted?.state ?? NO_STATE, (s) => s.ready);
  const error = useStore(wanted?.state ?? NO_STATE, (s) => s.error);
  useEffect(() => {
    if (ready) setShown(wanted);
  }, [ready, wanted]);
  useEffect(() => {
    if (working && ready) void wanted?.watch().catch(() => undefined);
  }, [working, ready, wanted]);
  return { transcript: shown, error, retry: () => setAttempt((n) => n + 1) };
}
