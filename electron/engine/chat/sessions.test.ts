import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, fail, gated, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import { countTrajectories, getDetail, listTrajectories } from '../trajectories/query.ts';
import { cleanTitle } from './titles.ts';
import { type ChatGround, FAKE, idle, openChats, testHome } from './testing.ts';

const DAY_MS = 86_400_000;

let fake: FakeModel;
let home: ReturnType<typeof testHome>;
let t: ChatGround;
let clock = 1_700_000_000_000;
const now = () => clock++;
const start = async (config?: (file: ChatGround['config']) => void) => {
  t = await openChats(home.home, fake.url, { now, ...(config ? { config } : {}) });
};
beforeEach(async () => {
  fake = await startFakeModel();
  home = testHome();
  await start();
});
afterEach(async () => {
  await t.close();
  await fake.close();
  home.remove();
});

const chat = () => t.chats.create(FAKE).session.id;
const send = (id: string, text: string) => t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });
const list = async (input: Partial<Parameters<ChatGround['chats']['list']>[0]> = {}) => (await t.chats.list({ archived: false, limit: 50, ...input })).items.map((s) => s.id);
async function turn(id: string, text: string): Promise<string> {
  const { trajectoryId } = await send(id, text);
  await t.until(id, idle);
  return trajectoryId!;
}

