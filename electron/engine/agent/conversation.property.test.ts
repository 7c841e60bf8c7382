import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeModel, type ChatBody, type FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, contextOverflow, cutAfter, empty, fail, hangAfter, say, type Step, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import type { Message } from '#shared/trajectory.ts';
import { createOpenAiChatModel } from '../model/openai-chat.ts';
import { sqlFor } from '../store/database.ts';
import { toHermes } from '../trajectories/export/hermes.ts';
import { TrajectoryRecorder } from '../trajectories/record.ts';
import { fromMessageRow } from '../trajectories/rows.ts';
import { testStore } from '../trajectories/testing.ts';
import { runAgent } from './loop.ts';
import { requestMessages } from './request.ts';
import { ask, expectPaired, openAgentBench, toolNamed, toolsOf, type AgentBench } from './testing.ts';
import type { AgentSpec } from './types.ts';

/**
 * Random conversations of several user turns against a real server, written to a real store: whatever models, providers and people do,
 * every call has one result in order, each turn ends once, what is stored gives the requests that were sent, and an export holds
 * nothing that the harness wrote, but all that turns answer: what was said, with the skills that were run, as the model read it.
 */
const KINDS = ['say', 'thinkSay', 'unclosed', 'empty', 'length', 'lengthCall', 'badJson', 'unknown', 'hang', 'busy', 'broken', 'cut', 'overflow', 'orphanSurrogate'] as const;
type Kind = (typeof KINDS)[number];
type Answer = { kind: Kind; size: number } | { kind: 'calls'; calls: { tool: string; size: number; id: string | null }[]; text: boolean };

interface Turn {
  answers: Answer[];
  maxTurns: number;
  /** Event at which something happens. */
  interruptAt: number | null;
  leaveAt: number | null;
  steerAt: number[];
  brokeAfter: number | null;
  /** Skills that each message of the person runs. */
  skills: number;
}

const size = fc.integer({ min: 1, max: 1_500 });
const call = fc.record({
  tool: fc.constantFrom('echo', 'echo', 'echo', 'echo', 'slow', 'slow', 'slow', 'write', 'write', 'chatty', 'chatty', 'defect', 'Echo', 'stop'),
  size,
  id: fc.option(fc.constantFrom('same', 'call_1', ''), { nil: null }),
});
const answer = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('calls' as const), calls: fc.array(call, { minLength: 1, maxLength: 4 }), text: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...KINDS), size }) },
);
/** Models that go wrong go wrong the same way again. */
const streak = fc.tuple(answer, fc.constantFrom(1, 1, 1, 1, 1, 2, 3, 4, 9)).map(([one, times]) => Array.from({ length: times }, () => one));
const sometimes = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(null) }, { weight, arbitrary });
const turn: fc.Arbitrary<Turn> = fc.record({
  answers: fc.array(streak, { maxLength: 7, size: 'max' }).map((streaks) => streaks.flat()),
  maxTurns: fc.integer({ min: 2, max: 14 }),
  interruptAt: sometimes(2, fc.nat(80)),
  leaveAt: sometimes(1, fc.nat(40)),
  steerAt: fc.array(fc.nat(40), { maxLength: 2 }),
  brokeAfter: sometimes(1, fc.nat(6)),
  skills: fc.constantFrom(0, 0, 1, 2),
});
const conversation = fc.record({
  turns: fc.array(turn, { minLength: 2, maxLength: 4, size: 'max' }),
  contextLength: fc.constantFrom(null, 1_500, 3_000, 100_000),
  compression: fc.boolean(),
  summaries: fc.constantFrom('good', 'failing', 'empty'),
  ephemeral: fc.boolean(),
});

let bench: AgentBench;
let mirror: FakeModel;
const t = testStore();
beforeAll(async () => {
  bench = await openAgentBench();
  mirror = await startFakeModel();
});
afterAll(async () => {
  await bench.close();
  await mirror.close();
  await t.close();
});

/** What a person says, and the skills that it runs. */
const asked = (text: string, skills: number): Message[] => [ask(text), ...Array.from({ length: skills }, (_, i): Message => ({ ...ask(`skill ${i} for ${text}`), note: 'skill' }))];

