import type { DistributionEntry } from '#shared/contract/distributions.ts';

/** A distribution as it is being edited: chances are text, empty is none. */
export interface DistributionDraft {
  name: string;
  /** Its name in config.yaml; null when it is not there yet. */
  saved: string | null;
  description: string;
  chances: Record<string, string>;
}

export function draftOfEntry(entry: DistributionEntry): DistributionDraft {
  return { name: entry.name, saved: entry.own ? entry.name : null, description: entry.description, chances: Object.fromEntries(Object.entries(entry.toolsets).map(([name, chance]) => [name, String(chance)])) };
}

/** A copy under a name that is free. */
export function copyOf(entry: DistributionEntry, taken: readonly string[]): DistributionDraft {
  const base = `${entry.name.slice(0, 50)}_copy`;
  let name = base;
  for (let n = 2; taken.includes(name); n += 1) name = `${base}${n}`;
  return { ...draftOfEntry(entry), name, saved: null };
}

export function newDraft(taken: readonly string[]): DistributionDraft {
  let name = 'mine';
  for (let n = 2; taken.includes(name); n += 1) name = `mine${n}`;
  return { name, saved: null, description: '', chances: { terminal: '100', file: '100' } };
}

/** The table, or the toolsets whose chance is no percentage. */
export function readChances(chances: Readonly<Record<string, string>>): { toolsets: Record<string, number>; bad: string[] } {
  const toolsets: Record<string, number> = {};
  const bad: string[] = [];
  for (const [name, text] of Object.entries(chances)) {
    if (text.trim() === '') continue;
    const chance = /^\d{1,3}(?:[.,]\d{1,4})?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : NaN;
    if (!(chance >= 0 && chance <= 100)) bad.push(name);
    else if (chance > 0) toolsets[name] = chance;
  }
  return { toolsets, bad };
}
