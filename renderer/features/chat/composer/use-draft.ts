import { useCallback, useEffect, useRef } from 'react';
import type { SessionState } from '#shared/contract/chats.ts';
import { useClient, useConnection } from '../../../lib/engine-context.tsx';

const PAUSE_MS = 400;
/** Longer texts are not kept twice. */
const KEPT_CHARS = 200_000;

type Draft = SessionState['draft'];
const keyOf = (id: string): string => `talaria.draft.${id}`;

/** What was typed and had not reached the engine when the page went away. */
export function unsentDraft(id: string): string | null {
  try {
    return window.localStorage.getItem(keyOf(id));
  } catch {
    return null;
  }
}

function keep(id: string, text: string | null): void {
  try {
    if (text === null || text.length > KEPT_CHARS) window.localStorage.removeItem(keyOf(id));
    else window.localStorage.setItem(keyOf(id), text);
  } catch {
    // Not kept: the engine has it in a moment.
  }
}

/** A state that was on its way when a draft was saved carries the one before it, ms. */
const LATE_MS = 700;

const same = (a: Draft, b: Draft): boolean => a.text === b.text && a.attachments.length === b.attachments.length && a.attachments.every((x, i) => x.id === b.attachments[i]?.id);

/**
 * Keeps the draft in the engine: a moment after the last change, at once when one leaves. Until the engine has it, the window keeps it too.
 * What another window wrote is taken over, but never over unsaved changes of this one.
 * @param read what stands in the composer now @param adopt puts another window's draft into it
 * @returns `touched`: call it after each change; `flush`: save now
 */
export function useDraft(id: string, stored: Draft, read: () => Draft, adopt: (draft: Draft) => void): { touched: () => void; flush: () => void } {
  const client = useClient();
  const { generation, phase } = useConnection();
  const known = useRef<Draft>(stored);
  const replaced = useRef<{ draft: Draft; at: number }[]>([]);
  const dirty = useRef(unsentDraft(id) !== null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const newest = useRef({ read, adopt });
  useEffect(() => {
    newest.current = { read, adopt };
  });

  const flush = useCallback(() => {
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = null;
    if (!dirty.current) return;
    const draft = newest.current.read();
    client.chats.draft({ id, ...draft }).then(
      () => {
        replaced.current = [...replaced.current.filter(({ at }) => Date.now() - at < LATE_MS), { draft: known.current, at: Date.now() }];
        known.current = draft;
        if (!same(newest.current.read(), draft)) return;
        dirty.current = false;
        keep(id, null);
      },
      // Tried again when the line is back, or with the next change.
      () => undefined,
    );
  }, [client, id]);

  const touched = useCallback(() => {
    dirty.current = true;
    keep(id, newest.current.read().text);
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(flush, PAUSE_MS);
  }, [flush, id]);

  useEffect(() => {
    if (phase === 'up') flush();
  }, [generation, phase, flush]);
  useEffect(() => {
    const leave = (): void => void (document.visibilityState === 'hidden' && flush());
    document.addEventListener('visibilitychange', leave);
    window.addEventListener('pagehide', flush);
    return () => {
      document.removeEventListener('visibilitychange', leave);
      window.removeEventListener('pagehide', flush);
    };
  }, [flush]);

  useEffect(() => {
    if (dirty.current || same(stored, known.current)) return;
    if (replaced.current.some(({ draft, at }) => Date.now() - at < LATE_MS && same(stored, draft))) return;
    known.current = stored;
    newest.current.adopt(stored);
  }, [stored]);
  return { touched, flush };
}

