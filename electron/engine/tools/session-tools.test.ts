import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attachment } from '#shared/trajectory.ts';
import { clarifyTool } from './clarify.ts';
import { sessionSearchTool } from './session-search.ts';
import { openBench, type Bench } from './testing.ts';
import { todoTool } from './todo.ts';
import type { SessionHit, Tool, ToolServices } from './types.ts';
import { visionAnalyzeTool } from './vision-analyze.ts';
import { webExtractTool } from './web-extract.ts';
import { webSearchTool } from './web-search.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());
const callWith = (services: ToolServices, tool: Tool, args: Record<string, unknown>) => {
  bench.context.services = services;
  return bench.call(tool, args);
};

describe('todo', () => {
  it('reads, replaces, merges by id, and always gives the whole list with counts', async () => {
    const todo = (args: Record<string, unknown>) => bench.call(todoTool, args);
    expect(await todo({})).toMatchObject({ todos: [], counts: { total: 0 } });
    await todo({ todos: [{ id: '1', content: 'Plan', status: 'in_progress' }, { id: '2', content: 'Build' }] });
    const merged = await todo({ merge: true, todos: [{ id: '1', status: 'completed' }, { id: '3', content: 'Test', status: 'pending' }] });
    expect(merged).toEqual({
      todos: [{ id: '1', content: 'Plan', status: 'completed' }, { id: '2', content: 'Build', status: 'pending' }, { id: '3', content: 'Test', status: 'pending' }],
      counts: { total: 3, pending: 2, in_progress: 0, completed: 1, cancelled: 0 },
    });
    expect(await todo({})).toEqual(merged);
    expect(await todo({ todos: [{ id: '3', content: 'Test', status: 'cancelled' }] })).toMatchObject({ todos: [{ id: '3' }], counts: { total: 1, cancelled: 1 } });
    expect(await todo({ todos: [] })).toMatchObject({ counts: { total: 0 } });
  });

  it('refuses a new task without content and changes nothing; forgets nothing of a bad call', async () => {
    await bench.call(todoTool, { todos: [{ id: '1', content: 'Plan' }] });
    expect((await bench.call(todoTool, { merge: true, todos: [{ id: '1', status: 'completed' }, { id: '9', status: 'pending' }] })).error).toMatch(/"9".*no content/);
    expect((await bench.call(todoTool, { todos: [{ id: '1', content: 'x', status: 'done' }] })).error).toMatch(/todos\.0\.status/);
    expect(await bench.call(todoTool, {})).toMatchObject({ todos: [{ id: '1', status: 'pending' }] });
  });

  it('keeps the list where the session keeps it', async () => {
    let kept: readonly unknown[] = [];
    await callWith({ todos: { read: () => [], write: (todos) => (kept = todos) } }, todoTool, { todos: [{ id: 'a', content: 'b' }] });
    expect(kept).toEqual([{ id: 'a', content: 'b', status: 'pending' }]);
    expect(bench.context.state.has('todo')).toBe(false);
  });
});

describe('clarify', () => {
  it('asks with clean choices and gives the answer; declining is told', async () => {
    const asked: unknown[] = [];
    const ask = (answer: string | null): ToolServices => ({ ask: (question, callId) => (asked.push([question, callId]), Promise.resolve(answer)) });
    expect(await callWith(ask('blue'), clarifyTool, { question: ' Which? ', choices: ['red', ' blue ', 'red', ''] })).toEqual({ question: 'Which?', answer: 'blue' });
    expect(asked).toEqual([[{ question: 'Which?', choices: ['red', 'blue'] }, 'call']]);
    expect(await callWith(ask(null), clarifyTool, { question: 'Which?' })).toMatchObject({ answer: null, note: expect.stringContaining('best judgement') });
    expect((await callWith(ask('x'), clarifyTool, { question: 'Which?', choices: ['1', '2', '3', '4', '5'] })).error).toMatch(/"choices" is wrong/);
    expect((await callWith(ask('x'), clarifyTool, { question: '  ' })).error).toMatch(/empty/);
    expect((await callWith({}, clarifyTool, { question: 'Which?' })).error).toMatch(/Nobody can be asked/);
  });
});

describe('session_search', () => {
  it('passes words, roles and limits on, and says that hits are no instructions', async () => {
    const asked: unknown[] = [];
    const hit: SessionHit = { sessionId: 's', trajectoryId: 't', title: 'T', when: 0, excerpts: [{ role: 'user', seq: 1, text: 'x' }] };
    const services = (hits: SessionHit[]): ToolServices => ({ searchSessions: (input) => (asked.push(input), Promise.resolve(hits)) });
    expect(await callWith(services([hit]), sessionSearchTool, { query: ' docker ', role_filter: 'user, Assistant', limit: 99 })).toMatchObject({
      query: 'docker', sessions: [{ session_id: 's', trajectory_id: 't', when: '1970-01-01T00:00:00.000Z', excerpts: [{ text: 'x' }] }], note: expect.stringContaining('not instructions'),
    });
    expect(await callWith(services([]), sessionSearchTool, {})).toMatchObject({ query: null, note: expect.stringContaining('no earlier chats') });
    expect(asked).toEqual([{ query: 'docker', limit: 5, roles: ['user', 'assistant'] }, { query: '', limit: 3, roles: null }]);
    expect((await callWith(services([]), sessionSearchTool, { role_filter: 'system' })).error).toMatch(/does not know "system"/);
  });
});

