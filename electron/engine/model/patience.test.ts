import { expect, it } from 'vitest';
import { type FakeModel, type Responder, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { fail, paced, say, together } from '../../../e2e/fakes/steps.ts';
import { createOpenAiChatModel } from './openai-chat.ts';
import { createProviderGate } from './provider-gate.ts';
import { ModelError } from './types.ts';

const MINUTE = 60_000;

/** Time that only sleepers move: it jumps to the next one whenever no request is on its way. */
function jumpingClock(isBusy: () => boolean) {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  let pumping = false;
  const pump = async (): Promise<void> => {
    pumping = true;
    while (sleepers.length > 0) {
      // What was just woken gets its request out first.
      for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
      if (isBusy()) continue;
      const next = sleepers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      sleepers = sleepers.filter((sleeper) => sleeper !== next);
      now = Math.max(now, next.at);
      next.wake();
    }
    pumping = false;
  };
  return {
    now: () => now,
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        sleepers.push({ at: now + ms, wake: resolve });
        if (!pumping) void pump();
      }),
  };
}

/** Real time, twenty times as fast: for what happens only when requests overlap. */
function fastClock() {
  const start = performance.now();
  return { now: () => (performance.now() - start) * 20, sleep: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms / 20)) };
}

async function ground(patienceMs: number, test: (g: { fake: FakeModel; now: () => number; gate: ReturnType<typeof createProviderGate>; answer: (respond: Responder) => void; ask: (text: string) => Promise<string> }) => Promise<void>, isFast = false) {
  const fake = await startFakeModel({ keepRequests: 0 });
  const clock = isFast ? fastClock() : jumpingClock(() => fake.counts.open > 0);
  const gate = createProviderGate(clock);
  const model = createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: null, model: 'm' }, { gate, patienceMs, random: () => 1, ...clock });
  const ask = async (text: string): Promise<string> => {
    const request = { messages: [{ role: 'user' as const, content: text, createdAt: 0 }], tools: [] };
    for await (const event of model.stream(request, new AbortController().signal)) if (event.type === 'answer') return event.answer.content;
    throw new Error('no answer');
  };
  try {
    await test({ fake, now: clock.now, gate, answer: (respond) => fake.respond(respond), ask });
  } finally {
    await fake.close();
  }
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `call ${i}`);

// Bug: a provider that dies for two minutes costs every prompt that was under way, or hours of waiting afterwards.
it('a provider that is down for two minutes costs two minutes, and is not beaten meanwhile', () =>
  ground(15 * MINUTE, async ({ fake, now, gate, answer, ask }) => {
    answer(() => (now() < 2 * MINUTE ? fail(503) : say('back')));
    expect(await Promise.all(many(16).map(ask))).toEqual(many(16).map(() => 'back'));
    expect(now()).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(now()).toBeLessThan(2 * MINUTE + 15_000);
    // 16 that were under way, a try every few seconds, 16 answers
    expect(fake.counts.chats).toBeLessThan(32 + 60);
    expect(gate.health.downSince).toBeNull();
  }));

// Bug: with the provider gone for good, agents give up one after the other, each after its own quarter of an hour.
it('all give up together when it stays down', () =>
  ground(15 * MINUTE, async ({ now, answer, ask }) => {
    answer(() => fail(502));
    const ends = await Promise.allSettled(many(12).map(ask));
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'server' } });
    expect(now()).toBeGreaterThanOrEqual(15 * MINUTE);
    expect(now()).toBeLessThan(16 * MINUTE + 12 * 5_000);
  }));

// Bug: a 429 without a time to wait fails the prompt after three attempts; or all go on asking as before.
it('a storm of 429s ends with an answer for everybody, with fewer requests at once', () =>
  ground(15 * MINUTE, async ({ fake, gate, answer, ask }) => {
    answer(() => (fake.counts.open > 3 ? fail(429) : together(say('in'), paced(5))));
    const worker = async (name: string) => {
      for (let i = 0; i < 5; i += 1) expect(await ask(`${name}.${i}`)).toBe('in');
    };
    await Promise.all(many(40).map(worker));
    expect(gate.health.ceiling).toBeLessThan(30);
    // 200 answers; without a ceiling most of 40 at once would be refused again and again
    expect(fake.counts.chats).toBeLessThan(450);
  }, true));

// Bug: one request that makes the server fail is taken for an outage and holds its worker for a quarter of an hour.
it('a request that alone makes the server fail gives up after a few attempts', () =>
  ground(15 * MINUTE, async ({ now, answer, ask }) => {
    answer(({ lastUser }) => (lastUser === 'poison' ? fail(500) : say('fine')));
    await expect(ask('poison')).rejects.toThrow(ModelError);
    expect(await ask('other')).toBe('fine');
    expect(now()).toBeLessThan(MINUTE);
  }));

// Bug: a chat waits without a word behind a batch run whose provider is down.
it('who is not patient fails as before while it is down', () =>
  ground(15 * MINUTE, async ({ fake, now, gate, answer, ask }) => {
    answer(() => (now() < 2 * MINUTE ? fail(503) : say('back')));
    const waiting = many(4).map(ask);
    await fake.waitForChats(4);
    const chat = createOpenAiChatModel({ provider: 'custom', baseUrl: fake.url, apiKey: null, model: 'm' }, { gate, now, sleep: async () => {}, random: () => 1 });
    const call = chat.stream({ messages: [{ role: 'user', content: 'hi', createdAt: 0 }], tools: [] }, new AbortController().signal);
    await expect((async () => {
      for await (const event of call) if (event.type === 'answer') return;
    })()).rejects.toMatchObject({ code: 'server' });
    expect(now()).toBeLessThan(2 * MINUTE);
    expect(await Promise.all(waiting)).toEqual(many(4).map(() => 'back'));
  }));
