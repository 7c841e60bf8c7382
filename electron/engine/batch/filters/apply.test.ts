import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Filter, parseFilter } from '#shared/filters.ts';
import { type Message, ZERO_USAGE } from '#shared/trajectory.ts';
import { assistant, toolResult, user } from '../../trajectories/testing.ts';
import { finalAnswer } from './answer.ts';
import { applyFilters, matchingFilters } from './apply.ts';
import type { FilterFacts, FilterSubject } from './types.ts';

function subject(messages: Message[], more: Partial<FilterFacts> & { row?: Record<string, unknown>; scores?: Record<string, number | null>; prompt?: string; sameAnswer?: FilterSubject['sameAnswer'] } = {}): FilterSubject {
  const { row = {}, scores = {}, prompt = 'q', sameAnswer = () => null, ...facts } = more;
  return {
    facts: {
      exitReason: 'completed', model: 'm', provider: 'p', toolsets: ['terminal', 'web'], tools: [{ name: 'terminal', description: '', parameters: {} }], turns: 1, turnsWithReasoning: 0,
      toolCalls: messages.reduce((n, m) => n + (m.toolCalls?.length ?? 0), 0), toolErrors: 0, apiCalls: 1, usage: ZERO_USAGE, costUsd: null, reward: null, rating: null, startedAt: 0, endedAt: 2_500, ...facts,
    },
    promptIndex: 4,
    rollout: 1,
    messages: () => messages,
    prompt: () => prompt,
    row: () => row,
    scores: () => scores,
    sameAnswer,
  };
}

const cause = (filter: string, s: FilterSubject) => applyFilters([parseFilter(filter)], s)?.cause ?? null;
const call = (id: string, name: string, args = '{}') => ({ id, name, arguments: args });
const said = (text: string) => subject([user('q'), assistant(text)]);

