import { expect, test } from 'vitest';
import type { DistributionEntry } from '#shared/contract/distributions.ts';
import { copyOf, draftOfEntry, readChances } from './edit.ts';

const entry: DistributionEntry = { name: 'science', description: 'x', toolsets: { web: 94, moa: 10.5 }, skipped: [], usable: true, own: false };

// Bug: half-typed chances are saved as something else, or a toolset without one is saved with 0.
test('chances are read as percent, with a comma too; empty and 0 leave a toolset out', () => {
  expect(readChances({ a: '50', b: '12,5', c: '', d: '0', e: '101', f: '-1', g: 'x', h: '1e1', i: ' 7 ' })).toEqual({ toolsets: { a: 50, b: 12.5, i: 7 }, bad: ['e', 'f', 'g', 'h'] });
  expect(readChances(draftOfEntry(entry).chances).toolsets).toEqual(entry.toolsets);
});

// Bug: a second copy cannot be saved because its name is taken.
test('a copy has a name of its own', () => {
  expect(copyOf(entry, ['science'])).toMatchObject({ name: 'science_copy', saved: null });
  expect(copyOf(entry, ['science_copy', 'science_copy2']).name).toBe('science_copy3');
});
