import type { MemoryEntry } from '#shared/contract/memory.ts';

export const ORDERS = ['file', 'newest', 'oldest', 'most', 'least'] as const;
export type Order = (typeof ORDERS)[number];

export function isOrder(text: string | null): text is Order {
  return (ORDERS as readonly (string | null)[]).includes(text);
}

/** The entries that hold all words of the query, in that order. What is equal stays as in the file. */
export function shownEntries(entries: readonly MemoryEntry[], query: string, order: Order): MemoryEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const found = entries.filter((entry) => {
    const text = entry.text.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const by = COMPARE[order];
  return by ? found.toSorted(by) : found;
}

const age = (entry: MemoryEntry): number => entry.createdAt ?? 0;

const COMPARE: Record<Order, ((a: MemoryEntry, b: MemoryEntry) => number) | null> = {
  file: null,
  newest: (a, b) => age(b) - age(a),
  oldest: (a, b) => age(a) - age(b),
  most: (a, b) => b.uses - a.uses || (b.usedAt ?? 0) - (a.usedAt ?? 0),
  least: (a, b) => a.uses - b.uses || (a.usedAt ?? 0) - (b.usedAt ?? 0),
};

/** As the engine counts them: code points. */
export function countChars(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