describe('the list', () => {
  test('newest activity first, without chats in which nothing was said; a draft is something', async () => {
    const [a, b, c] = [chat(), chat(), chat()];
    chat();
    await turn(a, 'first');
    await turn(b, 'second');
    t.chats.draft({ id: c, text: 'hm', attachments: [] });
    await t.until(a, () => true);
    await send(a, 'again');
    expect(await list()).toEqual([a, b, c]);
    t.chats.draft({ id: c, text: '', attachments: [] });
    expect(await list()).toEqual([a, b]);
  });

  test('pages follow one another without gaps or repeats', async () => {
    const ids = Array.from({ length: 7 }, () => chat());
    for (const id of ids) t.chats.draft({ id, text: 'x', attachments: [] });
    const seen: string[] = [];
    let before: { updatedAt: number; id: string } | undefined;
    for (;;) {
      const { items, more } = await t.chats.list({ archived: false, limit: 3, ...(before ? { before } : {}) });
      seen.push(...items.map((s) => s.id));
      if (!more) break;
      before = { updatedAt: items.at(-1)!.updatedAt, id: items.at(-1)!.id };
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test('a search finds words of titles and of what was said, in Chinese too, and takes % as itself', async () => {
    const [a, b, c] = [chat(), chat(), chat()];
    fake.script(say('苹果很好吃'), say('plain'), say('plain'));
    await turn(a, 'hello');
    await turn(b, 'quarterly report');
    await turn(c, 'other');
    t.chats.rename({ id: c, title: '100% sure' });
    expect(await list({ query: '苹果' })).toEqual([a]);
    expect(await list({ query: 'report' })).toEqual([b]);
    expect(await list({ query: '0%' })).toEqual([c]);
    expect(await list({ query: '%' })).toEqual([c]);
  });

  test('pinned and archived are kept apart, and changes are told', async () => {
    const [a, b] = [chat(), chat()];
    await turn(a, 'one');
    await turn(b, 'two');
    const abort = new AbortController();
    const changes = t.chats.changes(abort.signal);
    const next = changes.next();
    await t.chats.mark({ id: a, pinned: true });
    await t.chats.mark({ id: b, archived: true });
    const first = await next;
    expect(first.done === true ? [] : first.value.changed.map((s) => s.id)).toContain(a);
    abort.abort();
    expect(await list()).toEqual([a]);
    expect(await list({ archived: true })).toEqual([b]);
    expect(await list({ pinned: true })).toEqual([a]);
  });
});

describe('unread', () => {
  test('a turn that ends, or asks, while nobody watches is unread until somebody does', async () => {
    const id = chat();
    fake.script(callTool('clarify', { question: 'Which?', choices: ['a', 'b'] }));
    await send(id, 'go');
    await fake.waitForChats(1);
    while (t.chats.get({ id }).question === null) await new Promise((r) => setImmediate(r));
    expect(t.chats.get({ id }).session).toMatchObject({ state: 'asking', unread: true });
    expect(t.chats.waiting()).toBe(1);
    const seen = await t.until(id, () => true);
    expect(seen.session.unread).toBe(false);
    await t.chats.stop({ id });
    expect(t.chats.get({ id }).session.unread).toBe(true);
  });

  test('what ends before the eyes of a watcher is not unread', async () => {
    const id = chat();
    await turn(id, 'hello');
    expect(t.chats.get({ id }).session.unread).toBe(false);
    expect(t.chats.waiting()).toBe(0);
  });
});

describe('deletion', () => {
  test('hides the chat with its trajectories everywhere, stops it, and can be undone', async () => {
    const id = chat();
    fake.script(say('secret words'), hangAfter(0));
    const trajectory = await turn(id, 'hello');
    await send(id, 'work');
    await fake.waitForChats(2);
    const abort = new AbortController();
    const states = t.chats.watch({ id }, abort.signal);
    await states.next();
    await t.chats.remove({ id });
    for (let state = await states.next(); !state.done; ) state = await states.next();
    expect(await list()).toEqual([]);
    expect(await list({ query: 'secret' })).toEqual([]);
    expect(() => t.chats.get({ id })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
    await expect(send(id, 'x')).rejects.toMatchObject({ code: 'not_found' });
    expect(listTrajectories(t.store.db, {}, { limit: 10 }).items).toEqual([]);
    expect(listTrajectories(t.store.db, { query: 'secret' }, { limit: 10 }).items).toEqual([]);
    expect(countTrajectories(t.store.db, {})).toMatchObject({ total: 0, matching: 0, models: [] });
    t.chats.restore({ id });
    expect(await list()).toEqual([id]);
    expect(getDetail(t.store.db, trajectory)).toMatchObject({ exitReason: 'interrupted', messageCount: 4 });
    expect(t.errors).toEqual([]);
  });

  test('is for good at a start after 30 days, with the folder of the chat; a folder that a fork works in stays', async () => {
    const [a, b] = [chat(), chat()];
    fake.respond(({ turnsSinceUser }) => (turnsSinceUser === 0 ? callTool('write_file', { path: 'f.txt', content: 'x' }) : say('ok')));
    await turn(a, 'one');
    await turn(b, 'two');
    const fork = t.chats.fork({ id: b }).session.id;
    const [folderA, folderB] = [t.chats.get({ id: a }).settings.workspace, t.chats.get({ id: b }).settings.workspace];
    await t.chats.remove({ id: a });
    await t.chats.remove({ id: b });
    clock += 29 * DAY_MS;
    await t.close();
    await start();
    expect(t.chats.restore({ id: a }).id).toBe(a);
    await t.chats.remove({ id: a });
    clock += 31 * DAY_MS;
    await t.close();
    await start();
    for (const id of [a, b]) expect(() => t.chats.restore({ id })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
    expect([existsSync(folderA), existsSync(folderB)]).toEqual([false, true]);
    expect(await list()).toEqual([fork]);
  });
});

describe('titles', () => {
  const withTitles = async () => {
    await t.close();
    await start((config) => config.change([[['chat', 'titles'], true]]));
  };

  test('the first line of the prompt at once, then the one a model wrote; the call is spent as titles, not as chat', async () => {
    await withTitles();
    const id = chat();
    fake.script(say('4'), say('**"Adding two numbers."**\nmore', { usage: { prompt: 30, completion: 5 } }));
    await send(id, '  what is 2+2?\nplease');
    expect(t.chats.get({ id }).session.title).toBe('what is 2+2?');
    const state = await t.until(id, (s) => s.session.title === 'Adding two numbers');
    expect(state.spend.find((line) => line.purpose === 'titles')).toMatchObject({ calls: 1, tokens: 35 });
    expect(getDetail(t.store.db, state.tip!)?.title).toBe('Adding two numbers');
    expect(t.messages(id)).toHaveLength(3);
  });

  test('a person’s title is not written over by one that comes later', async () => {
    await withTitles();
    const id = chat();
    fake.script(say('4'), together(say('From the model'), gated('title')));
    await turn(id, 'two and two');
    await fake.waitForChats(2);
    t.chats.rename({ id, title: 'Mine' });
    fake.release('title');
    await t.until(id, (s) => s.spend.some((line) => line.purpose === 'titles'));
    expect(t.chats.get({ id }).session.title).toBe('Mine');
  });

  test('a Chinese chat is asked for a Chinese title and keeps its own words when the answer is not', async () => {
    await withTitles();
    const id = chat();
    fake.script(say('好的'), say('Apples'));
    await turn(id, '苹果怎么保存？');
    const state = await t.until(id, (s) => s.spend.some((line) => line.purpose === 'titles'));
    expect(fake.chats[1]!.body.messages[0]!.content).toContain('中文');
    expect(state.session.title).toBe('苹果怎么保存？');
  });

  test('a failing call leaves the first line, and only the first turn asks', async () => {
    await withTitles();
    const id = chat();
    fake.script(say('4'), fail(400, { message: 'no' }), say('6'));
    await turn(id, 'two and two');
    await fake.waitForChats(2);
    await send(id, 'and two more');
    await t.until(id, (s) => idle(s) && s.session.messageCount === 5);
    expect(t.chats.get({ id }).session).toMatchObject({ title: 'two and two', exitReason: 'completed' });
    expect(fake.counts.chats).toBe(3);
    expect(t.errors).toEqual([]);
  });

  test.each([
    ['Title: Sorting files', 'Sorting files'],
    ['<think>hm</think>\n“排序文件”。', '排序文件'],
    ['# A heading', 'A heading'],
    ['', ''],
  ])('%j becomes %j', (text, title) => expect(cleanTitle(text)).toBe(title));
});

test('with save_trajectories each turn adds one line: good ones and failed ones apart', async () => {
  await t.close();
  await start((config) => config.change([[['chat', 'save_trajectories'], true]]));
  const id = chat();
  fake.script(say('one'), say('two'), fail(400, { message: 'no' }));
  await turn(id, 'a');
  for (const [text, count] of [['b', 5], ['c', 6]] as const) {
    await send(id, text);
    await t.until(id, (s) => idle(s) && s.session.messageCount === count);
  }
  await t.close();
  const lines = (file: string) => readFileSync(join(home.home, 'data', file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as { completed: boolean; conversations: unknown[] });
  expect(lines('trajectory_samples.jsonl').map((l) => l.completed)).toEqual([true, true]);
  expect(lines('failed_trajectories.jsonl').map((l) => l.completed)).toEqual([false]);
  await start();
});

test('a chat that reached its spend cap ends cleanly before the next call and goes on when the cap is raised', async () => {
  t.config.change([[['prices', 'fake-model'], { input: 1_000_000, output: 1_000_000 }], [['spend', 'session_usd'], 1]]);
  const id = chat();
  fake.script(say('expensive', { usage: { prompt: 1, completion: 1 } }), say('again'));
  await turn(id, 'a');
  expect(t.chats.get({ id }).session.costUsd).toBe(2);
  await send(id, 'b');
  const state = await t.until(id, (s) => s.session.exitReason === 'budget_exceeded');
  expect(state.session.error).toContain('cap');
  expect(fake.counts.chats).toBe(1);
  t.config.change([[['spend', 'session_usd'], 100]]);
  await send(id, 'c');
  await t.until(id, (s) => s.session.exitReason === 'completed');
});

test('chats in which nothing was said go at a later start, others stay', async () => {
  const [empty, used] = [chat(), chat()];
  await turn(used, 'x');
  clock += 2 * DAY_MS;
  await t.close();
  await start();
  expect(() => t.chats.get({ id: empty })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  expect(t.chats.get({ id: used }).tip).not.toBeNull();
  expect(readdirSync(join(home.home, 'workspaces', 'chats'))).toEqual([used]);
});
