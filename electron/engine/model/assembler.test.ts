import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerAssembler } from './answer-assembler.ts';
import type { ChatAnswer } from './types.ts';

type Json = Record<string, unknown>;

function assemble(deltas: Json[], context = { takenIds: new Set<string>(), turn: 0 }): ChatAnswer {
  const assembler = createAnswerAssembler({ ...context, tools: [] });
  for (const delta of deltas) assembler.push({ choices: [{ delta }] });
  return assembler.finish(0).answer;
}

const calls = (...entries: Json[]): Json[] => entries.map((entry) => ({ tool_calls: [entry] }));

describe('tool calls', () => {
  // Bug (hermes-agent #6841): a name repeated in every delta becomes "terminalterminal".
  it.each([{ index: 0 }, {}])('counts a repeated name once (%j)', (index) => {
    const { toolCalls } = assemble(
      calls(
        { ...index, id: 'c1', function: { name: 'terminal', arguments: '' } },
        { ...index, function: { name: 'terminal', arguments: '{"command":' } },
        { ...index, function: { name: 'terminal', arguments: '"ls"}' } },
      ),
    );
    expect(toolCalls).toEqual([{ id: 'c1', name: 'terminal', arguments: '{"command":"ls"}' }]);
  });

  // Bug: two parallel calls run together when the server leaves the index out or says 0 for both.
  it.each([{}, { index: 0 }])('keeps parallel calls apart without a useful index (%j)', (index) => {
    const { toolCalls } = assemble(
      calls(
        { ...index, id: 'c1', function: { name: 'a', arguments: '{"x"' } },
        { ...index, function: { arguments: ':1}' } },
        { ...index, id: 'c2', function: { name: 'a', arguments: '{"x":2}' } },
      ),
    );
    expect(toolCalls.map((call) => call.arguments)).toEqual(['{"x":1}', '{"x":2}']);
  });

  // Bug: whole calls without index and id (some local servers) are merged, or get empty ids.
  it('takes whole calls with neither index nor id, and makes ids up', () => {
    const whole = [{ tool_calls: [{ function: { name: 'a', arguments: '{}' } }, { function: { name: 'a', arguments: { x: 1 } } }, { function: { name: 'b' } }] }];
    const { toolCalls } = assemble(whole, { takenIds: new Set(['call_3_0']), turn: 3 });
    expect(toolCalls.map((call) => [call.name, call.arguments])).toEqual([['a', '{}'], ['a', '{"x":1}'], ['b', '{}']]);
    expect(new Set(['call_3_0', ...toolCalls.map((call) => call.id)]).size).toBe(4);
    expect(assemble(whole, { takenIds: new Set(['call_3_0']), turn: 3 }).toolCalls).toEqual(toolCalls);
  });

  // Bug: an id that a server reuses in every turn makes two results of one trajectory indistinguishable.
  it('replaces an id that the conversation already has', () => {
    const { toolCalls } = assemble(calls({ index: 0, id: 'call_0', function: { name: 'a', arguments: '' } }), { takenIds: new Set(['call_0']), turn: 1 });
    expect(toolCalls[0]?.id).not.toBe('call_0');
    expect(toolCalls[0]?.arguments).toBe('{}');
  });

  // Bug: a fresh id in every continuing delta (old vLLM) opens a new call each time; a name in pieces is cut.
  it('goes on with a call whose deltas change their id, and joins a name in pieces', () => {
    const { toolCalls } = assemble(
      calls(
        { index: 0, id: 'x1', function: { name: 'term' } },
        { index: 0, id: 'x2', function: { arguments: '{"a":' } },
        { index: 0, id: 'x3', function: { arguments: '1}' } },
      ),
    );
    expect(toolCalls).toEqual([{ id: 'x1', name: 'term', arguments: '{"a":1}' }]);
    expect(assemble(calls({ index: 0, id: 'x', function: { name: 'term' } }, { index: 0, function: { name: 'inal', arguments: '{}' } })).toolCalls[0]?.name).toBe('terminal');
  });

  // Bug: interleaved argument pieces of parallel calls end in the wrong call.
  it('assembles interleaved pieces by index', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== '');
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(4), { maxLength: 60 }), (texts, order) => {
        const left = texts.map((value) => [...value]);
        const entries: Json[] = texts.map((_, index) => ({ index, id: `c${index}`, function: { name: `t${index}`, arguments: '' } }));
        for (const pick of [...order, ...texts.flatMap((value, index) => Array<number>(value.length).fill(index))]) {
          const piece = left[pick % texts.length]?.shift();
          if (piece !== undefined) entries.push({ index: pick % texts.length, function: { arguments: piece } });
        }
        expect(assemble(calls(...entries)).toolCalls).toEqual(texts.map((value, index) => ({ id: `c${index}`, name: `t${index}`, arguments: value })));
      }),
    );
  });
});

describe('reasoning', () => {
  // Bug: reasoning sent in two fields is doubled; details lose their signature or are not put together.
  it('counts text sent in several fields once and rebuilds the details', () => {
    const detail = (text: string, more: Json = {}): Json => ({ type: 'reasoning.text', text, index: 0, ...more });
    const answer = assemble([
      { reasoning: 'Let ', reasoning_content: 'Let ', reasoning_details: [detail('Let ')] },
      { reasoning: 'me.', reasoning_content: 'me.', reasoning_details: [detail('me.', { signature: 'sig' })] },
      { content: 'Hi' },
    ]);
    expect(answer).toMatchObject({ reasoning: 'Let me.', content: 'Hi', reasoningDetails: [{ type: 'reasoning.text', text: 'Let me.', index: 0, signature: 'sig' }] });
  });

  // Bug: reasoning is lost when it comes only as details, in any of their three text fields.
  it.each(['summary', 'content', 'text'])('reads details[].%s', (field) => {
    expect(assemble([{ reasoning_details: [{ type: 't', [field]: 'why', index: 0 }] }]).reasoning).toBe('why');
  });

  // Bug: the same thought, native and inline, is kept twice; different ones lose one.
  it('joins native and inline reasoning', () => {
    expect(assemble([{ reasoning: 'same' }, { content: '<think>\nsame\n</think>Hi' }])).toMatchObject({ reasoning: 'same', content: 'Hi' });
    expect(assemble([{ reasoning: 'one' }, { content: '<think>two</think>Hi' }]).reasoning).toBe('one\n\ntwo');
    expect(assemble([{ content: 'thought\n</think>\nHi' }])).toMatchObject({ reasoning: 'thought', content: 'Hi' });
    expect(assemble([{ content: '<think>cut' }])).toMatchObject({ reasoning: 'cut', content: '', unclosedReasoning: true });
    expect(assemble([{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }, { type: 'text', text: 'Hi' }] }])).toMatchObject({ reasoning: 'hm', content: 'Hi' });
    expect(assemble([{ reasoning: '', content: 'Hi' }])).toMatchObject({ reasoning: null, reasoningDetails: null });
  });
});

describe('usage and finish', () => {
  // Bug: reasoning or cached tokens are dropped, so costs are wrong.
  it('reads the counts of OpenAI and DeepSeek', () => {
    const assembler = createAnswerAssembler({ takenIds: new Set(), turn: 0, tools: [] });
    assembler.push({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }], usage: null });
    assembler.push({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 3 }, prompt_cache_hit_tokens: 4 } });
    expect(assembler.finish(5).answer).toMatchObject({ finishReason: 'stop', durationMs: 5, usage: { promptTokens: 10, completionTokens: 7, reasoningTokens: 3, cachedTokens: 4 } });
  });
});
