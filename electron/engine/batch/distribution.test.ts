import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../tools/registry.ts';
import { getDistribution, listDistributions, numbersOf, previewDistribution, sampleToolsets } from './distribution.ts';

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

describe('own distributions', () => {
  const own = { shell: { toolsets: { terminal: 100, web: 25, nonsense: 100 } }, default: { description: 'Mine.', toolsets: { terminal: 100 } } };

  it('stand behind the built-in ones, with what is skipped of them', () => {
    expect(listDistributions(undefined, own).slice(17)).toEqual([{ name: 'shell', description: '', toolsets: own.shell.toolsets, built: ['terminal'], skipped: ['web', 'nonsense'], own: true }]);
    expect(getDistribution('shell', ['terminal', 'web'], own).built).toEqual(['terminal', 'web']);
    expect(sampleToolsets('shell', () => 0.3, ['terminal', 'web'], own)).toEqual(['terminal']);
  });

  it('do not take the name of a built-in one in silence', () => {
    // Bug: a person's `default` ran in place of ours, or ours in place of theirs, and nobody was told.
    expect(() => getDistribution('default', undefined, own)).toThrow(expect.objectContaining({ code: 'name_taken', message: expect.stringContaining('another name') }));
    expect(listDistributions(undefined, own).filter((info) => info.name === 'default')).toMatchObject([{ own: false }]);
  });

  it('are named when a name is wrong', () => {
    expect(() => getDistribution('shel', undefined, own)).toThrow(/shell/);
    expect(() => getDistribution('__proto__', undefined, own)).toThrow(expect.objectContaining({ code: 'unknown_distribution' }));
  });
});

describe('draws', () => {
  it('depend on the place of a rollout alone', () => {
    const draws = (seed: number, prompt: number, rollout: number) => sampleToolsets('balanced', numbersOf(seed, prompt, rollout), ['web', 'vision', 'terminal', 'file']).join(' ');
    const places = Array.from({ length: 40 }, (_, i) => [i >> 2, i & 3] as const);
    const forwards = places.map(([p, r]) => draws(7, p, r));
    // Bug: one stream of random numbers for the run: what a rollout got depended on which worker came first.
    expect(places.toReversed().map(([p, r]) => draws(7, p, r)).reverse()).toEqual(forwards);
    expect(places.map(([p, r]) => draws(8, p, r))).not.toEqual(forwards);
    // Bug: all rollouts of a prompt, or all prompts, got the same draw.
    expect(new Set(forwards.slice(0, 16)).size).toBeGreaterThan(3);
    // Bug: prompt 1 rollout 2 got the numbers of prompt 12.
    expect(numbersOf(1, 1, 21)()).not.toBe(numbersOf(1, 12, 1)());
  });

  it('are spread evenly over [0, 1), as many as are asked for', () => {
    const next = numbersOf(1, 0, 0);
    const numbers = Array.from({ length: 4_000 }, next);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    // Bug: the same block of eight numbers over and over.
    expect(new Set(numbers).size).toBeGreaterThan(3_990);
    for (let tenth = 0; tenth < 10; tenth++) expect(numbers.filter((n) => Math.floor(n * 10) === tenth).length / 400).toBeCloseTo(1, 0);
  });

  it('are shown before a run: the same that it will make', () => {
    const preview = previewDistribution({ terminal: 80, file: 100, browser: 100 }, { draws: 1_000, seed: 3 });
    const real = Array.from({ length: 1_000 }, (_, i) => sampleToolsets('x', numbersOf(3, i, 0), undefined, { x: { toolsets: { terminal: 80, file: 100, browser: 100 } } }));
    expect(preview.draws).toBe(1_000);
    expect(preview.toolsets).toEqual([{ name: 'terminal', count: real.filter((drawn) => drawn.includes('terminal')).length }, { name: 'file', count: 1_000 }]);
    expect(preview.combinations).toEqual([{ toolsets: ['terminal', 'file'], count: preview.toolsets[0]!.count }, { toolsets: ['file'], count: 1_000 - preview.toolsets[0]!.count }]);
    expect(preview.toolsets[0]!.count / 1_000).toBeCloseTo(0.8, 1);
    expect(previewDistribution({ browser: 100 })).toEqual({ draws: 0, toolsets: [], combinations: [] });
  });
});
