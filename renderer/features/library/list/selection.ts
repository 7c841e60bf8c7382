/**
 * Which rows are chosen for export. `all` means everything that matches the filter but `ids`;
 * so choosing 100,000 rows holds no list of them.
 */
export type Selection = { mode: 'some'; ids: ReadonlySet<string> } | { mode: 'all'; ids: ReadonlySet<string> };

export const NOTHING: Selection = { mode: 'some', ids: new Set() };
export const EVERYTHING: Selection = { mode: 'all', ids: new Set() };

export function isSelected(selection: Selection, id: string): boolean {
  return (selection.mode === 'all') !== selection.ids.has(id);
}

/** How many rows are chosen, of `matching` rows. */
export function selectedCount(selection: Selection, matching: number): number {
  return selection.mode === 'all' ? Math.max(0, matching - selection.ids.size) : selection.ids.size;
}

export function toggle(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { mode: selection.mode, ids };
}

/** Chooses or drops all of `rows` at once (a range). */
export function setAll(selection: Selection, rows: Iterable<string>, chosen: boolean): Selection {
  const ids = new Set(selection.ids);
  for (const id of rows) {
    if ((selection.mode === 'some') === chosen) ids.add(id);
    else ids.delete(id);
  }
  return { mode: selection.mode, ids };
}