const SYSTEM = 'SYSTEM\n  byte for byte ';
const words = (n: number): string => 'some words of text '.repeat(Math.ceil(n / 19)).slice(0, n);

function stepOf(a: Answer): Step {
  if (a.kind === 'calls') {
    const calls = a.calls.map((c) => toolCall(c.tool, { text: words(c.size) }, c.id === null ? {} : { id: c.id }));
    return a.text ? together(think('I should look.', ['reasoning', 'reasoning_details'], { signature: 'sig' }), say('Let me see. '), callTools(calls)) : callTools(calls);
  }
  switch (a.kind) {
    case 'say': return say(words(a.size));
    case 'thinkSay': return together(think(words(a.size), 'reasoning_content'), say('So it is.'));
    case 'unclosed': return say(`<think>${words(a.size)}`);
    case 'empty': return a.size % 2 ? empty() : think('nothing but thought');
    case 'length': return { ...say(words(a.size)), finishReason: 'length' };
    case 'lengthCall': return { ...callTool('echo', '{"text": "cut of'), finishReason: 'length' };
    case 'badJson': return callTools([toolCall('echo', '{"text": '), toolCall('echo', { text: 'fine' })]);
    case 'unknown': return callTools([toolCall('launch_rocket', {}), toolCall('echo', {})]);
    case 'hang': return together(say(words(a.size)), hangAfter(a.size % 4));
    case 'busy': return fail(429, { retryAfterMs: 1 });
    case 'broken': return fail(500);
    case 'cut': return together(say(words(200)), cutAfter(1 + (a.size % 3)));
    case 'overflow': return contextOverflow(400 + a.size, 2_500);
    case 'orphanSurrogate': return callTool('echo', `{"text": "a\\ud800b ${a.size}"}`);
  }
}

