import type { MemoryTarget } from '#shared/contract/memory.ts';
import { checkRoom } from './change.ts';
import { MemoryError } from './errors.ts';

/**
 * The entries without what a change did: what it added is taken out, what it took out is back in its place; everything else stays as it
 * is now. Throws MemoryError conflict when what it wrote was changed since, or there is no room for what it took out.
 */
export function undoChange(target: MemoryTarget, change: { before: readonly string[]; after: readonly string[] }, now: readonly string[], limit: number): string[] {
  const added = change.after.filter((entry) => !change.before.includes(entry));
  const removed = change.before.filter((entry) => !change.after.includes(entry));
  const gone = added.filter((entry) => !now.includes(entry));
  const back = removed.filter((entry) => !now.includes(entry));
  // killed after the file was written, or mended by hand: it is as if undone already
  if (removed.length > 0 && back.length === 0 && gone.length === added.length) return [...now];
  if (gone.length > 0) throw new MemoryError('conflict', `What this change wrote was changed or removed since, so it cannot be taken back alone. Edit the entries as they are now.`);
  const entries = [...now];
  for (const entry of back) entries.splice(placeOf(entry, change, entries), 0, entry);
  const left = entries.filter((entry) => !added.includes(entry));
  try {
    checkRoom(target, now, left, limit);
  } catch (error) {
    throw error instanceof MemoryError ? new MemoryError('conflict', `There is no room left for what this change took out. ${error.message}`, error.details) : error;
  }
  return left;
}

/** Behind the nearest entry before it that is still there, or where its replacement is. */
function placeOf(entry: string, { before, after }: { before: readonly string[]; after: readonly string[] }, entries: readonly string[]): number {
  const was = before.indexOf(entry);
  const replacement = before.length === after.length ? after[was] : undefined;
  if (replacement !== undefined && entries.includes(replacement)) return entries.indexOf(replacement);
  for (let at = was - 1; at >= 0; at--) {
    const neighbour = entries.indexOf(before[at]!);
    if (neighbour >= 0) return neighbour + 1;
  }
  return 0;
}
