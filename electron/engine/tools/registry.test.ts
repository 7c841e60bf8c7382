import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isToolFailure } from './failure.ts';
import { defineTool, ToolError } from './define.ts';
import { ALL_TOOL_NAMES, ALL_TOOLS, createRegistry, RESULT_CAP_CHARS, resolveToolsets, runTool } from './registry.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';
import type { Tool } from './types.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const echo = defineTool({
  name: 'echo',
  toolset: 'test',
  parallel: 'safe',
  description: 'Echo.',
  parameters: z.object({
    text: z.string(),
    count: z.int().min(1).max(10).default(3),
    loud: z.boolean().default(false),
    mode: z.enum(['a', 'b']).default('a'),
    note: z.string().optional(),
  }),
  run: (input) => (input.text === 'fail' ? Promise.reject(new ToolError('no luck', { next: 1 })) : Promise.resolve(input)),
});

describe('createRegistry', () => {
  it('gives the tools of the toolsets, in a fixed order, each once', () => {
    expect(createRegistry(['file', 'terminal', 'file']).specs.map((spec) => spec.name)).toEqual(['terminal', 'read_file', 'write_file', 'patch', 'search_files']);
    expect(createRegistry(['terminal']).specs.map((spec) => spec.name)).toEqual(['terminal']);
    expect(createRegistry(['terminal']).get('patch')).toBeUndefined();
    expect(ALL_TOOL_NAMES).toHaveLength(5);
  });

  it('takes an empty list as no tools, not as all of them', () => expect(createRegistry([]).specs).toEqual([]));

  it('opens composites, skips what is known but not built with a note, and refuses typing mistakes', () => {
    const { toolsets, skipped } = resolveToolsets(['debugging', 'browser']);
    expect(toolsets).toEqual(['terminal', 'file']);
    expect(skipped.map((entry) => entry.name)).toEqual(['web', 'browser']);
    expect(createRegistry(['all']).specs).toHaveLength(5);
    expect(() => createRegistry(['flie', 'toString'])).toThrow(expect.objectContaining({ code: 'unknown_toolset', names: ['flie', 'toString'] }));
  });

  it('describes every parameter and offers no schema that a provider would refuse', () => {
    for (const { spec } of ALL_TOOLS) {
      expect(spec.parameters).toMatchObject({ type: 'object' });
      expect(JSON.stringify(spec.parameters)).not.toMatch(/\$schema|\$ref|9007199254740991/);
      for (const property of Object.values(spec.parameters['properties'] as Record<string, Record<string, unknown>>)) {
        expect(property).toMatchObject({ type: expect.any(String), description: expect.stringMatching(/\.$/) });
      }
    }
  });

  it('has the parameters and defaults of the reference', () => {
    const shape = Object.fromEntries(
      ALL_TOOLS.map(({ spec }) => {
        const properties = spec.parameters['properties'] as Record<string, { default?: unknown }>;
        return [spec.name, [spec.parameters['required'] ?? [], Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, value.default ?? null]))]];
      }),
    );
    expect(shape).toEqual({
      terminal: [['command'], { command: null, timeout: 180, workdir: null }],
      read_file: [['path'], { path: null, offset: 1, limit: 500 }],
      write_file: [['path', 'content'], { path: null, content: null }],
      patch: [[], { mode: 'replace', path: null, old_string: null, new_string: null, replace_all: false, patch: null }],
      search_files: [['pattern'], { pattern: null, target: 'content', path: '.', file_glob: null, limit: 50, offset: 0, output_mode: 'content', context: 0 }],
    });
  });
});

describe('arguments', () => {
  it('fills defaults, forgives numbers and booleans as text, null and numbers beyond the limits', async () => {
    expect(await bench.call(echo, { text: 'x', note: null })).toEqual({ text: 'x', count: 3, loud: false, mode: 'a' });
    expect(await bench.call(echo, { text: 'x', count: '7', loud: 'true', mode: 'b' })).toMatchObject({ count: 7, loud: true, mode: 'b' });
    expect(await bench.call(echo, { text: 'x', count: 99 })).toMatchObject({ count: 10 });
    expect(await bench.call(echo, { text: 'x', count: -4, ['__proto__']: 1, extra: true })).toMatchObject({ count: 1 });
  });

  it('tells what is missing or wrong, what it takes and what was sent (models send file_path for path)', async () => {
    const { error } = await bench.call(echo, { txet: 'x', count: 1.5, loud: 'maybe', mode: 'c' });
    expect(error).toBe(
      'echo: the parameter "text" is missing; "count" must be an integer, but got 1.5; "loud" must be a boolean, but got "maybe"; "mode" must be one of "a", "b", but got "c". ' +
        'It does not know "txet". Its parameters are: text, count, loud, mode, note; you sent: txet, count, loud, mode. Correct the call and send it again.',
    );
  });
});

describe('runTool', () => {
  const raw = (run: Tool['run']): Tool => ({ ...echo, run });

  it('makes errors into results, with their details', async () => {
    expect(await bench.call(echo, { text: 'fail' })).toEqual({ error: 'no luck', next: 1 });
  });

  it('survives a defect in a tool, thrown or rejected', async () => {
    const defect = new TypeError('x is not a function');
    const throwing = raw(() => {
      throw defect;
    });
    for (const tool of [throwing, raw(() => Promise.reject(defect))]) {
      const result = await runTool(tool, {}, bench.context);
      expect(JSON.parse(result)).toEqual({ error: 'echo failed unexpectedly: x is not a function' });
      expect(isToolFailure(result)).toBe(true);
    }
  });

  it('caps one result and says so, without cutting a character in two', async () => {
    const whole = '😀'.repeat(60_000);
    const result = await runTool(raw(() => Promise.resolve(`x${whole}`)), {}, bench.context);
    expect(result.isWellFormed()).toBe(true);
    expect(result.indexOf('\n')).toBe(RESULT_CAP_CHARS - 1);
    expect(result).toContain(`Result cut: ${(120_001 - RESULT_CAP_CHARS + 1).toLocaleString('en-US')} more characters`);
    const fits = 'y'.repeat(RESULT_CAP_CHARS);
    expect(await runTool(raw(() => Promise.resolve(fits)), {}, bench.context)).toBe(fits);
  });

  it('replaces lone surrogates (providers refuse the request otherwise)', async () => {
    expect(await runTool(raw(() => Promise.resolve('a\ud800b')), {}, bench.context)).toBe('a\ufffdb');
    expect(JSON.parse(await runTool(echo, { text: 'a\udc00b' }, bench.context))).toMatchObject({ text: 'a\ufffdb' });
  });
});