test('random conversations keep every promise of the loop', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (c) => {
      let turnAbort = new AbortController();
      const waitForEnd = (signal: AbortSignal): Promise<string> =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped by the signal')), { once: true }));
      const tools = toolsOf(
        toolNamed('echo', (args) => Promise.resolve(JSON.stringify(args))),
        toolNamed('write', () => Promise.resolve('written'), 'never'),
        toolNamed('slow', async (args) => {
          for (let i = 0; i < 5; i++) await new Promise(setImmediate);
          return JSON.stringify(args);
        }),
        toolNamed('chatty', async (_, { onOutput }) => {
          onOutput('one ');
          await new Promise(setImmediate);
          onOutput('two');
          return 'one two';
        }),
        toolNamed('defect', () => Promise.reject(new TypeError('boom \ud800'))),
        toolNamed('stop', (_, { signal }) => {
          const ended = waitForEnd(signal);
          turnAbort.abort();
          return ended;
        }),
      );
      const queue: Answer[] = [];
      const sent: ChatBody[] = [];
      bench.fake.respond(({ body }) => {
        if (!String(body.messages[0]?.content).startsWith(SYSTEM)) return c.summaries === 'good' ? say('## Goal\nTo be done.\n## Progress\nDone: a lot.') : c.summaries === 'empty' ? empty() : fail(500);
        sent.push(body);
        // strict chat templates refuse what does not alternate
        body.messages.forEach(({ role }, i) => expect(role !== 'tool' && role !== 'assistant' && role === body.messages[i + 1]?.role).toBe(false));
        const next = queue.shift();
        if (next?.kind === 'hang') setImmediate(() => turnAbort.abort());
        return next ? stepOf(next) : say('All done.');
      });

      const recorder = TrajectoryRecorder.begin(t.store.db, t.hub, Date.now, {
        kind: 'chat', prompt: 'p', model: 'fake/m', provider: 'fake', scripted: false, systemPrompt: SYSTEM, toolsets: [], tools: tools.specs,
      });
      const spec: AgentSpec = {
        systemPrompt: SYSTEM,
        maxTurns: 1,
        contextLength: c.contextLength,
        ...(c.compression ? { compression: { threshold: 0.5, tailRatio: 0.2, protectLast: 3 } } : {}),
        ...(c.ephemeral ? { ephemeral: { system: 'Only now.', prefill: [ask('hello'), { role: 'assistant', content: 'hi', createdAt: 1 }] } } : {}),
      };
      const stored = (): Message[] => t.store.db.all(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', recorder.n).orderBy('seq')).map((row) => fromMessageRow(row));
      /** The request that each stored answer came from. */
      const answered: { seq: number; body: ChatBody }[] = [];
      const quiet: Turn = { answers: [], maxTurns: 9, interruptAt: null, leaveAt: null, steerAt: [], brokeAfter: null, skills: 0 };

      for (const [number, plan] of [...c.turns, quiet].entries()) {
        turnAbort = new AbortController();
        queue.splice(0, Infinity, ...plan.answers);
        const steering: Message[] = [];
        const said: Message[] = [];
        let calls = 0;
        let events = 0;
        let ends = 0;
        let left = false;
        let lastSeq = -1;
        const history = stored();
        const deps = {
          ...bench.deps,
          tools,
          steering: () => steering.splice(0),
          overBudget: () => (plan.brokeAfter !== null && calls++ >= plan.brokeAfter ? 'The cap is reached.' : null),
        };
        for await (const event of runAgent({ ...spec, maxTurns: plan.maxTurns }, { history, input: asked(`request ${number}`, plan.skills) }, deps, turnAbort.signal)) {
          expect(ends).toBe(0);
          if (event.type === 'end') {
            ends++;
            if (event.result.exitReason !== 'completed') expect(event.result.error).toBeTruthy();
            expect(event.result.exitReason).not.toBe('error');
          }
          if (event.type === 'message') {
            const { seq } = recorder.append(event.message);
            lastSeq = seq;
            if (event.message.role === 'assistant') answered.push({ seq, body: sent.at(-1)! });
          }
          if (plan.interruptAt === events) turnAbort.abort();
          if (plan.steerAt.includes(events)) {
            const messages = asked(`by the way ${number}.${events}`, plan.skills);
            steering.push(...messages);
            said.push(...messages);
          }
          if (plan.leaveAt === events++ && event.type !== 'end') {
            left = true;
            break;
          }
        }
        expect(left ? 0 : 1).toBe(ends);
        if (lastSeq >= 0) expect(stored()).toHaveLength(lastSeq + 1);
        // what was said meanwhile is stored, or still the caller's to send
        const kept = new Set([...stored(), ...steering].map((m) => m.content));
        if (!left) for (const message of said) expect(kept).toContain(message.content);
      }
      recorder.end({ exitReason: 'completed', error: null });

      const all = stored();
      expectPaired(all);
      const replay = createOpenAiChatModel({ provider: 'fake', baseUrl: mirror.url, apiKey: 'k', model: 'fake/m' });
      for (const { seq, body } of answered) {
        const isContinuation = String(body.messages.at(-1)?.content).startsWith('Your last answer was cut off');
        const expected = isContinuation ? body.messages.slice(0, -2) : body.messages;
        mirror.requests.length = 0;
        const request = { messages: requestMessages(all.slice(0, seq), spec.ephemeral), tools: body.tools ? tools.specs : [] };
        for await (const _ of replay.stream(request, new AbortController().signal));
        const again = mirror.chats.at(-1)!.body;
        expect(again.messages).toEqual(expected);
        expect(again.tools).toEqual(body.tools);
      }
      const { conversations } = toHermes(all, tools.specs);
      const exported = JSON.stringify(conversations);
      for (const m of all) if (m.synthetic) expect(exported).not.toContain(JSON.stringify(m.content).slice(1, -1));
      for (const [i, { from, value }] of conversations.entries()) {
        if (from !== 'human') continue;
        expect(conversations[i + 1]?.from).not.toBe('human');
        for (const [, about] of value.matchAll(/^skill 0 for (.+)$/gm)) expect(value).toContain(`${about}\n\nskill 0 for ${about}`);
      }
      const human = conversations.filter(({ from }) => from === 'human').map(({ value }) => value).join('\n\n');
      expect(human).toBe(all.filter((m) => m.role === 'user' && !m.synthetic).map((m) => m.content).join('\n\n'));
      bench.fake.requests.length = 0;
    }),
    { numRuns: 120, interruptAfterTimeLimit: 60_000 },
  );
}, 120_000);
