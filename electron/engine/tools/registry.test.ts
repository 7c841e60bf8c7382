import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isToolFailure } from './failure.ts';
import { defineTool, ToolError } from './define.ts';
import { ALL_TOOL_NAMES, ALL_TOOLS, createRegistry, resolveToolsets, runTool } from './registry.ts';
import { availableToolsets, BUILT_TOOLSETS, partsOfAll } from './toolsets.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';
import type { Tool, ToolServices } from './types.ts';

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
    expect(createRegistry(['file', 'terminal', 'file']).specs.map((spec) => spec.name)).toEqual(['terminal', 'process', 'read_file', 'write_file', 'patch', 'search_files']);
    expect(createRegistry(['terminal']).specs.map((spec) => spec.name)).toEqual(['terminal', 'process']);
    expect(createRegistry(['terminal']).get('patch')).toBeUndefined();
    expect(new Set(ALL_TOOL_NAMES).size).toBe(ALL_TOOLS.length);
  });

  it('takes an empty list as no tools, not as all of them', () => expect(createRegistry([]).specs).toEqual([]));

  it('opens composites, skips what is known but not built with a note, and refuses typing mistakes', () => {
    const { toolsets, skipped } = resolveToolsets(['debugging', 'browser']);
    expect(toolsets).toEqual(['terminal', 'file', 'web']);
    expect(skipped.map((entry) => entry.name)).toEqual(['browser']);
    expect(() => createRegistry(['flie', 'toString'])).toThrow(expect.objectContaining({ code: 'unknown_toolset', names: ['flie', 'toString'] }));
  });

  // Bug: a model is offered a tool that can only fail; a batch prompt may ask a person.
  it('leaves out tools whose need is missing, and offers them as soon as it is there', () => {
    const names = (services: ToolServices) => createRegistry(['all'], services).specs.map((spec) => spec.name);
    const bare = names({});
    expect(bare).toEqual(ALL_TOOL_NAMES.filter((name) => !['web_search', 'web_extract', 'vision_analyze', 'clarify', 'session_search', 'memory', 'skills_list', 'skill_view', 'skill_manage', 'spawn_agent', 'spawn_parallel'].includes(name)));
    expect(bare).toContain('todo');
    const web = { searchMissing: 'no key', extract: () => Promise.reject(new Error()), download: () => Promise.reject(new Error()) };
    expect(names({ web })).toEqual(expect.arrayContaining(['web_extract']));
    expect(names({ web })).not.toContain('web_search');
    const all: ToolServices = { web: { ...web, searchMissing: null, search: () => Promise.resolve([]) }, ask: () => Promise.resolve(null), searchSessions: () => Promise.resolve([]), vision: () => Promise.resolve(''), memory: { call: () => Promise.resolve({}) }, skills: { list: () => Promise.resolve({}), view: () => Promise.resolve({}), manage: () => Promise.resolve({}) }, delegation: { spawn: () => Promise.resolve({}) } };
    expect(names(all)).toEqual(ALL_TOOL_NAMES);
    expect(availableToolsets({})).not.toContain('web');
    expect(availableToolsets({ web })).toContain('web');
  });

  // Bug: "all" gives every chat the tools of board workers once they exist.
  it('never means kanban by all or *, also when it has tools', () => {
    expect(partsOfAll(['terminal', 'kanban', 'file'])).toEqual(['terminal', 'file']);
    expect(resolveToolsets(['all', '*']).toolsets).toEqual(BUILT_TOOLSETS.filter((name) => name !== 'kanban'));
    expect(resolveToolsets(['kanban']).skipped.map((entry) => entry.name)).toEqual(['kanban']);
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
      terminal: [['command'], { command: null, background: false, timeout: 180, workdir: null }],
      process: [['action'], { action: null, session_id: null, data: null, timeout: 60, offset: null, limit: 200 }],
      read_file: [['path'], { path: null, offset: 1, limit: 500 }],
      write_file: [['path', 'content'], { path: null, content: null }],
      patch: [[], { mode: 'replace', path: null, old_string: null, new_string: null, replace_all: false, patch: null }],
      search_files: [['pattern'], { pattern: null, target: 'content', path: '.', file_glob: null, limit: 50, offset: 0, output_mode: 'content', context: 0 }],
      web_search: [['query'], { query: null }],
      web_extract: [['urls'], { urls: null, offset: 0 }],
      vision_analyze: [['image_url', 'question'], { image_url: null, question: null }],
      todo: [[], { todos: null, merge: false }],
      clarify: [['question'], { question: null, choices: [] }],
      session_search: [[], { query: null, role_filter: null, limit: 3 }],
      memory: [[], { action: null, target: null, content: null, old_text: null, operations: null }],
      skills_list: [[], { category: null }],
      skill_view: [['name'], { name: null, file_path: null }],
      skill_manage: [['action', 'name'], { action: null, name: null, category: null, content: null, old_string: null, new_string: null, replace_all: null, file_path: null, file_content: null, reason: null, allow_similar: null }],
      spawn_agent: [['prompt'], { prompt: null, context: null, toolsets: null, model: null, max_turns: null, timeout_seconds: null, output_schema: null, background: null }],
      spawn_parallel: [['tasks'], { tasks: null, context: null, timeout_seconds: null, background: null, max_parallel: null }],
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

  // Bug: a list sent as JSON text or one address sent bare costs a turn.
  it('takes lists as JSON text and one text for a list of texts, and says which entry is wrong', async () => {
    const lists = defineTool({
      name: 'lists',
      toolset: 'test',
      parallel: 'safe',
      description: 'Lists.',
      parameters: z.object({ urls: z.array(z.string()).max(2), rows: z.array(z.object({ id: z.string() })).optional() }),
      run: (input) => Promise.resolve(input),
    });
    expect(await bench.call(lists, { urls: '["a","b"]', rows: '[{"id":"1"}]' })).toEqual({ urls: ['a', 'b'], rows: [{ id: '1' }] });
    expect(await bench.call(lists, { urls: 'https://a.example' })).toEqual({ urls: ['https://a.example'] });
    expect((await bench.call(lists, { urls: ['a', 'b', 'c'] })).error).toMatch(/"urls" is wrong \(.*2/);
    expect((await bench.call(lists, { urls: [], rows: [{ id: 1 }] })).error).toMatch(/"rows\.0\.id" is wrong \(.*string/);
    expect((await bench.call(lists, { urls: [], rows: 'x' })).error).toMatch(/"rows" must be an array, but got "x"/);
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

  it('replaces lone surrogates (providers refuse the request otherwise)', async () => {
    expect(await runTool(raw(() => Promise.resolve('a\ud800b')), {}, bench.context)).toBe('a\ufffdb');
    expect(JSON.parse(await runTool(echo, { text: 'a\udc00b' }, bench.context))).toMatchObject({ text: 'a\ufffdb' });
  });
});
