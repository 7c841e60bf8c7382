import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import { fail, gated, say, together } from '../../../e2e/fakes/steps.ts';
import { startFakeModel, type FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { ConfigFile } from '../store/config.ts';
import { homePaths } from '../store/home.ts';
import { Redactor } from '../store/redact.ts';
import { Secrets } from '../store/secrets.ts';
import { SettingsService } from '../store/settings.ts';
import { listModels, testEndpoint } from './probe.ts';
import { PROVIDER_PRESETS } from './providers.ts';
import { ModelService } from './service.ts';
import { ModelError, type ChatModel, type ChatRequest, type ModelEvent } from './types.ts';

const user: Message = { role: 'user', content: 'hi', createdAt: 1 };

let home: string;
let first: FakeModel;
let second: FakeModel;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'talaria-models-'));
  [first, second] = await Promise.all([startFakeModel({ models: ['a'] }), startFakeModel({ models: ['b'] })]);
});
afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
  rmSync(home, { recursive: true, force: true });
});

function open(yaml = '', attachment?: (id: string) => Promise<Uint8Array | null>) {
  const paths = homePaths(home);
  const log = { info: () => undefined, error: () => undefined };
  writeFileSync(paths.config, `providers:\n  one:\n    base_url: ${first.url}\n${yaml}  two:\n    base_url: ${second.url}\n`);
  const config = new ConfigFile(paths.config);
  const secrets = new Secrets({ paths, env: {}, redactor: new Redactor(), log });
  const settings = new SettingsService({ home, config, secrets, presets: PROVIDER_PRESETS, listModels, testEndpoint, findLocal: () => Promise.resolve([]) });
  let time = 1_000_000;
  const sleep = (ms: number): Promise<void> => {
    time += ms;
    return Promise.resolve();
  };
  return new ModelService({ settings, config, secrets, resources: join(import.meta.dirname, '../../../resources'), sleep, now: () => time, ...(attachment ? { attachment } : {}) });
}

