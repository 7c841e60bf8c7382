import { useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../../../lib/engine-context.tsx';
import type { SkillOffer } from '../commands/slash.ts';

/** Skills come and go while one chats; asked again no more often than this, ms. */
const FRESH_MS = 5_000;

export interface SkillOffers {
  /** What is known now. */
  names: () => readonly SkillOffer[];
  loaded: () => boolean;
  /** Fetches them when what is known is old. Never fails: then there are none to offer. */
  load: () => Promise<void>;
}

interface Known {
  list: readonly SkillOffer[];
  at: number;
  running: Promise<void> | null;
}

/** Skills that can be run by name, fetched when first a slash is typed. @param onKnown runs when they came in */
export function useSkillOffers(onKnown: () => void): SkillOffers {
  const client = useClient();
  const known = useRef<Known>({ list: [], at: 0, running: null });
  const [came, setCame] = useState(0);
  const newest = useRef(onKnown);
  useEffect(() => {
    newest.current = onKnown;
  });
  useEffect(() => {
    if (came > 0) newest.current();
  }, [came]);
  return useMemo(() => {
    const fetch = async (now: Known): Promise<void> => {
      try {
        const { items } = await client.skills.list();
        now.list = items.filter((skill) => skill.offered).map(({ name, description }) => ({ skill: name, description }));
        setCame((n) => n + 1);
      } catch {
        // None to offer; a name that is sent all the same is said to be unknown.
      }
      now.running = null;
      now.at = Date.now();
    };
    return {
      names: () => known.current.list,
      loaded: () => known.current.at > 0,
      load: () => {
        const now = known.current;
        if (now.at > 0 && Date.now() - now.at < FRESH_MS) return Promise.resolve();
        now.running ??= fetch(now);
        return now.running;
      },
    };
  }, [client]);
}