describe('built-in filters', () => {
  // Bug: inline reasoning does not count, so good rows are thrown away; or empty tags count, so bad ones are kept.
  test.each<[string, Partial<Message>, boolean]>([
    ['none', {}, true],
    ['an empty block', { content: '<think>\n</think>\nA' }, true],
    ['the field', { reasoning: 'R' }, false],
    ['a blank field', { reasoning: ' \n' }, true],
    ['inline', { content: '<think>R</think>A' }, false],
    ['a scratchpad', { content: '<REASONING_SCRATCHPAD>R</REASONING_SCRATCHPAD>A' }, false],
    ['the word in an answer', { content: 'Use <think>…</think> tags.' }, true],
  ])('no_reasoning: %s', (_name, message, discarded) => {
    expect(cause('no_reasoning', subject([user('q'), assistant('A', message)]))).toBe(discarded ? 'no_reasoning' : null);
    // a harness's note is nobody's reasoning
    expect(cause('no_reasoning', subject([user('q'), assistant('x', { synthetic: true, reasoning: 'R' }), assistant('A', message)]))).toBe(discarded ? 'no_reasoning' : null);
  });

  test('unknown_tool, incomplete_scratchpad, partial, truncated', () => {
    expect(cause('unknown_tool', subject([user('q'), assistant('', { toolCalls: [call('a', 'terminal')] })]))).toBeNull();
    expect(applyFilters([parseFilter('unknown_tool')], subject([user('q'), assistant('', { toolCalls: [call('a', '__proto__')] })]))).toEqual({ cause: 'unknown_tool', reason: 'It calls "__proto__", which is no tool that was offered.' });
    expect(cause('incomplete_scratchpad', said('<REASONING_SCRATCHPAD>I was'))).toBe('incomplete_scratchpad');
    expect(cause('incomplete_scratchpad', said('<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>b'))).toBeNull();
    expect(cause('incomplete_scratchpad', said('<think>I was'))).toBe('incomplete_scratchpad');
    expect(cause('incomplete_scratchpad', said('The tag <think> opens a block.'))).toBeNull();
    expect(cause('partial', subject([], { exitReason: 'max_turns' }))).toBe('partial');
    expect(cause('partial', subject([], { exitReason: 'timeout' }))).toBe('partial');
    expect(cause('partial', said('x'))).toBeNull();
    expect(cause('truncated', subject([user('q'), assistant('x', { finishReason: 'length' })]))).toBe('truncated');
    expect(cause('truncated', subject([user('q'), assistant('x', { finishReason: 'length' }), assistant('y', { finishReason: 'stop' })]))).toBeNull();
  });

  // Bug: an answer that says sorry and helps, or reports that something cannot be found, is taken for a refusal.
  test('refused: well-known wordings in English and Chinese, and nothing that only sounds like them', () => {
    for (const text of [
      "I'm sorry, but I can't help with that.", 'I’m sorry, but I can’t assist with that request.', 'I cannot assist with that.', 'Sorry, I cannot provide instructions for that.', 'I am unable to help with this request.',
      'As an AI language model, I cannot form opinions.', 'I must decline.', '**I’m sorry, but as an AI I won’t create this.**', 'Unfortunately, I am not able to comply with this.', "I won't help with that.",
      '抱歉，我无法提供这方面的帮助。', '很抱歉，我不能协助您完成这个请求。', '对不起，我无法回答这个问题。', '作为一个人工智能语言模型，我无法提供个人意见。', '我无法提供此类帮助。', '非常抱歉，但我不能为您提供这些内容。',
    ]) expect([text, cause('refused', said(text))]).toEqual([text, 'refused']);
    for (const text of [
      'I cannot find the file a.txt; it does not exist.', "I'm sorry for the confusion. The answer is 4.", 'Sorry, the test failed because of a missing import, which I fixed.', 'The server says "I cannot help with that".',
      'I can help with that.', '抱歉让您久等了，答案是 4。', '我无法找到文件 a.txt，但已经新建了一个。', '对不起，刚才的结果有误，正确答案是 42。', `I'm sorry, but I can't help with the first part. ${'Here is the second. '.repeat(100)}`, '', 'I cannot help you until you tell me which file.',
    ]) expect([text.slice(0, 60), cause('refused', said(text))]).toEqual([text.slice(0, 60), null]);
  });

  test('too_short counts the characters of the final answer, and a turn of calls is no answer', () => {
    expect(cause('too_short:4', said('<think>long enough</think>abc'))).toBe('too_short');
    expect(cause('too_short:4', said('😀😀😀😀'))).toBeNull();
    expect(cause('too_short:1', subject([user('q'), assistant('Text.', { toolCalls: [call('a', 'terminal')] }), toolResult('a', 'terminal', 'x')]))).toBe('too_short');
    expect(finalAnswer([user('q')])).toBe('');
  });

  // Bug: code and tables are taken for loops; a model that takes turns between two sentences is not seen.
  test('looped: sentences, lines, words and calls that come again and again', () => {
    const again = (text: string, times: number) => text.repeat(times);
    expect(cause('looped', said(again('I should check the file first. ', 6)))).toBe('looped');
    expect(cause('looped', said(again('Let me look at the file. Now I will try it once more.\n', 6)))).toBe('looped');
    expect(cause('looped', said(again('我应该先检查一下这个文件的内容。', 6)))).toBe('looped');
    expect(cause('looped', said(`Fine. ${again('wait no ', 60)}`))).toBe('looped');
    expect(cause('looped', subject([user('q'), assistant('Done.', { reasoning: again('Maybe it is the other way round. ', 8) })]))).toBe('looped');
    expect(cause('looped', said(again('I should check the file first. ', 3)))).toBeNull();
    expect(cause('looped', said(`${again('    }\n', 40)}${again('-', 400)}\n${again('| --- | --- |\n', 30)}${again('0', 500)}`))).toBeNull();
    expect(cause('looped', said(Array.from({ length: 300 }, (_, i) => `Row ${i} of the table has the value ${i * 7}.`).join('\n')))).toBeNull();
    const calls = (args: (i: number) => string, result: (i: number) => string) => subject(Array.from({ length: 6 }, (_, i) => [assistant('', { toolCalls: [call(`c${i}`, 'terminal', args(i))] }), toolResult(`c${i}`, 'terminal', result(i))]).flat());
    expect(cause('looped', calls(() => '{"command": "ls"}', () => 'a'))).toBe('looped');
    expect(cause('looped', calls(() => '{"command": "ls"}', (i) => `${i} % done`))).toBeNull();
    expect(cause('looped', calls((i) => `{"command": "ls ${i}"}`, () => 'a'))).toBeNull();
  });

  test('duplicate_answer asks for the same answer, of the same prompt only when told', () => {
    const asked: [string, boolean][] = [];
    const s = subject([user('q'), assistant('<think>r</think> A ')], { sameAnswer: (answer, samePrompt) => (asked.push([answer, samePrompt]), samePrompt ? { promptIndex: 4, rollout: 0 } : { promptIndex: 2, rollout: 0 }) });
    expect(applyFilters([parseFilter('duplicate_answer')], s)).toEqual({ cause: 'duplicate_answer', reason: 'The final answer is that of prompt 2.' });
    expect(applyFilters([parseFilter('duplicate_answer:any')], s)?.reason).toBe('The final answer is that of prompt 4, rollout 0.');
    expect(asked).toEqual([['A', false], ['A', true]]);
    expect(cause('duplicate_answer', subject([user('q'), assistant('')], { sameAnswer: () => ({ promptIndex: 0, rollout: 0 }) }))).toBeNull();
  });
});

