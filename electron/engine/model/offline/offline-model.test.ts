import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import { runAgent } from '../../agent/loop.ts';
import type { AgentResult } from '../../agent/types.ts';
import { createHostSandbox } from '../../sandbox/testing.ts';
import { createRegistry } from '../../tools/registry.ts';
import type { ChatAnswer, ModelEvent } from '../types.ts';
import { createOfflineModel } from './offline-model.ts';
import { loadScenarios } from './scenario.ts';

const RESOURCES = join(import.meta.dirname, '../../../../resources');
const book = await loadScenarios(RESOURCES);
const promptOf = (id: string): string => [...book].find(([, scenario]) => scenario.id === id)?.[0] ?? id;
const model = createOfflineModel({ resources: RESOURCES, pace: 0 });
const signal = new AbortController().signal;

interface Played {
  messages: Message[];
  assistant: Message[];
  result: AgentResult;
}

/** Runs a prompt as a rollout would: real loop, real tools, an empty workspace. */
async function play(prompt: string, toolsets: string[] = ['terminal', 'file'], maxTurns = 10): Promise<Played> {
  const root = mkdtempSync(join(tmpdir(), 'talaria-offline-'));
  const sandbox = await createHostSandbox({ root });
  const messages: Message[] = [];
  let result: AgentResult | null = null;
  try {
    const deps = { model, tools: createRegistry(toolsets), sandbox, now: Date.now };
    for await (const event of runAgent({ systemPrompt: 'You are an agent.', maxTurns }, { history: [], input: [{ role: 'user', content: prompt, createdAt: 1 }] }, deps, signal)) {
      if (event.type === 'message') messages.push(event.message);
      if (event.type === 'end') result = event.result;
    }
  } finally {
    await sandbox.dispose({ remove: true });
    rmSync(root, { recursive: true, force: true });
  }
  if (result === null) throw new Error('The run did not end.');
  return { messages, assistant: messages.filter((message) => message.role === 'assistant'), result };
}

