import type { Client } from '#shared/contract/index.ts';
import type { ListPlace, TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { Selection } from '../list/selection.ts';

/** The contract's limit for picking single trajectories. */
export const MAX_IDS = 10_000;
const WALK_LIMIT = 500;

/**
 * Says a selection as a filter. Everything but a few is read page by page, because a filter cannot leave single ones out.
 * @returns null when that would be more ids than one request may carry
 */
export async function filterOfSelection(list: Client['trajectories']['list'], filter: TrajectoryFilter, selection: Selection, signal: AbortSignal): Promise<TrajectoryFilter | null> {
  if (selection.ids.size === 0) return filter;
  if (selection.mode === 'some') return selection.ids.size > MAX_IDS ? null : { ids: [...selection.ids] };
  const ids: string[] = [];
  let after: ListPlace | undefined;
  do {
    const page = await list({ filter, limit: WALK_LIMIT, after }, { signal });
    for (const row of page.items) if (!selection.ids.has(row.id)) ids.push(row.id);
    if (ids.length > MAX_IDS) return null;
    after = page.more ? page.items.at(-1) : undefined;
  } while (after !== undefined);
  return { ids };
}

/** "ops-v3-2026-11-30.jsonl": run, else "trajectories", and the day of the person unless the name of the run has it; then `what`. */
export function suggestedFile(runName: string | null, now: Date, what = ''): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const base = (runName ?? 'trajectories').replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '').slice(0, 100) || 'trajectories';
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return `${base.includes(day) ? base : `${base}-${day}`}${what}.jsonl`;
}

/** Where the browser finds a file of the exports folder; null when it was written elsewhere. */
export function downloadPath(file: string, folder: string): string | null {
  const plain = (path: string): string => path.replaceAll('\\', '/').replace(/\/+$/, '');
  const prefix = `${plain(folder)}/`;
  const path = plain(file);
  if (!path.startsWith(prefix)) return null;
  const name = path.slice(prefix.length);
  return name.includes('/') ? null : `/exports/${encodeURIComponent(name)}`;
}
