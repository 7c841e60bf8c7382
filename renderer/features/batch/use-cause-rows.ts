import { useCallback, useEffect, useRef, useState } from 'react';
import type { Client } from '#shared/contract/index.ts';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';
import { useClient } from '../../lib/engine-context.tsx';

export interface CauseFilter {
  state: PromptState;
  cause: string;
}

const PAGE = 200;

/** Rollouts of one cause, by index, as far as they were asked for. */
export interface CauseRows {
  items: ReadonlyMap<number, PromptItem>;
  indexes: readonly number[];
  /** Brings the next ones, if there are any. */
  more: () => void;
}

/** @param version grows when states of the run change: the list is then read anew */
export function useCauseRows(runId: string, filter: CauseFilter | null, version: number): CauseRows | null {
  const client = useClient();
  const [rows, setRows] = useState<{ key: string; items: PromptItem[]; more: boolean } | null>(null);
  const key = filter ? JSON.stringify([runId, filter.state, filter.cause]) : '';
  const wanted = useRef(key);
  const busy = useRef(false);
  useEffect(() => {
    wanted.current = key;
  });
  const { state, cause } = filter ?? {};
  const load = useCallback(
    async (from: readonly PromptItem[], limit: number) => {
      if (state === undefined || cause === undefined || busy.current) return;
      busy.current = true;
      try {
        const page = await client.runs.prompts({ id: runId, after: from.at(-1)?.index ?? -1, limit, states: [state], cause });
        if (wanted.current === key) setRows({ key, items: [...from, ...page.items], more: page.more });
      } catch {
        // What is there stays; the screen's banner tells about the engine.
      } finally {
        busy.current = false;
      }
    },
    [client, runId, key, state, cause],
  );
  useEffect(() => {
    if (key === '') return;
    // New ones keep arriving while a run goes on: one look per pause is enough.
    const timer = setTimeout(() => void load([], PAGE), version === 0 ? 0 : 150);
    return () => clearTimeout(timer);
  }, [load, key, version]);
  if (!filter) return null;
  const mine = rows?.key === key ? rows : null;
  return {
    items: new Map(mine?.items.map((item) => [item.index, item])),
    indexes: mine?.items.map((item) => item.index) ?? [],
    more: () => void (mine?.more && load(mine.items, PAGE)),
  };
}

const MOST_INDICES = 10_000;

/** Numbers of all rollouts of one cause, 10,000 at most: what `runs.retry` and `filters.keep` take. */
export async function indicesOfCause(client: Client, runId: string, filter: CauseFilter): Promise<number[]> {
  const found: number[] = [];
  for (let more = true; more && found.length < MOST_INDICES; ) {
    const page = await client.runs.prompts({ id: runId, after: found.at(-1) ?? -1, limit: 500, states: [filter.state], cause: filter.cause });
    found.push(...page.items.map((item) => item.index));
    more = page.more && page.items.length > 0;
  }
  return found.slice(0, MOST_INDICES);
}