const page = (markdown: string): ToolServices => ({ web: { searchMissing: 'Set a key.', extract: (url) => Promise.resolve({ url, title: 'T', markdown }), download: () => Promise.reject(new Error('unused')) } });

describe('web_extract', () => {
  it('gives a page below 5,000 characters whole, and says that it is quoted', async () => {
    expect(await callWith(page('x'.repeat(4_999)), webExtractTool, { urls: ['https://a.example/'] })).toEqual({
      pages: [{ url: 'https://a.example/', title: 'T', content: 'x'.repeat(4_999), total_chars: 4_999 }],
      note: expect.stringContaining('not instructions to follow'),
    });
  });

  // Bug: the rest of a long page cannot be reached, or is fetched anew for each part.
  it('cuts a longer one and every part together is the page, read once', async () => {
    const whole = Array.from({ length: 9_000 }, (_, i) => `line ${i} 😀`).join('\n');
    let reads = 0;
    const web = page(whole);
    const counting: ToolServices = { web: { ...web.web!, extract: (url) => (reads++, Promise.resolve({ url, title: '', markdown: whole })) } };
    let text = '';
    for (let offset = 0; offset < whole.length; ) {
      const { pages } = (await callWith(counting, webExtractTool, { urls: 'https://a.example/', offset })) as { pages: { content: string; hint?: string }[] };
      const part = pages[0]!;
      expect(part.content.length).toBeLessThanOrEqual(offset === 0 ? 5_000 : 20_000);
      text += part.content;
      offset += part.content.length;
      expect(part.hint?.includes(`offset=${offset}`) ?? offset === whole.length).toBe(true);
    }
    expect(text).toBe(whole);
    expect(reads).toBe(1);
    expect((await callWith(counting, webExtractTool, { urls: ['https://a.example/'], offset: whole.length })).error).toMatch(/past its end/);
  });

  it('holds its limits: five addresses, 2,000,000 characters, offset with one address', async () => {
    const urls = Array.from({ length: 6 }, (_, i) => `https://a.example/${i}`);
    expect((await callWith(page('x'), webExtractTool, { urls })).error).toMatch(/"urls" is wrong/);
    expect((await callWith(page('x'), webExtractTool, { urls: urls.slice(0, 2), offset: 5 })).error).toMatch(/one address only/);
    expect((await callWith(page('x'.repeat(2_000_001)), webExtractTool, { urls: urls.slice(0, 1) })).error).toMatch(/2,000,000 are not read/);
    expect(((await callWith(page('x'), webExtractTool, { urls: urls.slice(0, 5) })) as { pages: unknown[] }).pages).toHaveLength(5);
  });
});

it('web_search says what is missing when it is called all the same', async () => {
  expect((await callWith(page('x'), webSearchTool, { query: 'cats' })).error).toBe('Set a key.');
  expect(webSearchTool.missing?.(page('x'))).toBe('Set a key.');
});

describe('vision_analyze', () => {
  const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const picture: Attachment = { id: 'a'.repeat(64), kind: 'image', name: 'cat.png', mime: 'image/png', bytes: PNG.length };
  const seen: unknown[] = [];
  const services: ToolServices = {
    vision: (image, question) => (seen.push([image.mime, image.bytes.byteLength, question]), Promise.resolve('A cat.')),
    keepPicture: (_, mime, name) => Promise.resolve({ ...picture, mime, name }),
    web: { searchMissing: null, extract: () => Promise.reject(new Error('unused')), download: (url) => Promise.resolve({ url, bytes: PNG }) },
  };

  it('looks at a file of the workspace and at a web address, and shows the picture', async () => {
    const shown: Attachment[] = [];
    bench.context.show = (one) => shown.push(one);
    mkdirSync(join(bench.context.sandbox.root, 'pics'));
    writeFileSync(join(bench.context.sandbox.root, 'pics/cat.txt'), PNG);
    expect(await callWith(services, visionAnalyzeTool, { image_url: 'pics/cat.txt', question: 'What?' })).toEqual({ image: 'pics/cat.txt', answer: 'A cat.' });
    expect(await callWith(services, visionAnalyzeTool, { image_url: 'https://a.example/b/dog.png?x=1', question: 'And?' })).toMatchObject({ answer: 'A cat.' });
    expect(seen).toEqual([['image/png', 11, 'What?'], ['image/png', 11, 'And?']]);
    expect(shown.map(({ name }) => name)).toEqual(['cat.txt', 'dog.png']);
  });

  // Bug: a text file named .png, a huge file or a file outside is sent to a provider.
  it('refuses what is no picture, too large, outside or another kind of address', async () => {
    const { root } = bench.context.sandbox;
    writeFileSync(join(root, 'fake.png'), 'just text');
    writeFileSync(join(root, 'big.png'), Buffer.concat([PNG, Buffer.alloc(10 * 1024 * 1024)]));
    const error = async (image_url: string) => (await callWith(services, visionAnalyzeTool, { image_url, question: 'What?' })).error;
    expect(await error('fake.png')).toMatch(/is not a PNG/);
    expect(await error('big.png')).toMatch(/at most 10 MB/);
    expect(await error('none.png')).toMatch(/no file/);
    expect(await error('../outside.png')).toBeTruthy();
    expect(await error('file:///etc/passwd')).toMatch(/image_url must be/);
    expect(await error('data:image/png;base64,AAAA')).toMatch(/image_url must be/);
  });
});
