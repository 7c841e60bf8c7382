import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../tools/registry.ts';
import { getDistribution, listDistributions, sampleToolsets } from './distribution.ts';

describe('distributions', () => {
  it('has the 17 names of Hermes', () => {
    expect(listDistributions().map((info) => info.name)).toEqual([
      'default', 'image_gen', 'research', 'science', 'development', 'safe', 'balanced', 'minimal', 'terminal_only', 'terminal_web', 'creative', 'reasoning', 'browser_use', 'browser_only',
      'browser_tasks', 'terminal_tasks', 'mixed_tasks',
    ]);
  });

  it('draws each toolset by its own chance (normalising would starve small ones)', () => {
    const numbers = [0.799, 0.8, 0, 0, 0];
    expect(sampleToolsets('development', () => numbers.shift() ?? 1)).toEqual(['terminal']);
    expect(sampleToolsets('development', () => 0)).toEqual(['terminal', 'file']);
    expect(sampleToolsets('default', () => 0.999)).toEqual(['terminal', 'file']);
  });

  it('gives the likeliest built toolset when the draw is empty (never a prompt without tools)', () => {
    expect(sampleToolsets('balanced', () => 0.99)).toEqual(['terminal']);
    expect(sampleToolsets('image_gen', () => 0.99)).toEqual(['terminal']);
    // A draw of toolsets that are not built counts as empty.
    const numbers = [0, 0.99, 0.99];
    expect(sampleToolsets('reasoning', () => numbers.shift() ?? 1)).toEqual(['terminal']);
  });

  it.each(['minimal', 'safe', 'creative', 'browser_use', 'browser_only'])('refuses %s, which has nothing built, and names what works', (name) => {
    expect(() => sampleToolsets(name, () => 0)).toThrow(expect.objectContaining({ code: 'no_built_toolset', message: expect.stringContaining('terminal_only') }));
  });

  it('refuses an unknown name, also one of every object', () => {
    for (const name of ['terminal-only', 'constructor', '']) {
      expect(() => getDistribution(name)).toThrow(expect.objectContaining({ code: 'unknown_distribution', message: expect.stringContaining('development') }));
    }
  });

  it('only ever gives toolsets that have tools', () => {
    const usable = listDistributions().filter((info) => info.built.length > 0).map((info) => info.name);
    fc.assert(
      fc.property(fc.constantFrom(...usable), fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 7, maxLength: 7 }), (name, numbers) => {
        const drawn = sampleToolsets(name, () => numbers.shift() ?? 0);
        expect(drawn.length).toBeGreaterThan(0);
        for (const toolset of drawn) expect(createRegistry([toolset]).specs.length).toBeGreaterThan(0);
      }),
    );
  });
});
