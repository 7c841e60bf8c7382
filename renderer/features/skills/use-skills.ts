import { useEffect, useRef, useState } from 'react';
import type { SkillDetail } from '#shared/contract/skills.ts';
import type { Client } from '#shared/contract/index.ts';
import { useClient, useLoad, useStream, type Loaded } from '../../lib/engine-context.tsx';

type SkillList = Awaited<ReturnType<Client['skills']['list']>>;

const SEARCH_PAUSE_MS = 120;

/** All skills, kept as they are on disk; `generation` changes whenever something about them did. */
export function useSkills(): Loaded<SkillList> & { generation: number } {
  const [generation, setGeneration] = useState(0);
  const seen = useRef(0);
  const loaded = useLoad((client, signal) => client.skills.list(undefined, { signal }), []);
  useStream((client, signal) => client.skills.changes(undefined, { signal }), () => {
    seen.current += 1;
    setGeneration(seen.current);
  }, []);
  useAgain(loaded, generation);
  return { ...loaded, generation };
}

/** One skill, read again whenever skills changed. */
export function useSkill(id: string, generation: number): Loaded<SkillDetail> {
  const loaded = useLoad((client, signal) => client.skills.get({ id }, { signal }), [id]);
  useAgain(loaded, generation);
  return loaded;
}

/** Loads again when `generation` is another one than at first. What is on its way arrives before: changes without end must not keep it from ever arriving. */
export function useAgain({ reload, loading }: Pick<Loaded<unknown>, 'reload' | 'loading'>, generation: number): void {
  const seen = useRef(generation);
  useEffect(() => {
    if (loading || seen.current === generation) return;
    seen.current = generation;
    reload();
  }, [reload, loading, generation]);
}

/** Ids of skills whose text holds every word; empty while it is not known. */
export function useTextHits(query: string, generation: number): ReadonlySet<string> {
  const client = useClient();
  const [hits, setHits] = useState<{ query: string; ids: ReadonlySet<string> }>({ query: '', ids: new Set() });
  const wanted = query.trim();
  useEffect(() => {
    if (wanted === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      client.skillTexts.find({ query: wanted }, { signal: abort.signal }).then(
        ({ ids }) => !abort.signal.aborted && setHits({ query: wanted, ids: new Set(ids) }),
        () => undefined,
      );
    }, SEARCH_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, wanted, generation]);
  return hits.query === wanted ? hits.ids : NONE;
}

const NONE: ReadonlySet<string> = new Set();