async function ask(model: ChatModel, request: Partial<ChatRequest> = {}, signal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  let error: unknown = null;
  try {
    for await (const event of model.stream({ messages: [user], tools: [], ...request }, signal)) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const last = events.at(-1);
  return { events, answer: last?.type === 'answer' ? last.answer : null, error: error as ModelError | null };
}

describe('fallback', () => {
  const FALLBACK = '    fallback: two/b\n';

  // Bug: a provider that is down or over its limit stops the work although another one could do it.
  it.each([
    ['503', [fail(503), fail(503), fail(503)], 3],
    ['429 with a long wait', [fail(429, { retryAfter: 120 })], 1],
    ['429 again and again', Array.from({ length: 3 }, () => fail(429)), 3],
  ])('answers after %s', async (_, steps, asked) => {
    const models = open(FALLBACK);
    first.script(...steps);
    second.script(say('from two'));
    const { answer, events } = await ask(await models.create({ provider: 'one', model: 'a' }));
    expect(answer).toMatchObject({ content: 'from two', servedBy: { provider: 'two', model: 'b' } });
    expect(first.counts.chats).toBe(asked);
    expect(second.chats[0]?.body.model).toBe('b');
    const retry = events.findLast((event) => event.type === 'retry');
    expect(retry).toMatchObject({ waitMs: 0, fallback: { provider: 'two', model: 'b' } });
    // Nothing that the first had streamed goes into the answer: all deltas come after the retry.
    expect(events.slice(events.indexOf(retry as ModelEvent) + 1).filter(({ type }) => type === 'delta').length).toBeGreaterThan(0);
  });

  // Bug: while the first provider asks for patience, every call still knocks there before it goes to the second.
  it('is asked at once while the first has said to wait', async () => {
    const models = open(FALLBACK);
    first.script(fail(429, { retryAfter: 120 }));
    second.respond(() => say('from two'));
    const model = await models.create({ provider: 'one', model: 'a' });
    await ask(model);
    expect((await ask(model)).answer?.content).toBe('from two');
    expect(first.counts.chats).toBe(1);
  });

  // Bug: a wrong key or an overlong conversation is covered up by another provider that costs money.
  it.each([
    ['auth', fail(401)],
    ['payment', fail(402)],
    ['bad_request', fail(400, { message: 'no' })],
    ['context_overflow', fail(413)],
  ])('does not answer for %s', async (code, step) => {
    const models = open(FALLBACK);
    first.script(step);
    expect((await ask(await models.create({ provider: 'one', model: 'a' }))).error).toMatchObject({ code });
    expect(second.counts.chats).toBe(0);
  });

  // Bug: two providers that name each other as fallback ask each other for ever.
  it('goes one step only, and says both faults', async () => {
    const models = open(FALLBACK);
    writeFileSync(homePaths(home).config, `providers:\n  one:\n    base_url: ${first.url}\n    fallback: two/b\n  two:\n    base_url: ${second.url}\n    fallback: one/a\n`);
    first.respond(() => fail(500));
    second.respond(() => fail(401));
    const { error } = await ask(await models.create({ provider: 'one', model: 'a' }));
    expect(error).toMatchObject({ code: 'server', stopsRun: false });
    expect(error?.message).toMatch(/failed \(500\).*The fallback two\/b failed too: .*wants an API key/s);
    expect([first.counts.chats, second.counts.chats]).toEqual([3, 1]);
  });

  it('is left out when it means the model itself or nothing', async () => {
    for (const route of ['one/a', 'nowhere/x', 'x']) {
      const models = open(`    fallback: ${route}\n`);
      first.script(fail(400, { message: 'no' }), say('ok'));
      const model = await models.create({ provider: 'one', model: 'a' });
      expect((await ask(model)).error).toMatchObject({ code: 'bad_request' });
      expect((await ask(model)).answer).not.toHaveProperty('servedBy');
    }
  });

  // Bug: a stop during the fallback's answer is reported as a fault of the first provider.
  it('heeds a stop', async () => {
    const models = open(FALLBACK);
    first.respond(() => fail(500));
    second.respond(() => together(say('never'), gated('never')));
    const stop = new AbortController();
    const asked = ask(await models.create({ provider: 'one', model: 'a' }), {}, stop.signal);
    await second.waitForChats(1);
    stop.abort();
    expect((await asked).error).toMatchObject({ code: 'aborted' });
  });
});

describe('limits', () => {
  // Bug: each chat counts for itself, so that ten of them ask ten times what the provider allows.
  it('hold for all calls to a provider together', async () => {
    const models = open('    concurrency: 2\n');
    first.respond(() => together(say('ok'), gated('go')));
    const all = await Promise.all(Array.from({ length: 5 }, () => models.create({ provider: 'one', model: 'a' })));
    const asked = all.map((model) => ask(model));
    await first.waitForChats(2);
    first.release('go');
    expect((await Promise.all(asked)).map(({ answer }) => answer?.content)).toEqual(Array(5).fill('ok'));
    expect(first.counts.mostOpen).toBe(2);
  });

  // Bug: a call that waits for its turn cannot be stopped.
  it('let a waiting call be stopped', async () => {
    const models = open('    concurrency: 1\n');
    first.respond(() => together(say('ok'), gated('go')));
    const model = await models.create({ provider: 'one', model: 'a' });
    const running = ask(model);
    await first.waitForChats(1);
    const stop = new AbortController();
    const waiting = ask(model, {}, stop.signal);
    stop.abort();
    expect((await waiting).error).toMatchObject({ code: 'aborted' });
    first.release('go');
    expect((await running).answer?.content).toBe('ok');
  });
});

describe('pictures', () => {
  const id = 'a'.repeat(64);
  const other = 'b'.repeat(64);
  const picture = (of: string, name: string) => ({ id: of, kind: 'image' as const, name, mime: 'image/png', bytes: 3 });
  const withPictures: Message = { ...user, content: 'What is this?', attachments: [picture(id, 'cat.png'), picture(other, 'gone.png'), { ...picture(id, 'notes.txt'), kind: 'file', mime: 'text/plain' }] };
  const read = async (asked: string): Promise<Uint8Array | null> => (asked === id ? new Uint8Array([1, 2, 3]) : null);

  // Bug: the model answers about a picture that it never got.
  it('go as parts of the message; one that is gone is said', async () => {
    const model = await open('', read).create({ provider: 'one', model: 'a' });
    first.script(say('a cat'));
    expect((await ask(model, { messages: [withPictures] })).answer?.content).toBe('a cat');
    expect(first.chats[0]?.body.messages[0]?.content).toEqual([
      { type: 'text', text: 'What is this?\n\n[The picture "gone.png" was left out: it could not be sent.]' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    ]);
  });

  // Bug: one picture makes a chat with a text model fail for good.
  it('are left out, and said to be, after a model has refused them once', async () => {
    const models = open('', read);
    first.script(fail(404, { message: 'No endpoints found that support image input' }), say('no picture here'), say('still none'));
    const { answer, events } = await ask(await models.create({ provider: 'one', model: 'a' }), { messages: [withPictures] });
    expect(answer?.content).toBe('no picture here');
    expect(events.filter(({ type }) => type === 'retry')).toMatchObject([{ waitMs: 0, error: { message: expect.stringContaining('takes no pictures') as string } }]);
    expect(first.chats[1]?.body.messages[0]?.content).toContain('[The picture "cat.png" was left out: this model takes no pictures.]');
    await ask(await models.create({ provider: 'one', model: 'a' }), { messages: [withPictures] });
    expect(first.counts.chats).toBe(3);
  });
});

describe('ModelService', () => {
  // Bug: the part of a model id behind its first slash is lost.
  it('reads routes', () => {
    const models = open();
    expect(models.parse('openrouter/qwen/qwen3-32b')).toEqual({ provider: 'openrouter', model: 'qwen/qwen3-32b' });
    expect(models.parse('offline/demo')).toEqual({ provider: 'offline', model: 'offline/demo' });
    expect(() => models.parse('qwen3')).toThrow(/provider\/model id/);
    expect(() => models.parse('nowhere/x')).toThrow(/no provider "nowhere"/);
  });

  // Bug: the size of the context is asked of the server at every turn, or guessed although the person has said it.
  it('knows context lengths: config before list before table', async () => {
    const models = open('    context_length: 12345\n');
    expect(await models.contextLength('one', 'a')).toBe(12_345);
    expect(first.requests.length).toBe(0);
    expect(await models.contextLength('two', 'openai/gpt-4o-mini')).toBe(128_000);
    expect(await models.contextLength('two', 'b')).toBeNull();
    expect(second.requests.filter(({ path }) => path === '/v1/models').length).toBe(1);
    await first.close();
    expect(await open().contextLength('one', 'a')).toBeNull();
  });

  // Bug: a price that the list gave is never used, and every call of that model counts as unpriced.
  it('knows the prices of a list once it was asked', async () => {
    await first.close();
    first = await startFakeModel({ models: [{ id: 'a', context_length: 4_096, pricing: { prompt: '0.000002', completion: '0.000008' } }] });
    const models = open();
    expect(models.listedPrice('one', 'a')).toBeNull();
    expect(await models.contextLength('one', 'a')).toBe(4_096);
    expect(models.listedPrice('one', 'a')).toEqual({ input: 2, output: 8 });
    expect(models.listedPrice('one', 'other')).toBeNull();
  });

  // Bug: what one chat has learnt about a server, the next one has to learn again.
  it('remembers what a server refuses', async () => {
    const models = open();
    first.script(fail(400, { message: 'Unrecognized request argument supplied: reasoning_effort' }), say('x'), say('y'));
    const choice = { provider: 'one', model: 'a' };
    expect((await ask(await models.create(choice), { reasoningEffort: 'high' })).answer?.content).toBe('x');
    expect((await ask(await models.create(choice), { reasoningEffort: 'high' })).answer?.content).toBe('y');
    expect(first.chats.map(({ body }) => 'reasoning_effort' in body)).toEqual([true, false, false]);
  });
});