/** What each demo prompt must come to: the end, words of the final answer, the number of turns, failed tool results on the way. */
const EXPECTED: Record<string, { answer: RegExp; turns: number; errors?: number }> = {
  slugify: { answer: /all 5 tests in `test_slugify\.py` pass/, turns: 6 },
  'sales-by-region': { answer: /\*\*South\*\* leads with 235\.75, 21\.15 ahead of North \(214\.60\)[\s\S]*East,145\.15\n/, turns: 4 },
  'log-triage': { answer: /\| ERROR \| 5 \|[\s\S]*`db timeout after 5000ms`: 3 of 5[\s\S]*2026-03-02T08:12:05Z/, turns: 3 },
  'flatten-orders': { answer: /has 3 lines/, turns: 4 },
  'word-frequency-zh': { answer: /the 6\nriver 3\nruns 3[\s\S]*退出码为 1/, turns: 4 },
  'class-scores-zh': { answer: /语文 75\.4，数学 76\.0，英语 77\.4[\s\S]*1,陈雨,277[\s\S]*孙浩：语文 45/, turns: 3 },
  'rename-photos-zh': { answer: /IMG_20\.jpg -> photo-005\.jpg/, turns: 5 },
  'leap-year-zh': { answer: /4 个测试全部通过[\s\S]*\[400, 800/, turns: 5 },
  'roman-numerals': { answer: /IV IX MCMXCIV MMMCMXCIX/, turns: 5 },
  'config-ports': { answer: /both want port 8080[\s\S]*9090/, turns: 4 },
  'merge-contacts': { answer: /holds 5 addresses[\s\S]*3 were duplicates[\s\S]*frank\(at\)example\.com/, turns: 4 },
  teapot: { answer: /I'm a teapot/, turns: 3 },
  'collect-todos': { answer: /all four hold/, turns: 7, errors: 1 },
  'rotate-backups-zh': { answer: /已删除 backup-2025-12-31\.tar[\s\S]*backup-2026-02-02\.tar[\s\S]*退出码为 2/, turns: 5 },
};
const FAILING = ['await-deploy', 'upstream-outage'];

describe('the demo prompts, with real tools', () => {
  // Bug: a prompt is added without saying what it must come to, or the set loses its variety.
  it('are all accounted for', () => {
    const ids = [...book.values()].map((scenario) => scenario.id);
    expect(ids.toSorted()).toEqual([...Object.keys(EXPECTED), ...FAILING].toSorted());
    expect([...book.values()].filter((scenario) => scenario.language === 'zh').length).toBeGreaterThanOrEqual(4);
  });

  // Bug: a scenario, a tool or the machine is not as the script expects, and the demo shows excuses instead of results.
  it.each(Object.entries(EXPECTED))('%s is completed with real figures', async (id, { answer, turns, errors = 0 }) => {
    const { assistant, messages, result } = await play(promptOf(id));
    expect(result.finalAnswer).toMatch(answer);
    expect(result.exitReason).toBe('completed');
    expect(assistant.length).toBe(turns);
    expect(messages.filter((message) => message.isError === true).length).toBe(errors);
    expect(assistant.every((message) => message.reasoning !== undefined)).toBe(id !== 'teapot');
    expect(JSON.stringify(messages)).not.toMatch(/\{\{\w+\}\}/);
    expect(result.usage.completionTokens).toBeGreaterThan(20);
  });

  // Bug: there is nothing in the demo that looks like a partial or a failed row.
  it('one runs out of turns, one fails at the provider', async () => {
    const waiting = await play(promptOf('await-deploy'), ['terminal', 'file'], 4);
    expect(waiting.result.exitReason).toBe('max_turns');
    expect(waiting.messages.at(-1)?.content).toContain('has **not** appeared');
    const failed = await play(promptOf('upstream-outage'));
    expect(failed.result).toMatchObject({ exitReason: 'provider_error', modelError: { code: 'server' } });
    expect(failed.assistant.length).toBe(2);
  });

  // Bug: no demo prompt shows parallel calls or a recovery.
  it('show parallel calls', async () => {
    for (const id of ['log-triage', 'config-ports']) {
      expect((await play(promptOf(id))).assistant.some((message) => (message.toolCalls?.length ?? 0) >= 3)).toBe(true);
    }
  });
});

describe('with fewer tools', () => {
  // Bug: a scenario calls a tool that was not offered, and the run ends as an invalid tool call.
  it.each([...book.values()].map((scenario) => scenario.id))('%s calls only what is offered', async (id) => {
    for (const toolsets of [['terminal'], ['file'], []]) {
      const { result, messages } = await play(promptOf(id), toolsets);
      const offered = new Set(createRegistry(toolsets).specs.map((spec) => spec.name));
      for (const message of messages) for (const call of message.toolCalls ?? []) expect(offered).toContain(call.name);
      expect(['completed', 'max_turns', 'provider_error']).toContain(result.exitReason);
      if (toolsets[0] === 'terminal' && id in EXPECTED) expect(result.finalAnswer).toMatch(EXPECTED[id]?.answer ?? /^$/);
    }
  });

  // Bug: without the means to do it, the teacher claims success.
  it('says so instead of pretending', async () => {
    const { result } = await play(promptOf('slugify'), ['file']);
    expect(result.finalAnswer).toMatch(/tool `terminal` is not offered[\s\S]*not finished[\s\S]*`write_file`/);
    expect((await play(promptOf('class-scores-zh'), [])).result.finalAnswer).toContain('任务没有完成');
  });
});

async function ask(messages: Message[], pace = 0, stop = signal): Promise<{ answer: ChatAnswer; deltas: Extract<ModelEvent, { type: 'delta' }>[] }> {
  const deltas: Extract<ModelEvent, { type: 'delta' }>[] = [];
  const paced = createOfflineModel({ resources: RESOURCES, pace });
  for await (const event of paced.stream({ messages, tools: createRegistry(['terminal']).specs }, stop)) {
    if (event.type === 'delta') deltas.push(event);
    if (event.type === 'answer') return { answer: event.answer, deltas };
  }
  throw new Error('no answer');
}

const userMessage = (content: string): Message => ({ role: 'user', content, createdAt: 1 });

describe('any other prompt', () => {
  // Bug: the scripted model makes an answer up.
  it('looks at the workspace and says what it is', async () => {
    const english = await play('What is the airspeed of an unladen swallow?');
    expect(english.result).toMatchObject({ exitReason: 'completed', finalAnswer: expect.stringMatching(/scripted demo model[\s\S]*not solved/) as unknown });
    expect(english.assistant[0]?.toolCalls?.map((call) => call.name)).toEqual(['terminal']);
    expect((await play('今天天气怎么样？', ['file'])).result.finalAnswer).toContain('脚本演示模型');
    expect((await play('Hello', [])).assistant.length).toBe(1);
  });
});

describe('the stream', () => {
  // Bug: what is shown while it streams is not what is stored; state hides in the model, so a resumed run goes astray.
  it('streams exactly the answer, which depends on the request alone', async () => {
    const messages = [userMessage(promptOf('sales-by-region'))];
    const { answer, deltas } = await ask(messages);
    const joined = (channel: string): string => deltas.filter((delta) => delta.channel === channel).map((delta) => delta.text).join('');
    expect(joined('reasoning')).toBe(answer.reasoning);
    expect(joined('content')).toBe(answer.content);
    expect(joined('tool')).toBe(answer.toolCalls.map((call) => call.arguments).join(''));
    const [again, beside] = await Promise.all([ask(messages), ask(messages)]);
    expect([again.answer, beside.answer].map((one) => ({ ...one, durationMs: 0 }))).toEqual([{ ...answer, durationMs: 0 }, { ...answer, durationMs: 0 }]);
  });

  // Bug: in a chat, an earlier prompt's turns are taken for this one's, a skill's text for the prompt, or call ids repeat.
  it('starts anew with each prompt of a conversation', async () => {
    const first = [userMessage('Hello')];
    const { answer } = await ask(first);
    const history: Message[] = [
      ...first,
      { role: 'assistant', content: '', toolCalls: answer.toolCalls, createdAt: 2 },
      { role: 'tool', content: '{"output":"","exit_code":0,"error":null}', toolCallId: answer.toolCalls[0]?.id ?? '', createdAt: 3 },
      { role: 'user', content: 'a note of the harness', synthetic: true, createdAt: 4 },
    ];
    expect((await ask(history)).answer.toolCalls).toEqual([]);
    const withSkill: Message[] = [...first, { role: 'user', content: 'the text of a skill', note: 'skill', createdAt: 1 }];
    expect((await ask(withSkill)).answer.toolCalls).toMatchObject(answer.toolCalls.map(({ name }) => ({ name })));
    const second = await ask([...history, { role: 'assistant', content: 'Done.', createdAt: 5 }, userMessage('Hello')]);
    expect(second.answer.toolCalls.length).toBe(1);
    expect(second.answer.toolCalls[0]?.id).not.toBe(answer.toolCalls[0]?.id);
  });

  // Bug: a cancelled demo run goes on streaming.
  it('stops at once when aborted', async () => {
    const stop = new AbortController();
    const running = (async () => {
      const slow = createOfflineModel({ resources: RESOURCES, pace: 1e6 });
      for await (const event of slow.stream({ messages: [userMessage('Hello')], tools: [] }, stop.signal)) expect(event).toBeNull();
    })();
    setImmediate(() => stop.abort());
    await expect(running).rejects.toMatchObject({ name: 'ModelError', code: 'aborted' });
  });
});
