import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVERYTHING, NOTHING, isSelected, selectedCount, setAll, toggle } from './selection.ts';

describe('selection', () => {
  it('agrees with a plain set, whichever way it is kept (catches exceptions of "all" counted or toggled the wrong way)', () => {
    const universe = ['a', 'b', 'c', 'd', 'e'];
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.oneof(fc.record({ ids: fc.subarray(universe), chosen: fc.boolean() }), fc.constantFrom(...universe))),
        (all, steps) => {
          let selection = all ? EVERYTHING : NOTHING;
          const plain = new Set(all ? universe : []);
          for (const step of steps) {
            if (typeof step === 'string') {
              selection = toggle(selection, step);
              if (!plain.delete(step)) plain.add(step);
            } else {
              selection = setAll(selection, step.ids, step.chosen);
              for (const id of step.ids) {
                if (step.chosen) plain.add(id);
                else plain.delete(id);
              }
            }
          }
          expect(universe.filter((id) => isSelected(selection, id))).toEqual(universe.filter((id) => plain.has(id)));
          expect(selectedCount(selection, universe.length)).toBe(plain.size);
        },
      ),
    );
  });
});