describe('rules', () => {
  const s = subject([user('q'), assistant('I cannot say. Perhaps 42?')], {
    row: { level: 5, text: '7', tags: ['Easy', 'x'], deep: { a: [1] }, none: null, yes: true, __proto__: 'x' },
    scores: { exact: 0, judge: null }, toolErrors: 3, costUsd: 0.25, usage: { ...ZERO_USAGE, promptTokens: 100, completionTokens: 20 }, reward: 0.4, prompt: 'What is it?',
  });
  test.each<[string, boolean]>([
    ['tool_errors > 3', false], ['tool_errors >= 3', true], ['tokens = 120', true], ['cost > 0.2', true], ['duration_s = 2.5', true], ['reward < 0.5', true], ['prompt_index = 4', true], ['rollout != 1', false],
    ['rating = null', true], ['rating < 3', false], ['rating != 3', false], ['rating != null', false], ['reward != null', true],
    ['answer contains "i CANNOT"', true], ['answer contains cannot find', false], ['answer matches /perhaps \\d+/i', true], ['answer matches /^perhaps/i', false], ['prompt contains what', true],
    ['model = m', true], ['model != m', false], ['exit_reason = completed', true], ['toolsets contains web', true], ['toolsets contains we', false], ['toolsets = "terminal, web"', true],
    ['row.level == 5', true], ['row.level > 4', true], ['row.text = 7', true], ['row.text < 8', true], ['row.text = "7"', true], ['row.tags contains easy', true], ['row.deep contains 1', true], ['row.none = null', true],
    ['row.missing = null', true], ['row.missing != x', false], ['row.yes = true', true], ['row.constructor = null', true], ['score.exact = 0', true], ['score.judge = null', true], ['score.exact < 0.5', true],
  ])('%s is %s', (rule, matches) => expect(cause(rule, s) !== null).toBe(matches));

  test('the cause is the name, the reason says the rule; the first that matches counts, and each is counted by itself', () => {
    const filters = ['partial', 'weak=reward < 0.5', 'tool_errors > 2'].map(parseFilter);
    expect(applyFilters(filters, s)).toEqual({ cause: 'weak', reason: 'It matches reward < 0.5.' });
    expect(matchingFilters(filters, s)).toEqual(['weak', 'tool_errors > 2']);
  });

  // Bug: a pattern of polynomial time stops the engine, though its shape was let through.
  test('a slow pattern on a long text ends soon and does not match', () => {
    const slow = subject([user('q'), assistant('a'.repeat(300_000))]);
    const started = performance.now();
    expect(cause('answer matches /a*a*a*a*b$/', slow)).toBeNull();
    expect(cause('answer matches /(a|a)*b/', slow)).toBeNull();
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(cause('answer matches /^a/', slow)).toBe('answer matches /^a/');
  });

  // Bug: what a model wrote makes a filter throw, and with it the whole run fail.
  test('no text makes a filter throw', () => {
    const all: Filter[] = ['no_reasoning', 'unknown_tool', 'incomplete_scratchpad', 'partial', 'truncated', 'refused', 'too_short:3', 'looped', 'answer matches /a.b/s', 'row.a contains x', 'answer = x'].map(parseFilter);
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('\0', '\ud83d', '<think>', '__proto__'));
    fc.assert(fc.property(text, text, fc.anything(), (a, b, c) => {
      matchingFilters(all, subject([user(a), assistant(b, { reasoning: a, toolCalls: [call(a, b, a)] }), toolResult(a, b, a), assistant(a)], { row: { a: c } }));
    }));
  });
});
