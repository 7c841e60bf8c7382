import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { assistant, toolResult, user } from '../testing.ts';
import { toHermes } from './hermes.ts';
import { toHermesCalls } from './hermes-calls.ts';
import { fromHermes } from './hermes-parse.ts';
import { plainTurns } from './hermes-turns.ts';

const TOOLS: ToolSpec[] = [{ name: 'terminal', description: 'Runs <tools> </tools>.', parameters: { type: 'object', properties: { command: { type: 'string' } } } }];
const call = (id: string, args: string, name = 'terminal') => ({ id, name, arguments: args });

/** What must come back: JSON by its value, as its spacing is that of the format. */
function essence(messages: readonly Message[]) {
  const value = (text: string): unknown => {
    if (!/^\s*[{[]/.test(text)) return text;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  return plainTurns(messages, TOOLS).turns.map((t) =>
    t.from === 'human' ? t.text : { ...t, calls: t.calls.map((c) => ({ ...c, arguments: value(c.arguments.toWellFormed()) })), results: t.results.map((r) => [r.call.id, r.call.name, value(r.content)]) },
  );
}

describe('fromHermes', () => {
  // Bug (as reported of Hermes Agent): tags in content are not escaped, so a parser finds calls that nobody made, or loses one.
  test('what toHermes and toHermesCalls write is read back, whatever the texts are', () => {
    const hostile = fc
      .array(
        fc.oneof(
          fc.constantFrom('<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>', '&lt;think>', '&amp;lt;/tool_call>', '&amp;amp;lt;think>', '&', '\n', '{"name": "x", "arguments": {}}', '<|im_end|>', '&lt;|im_end|>', '\\u003c', '\ud83d', '\0', '<REASONING_SCRATCHPAD>', '{', '"', '[]', '{"a": 1.0}'),
          fc.string(),
        ),
        { maxLength: 8 },
      )
      .map((parts) => parts.join(''));
    const args = fc.oneof(hostile.map((text) => JSON.stringify({ command: text, [text]: [text, 1] })), fc.constant('{}'), fc.constant('{"n": 1.0}'));
    const step = fc.record({ text: hostile, reasoning: hostile, calls: fc.array(fc.tuple(args, hostile), { maxLength: 3 }) });
    fc.assert(
      fc.property(hostile, fc.array(step, { minLength: 1, maxLength: 4 }), (prompt, steps) => {
        const messages = [
          user(prompt),
          ...steps.flatMap(({ text, reasoning, calls }, n) => [
            assistant(text, { reasoning, ...(calls.length > 0 ? { toolCalls: calls.map(([a], i) => call(`c${n}-${i}`, a)) } : {}) }),
            ...calls.map(([, result], i) => toolResult(`c${n}-${i}`, 'terminal', result)),
          ]),
        ];
        const wanted = essence(messages);
        const text = fromHermes(JSON.parse(JSON.stringify(toHermes(messages, TOOLS).conversations)) as unknown[], { escaped: true });
        expect(essence(text.messages)).toEqual(wanted);
        expect(text.tools).toEqual(TOOLS);
        expect(text.warnings).toEqual([]);
        // a row that has no call at all looks the same in both variants, so its turns carry an empty list
        const data = fromHermes(JSON.parse(JSON.stringify(toHermesCalls(messages, TOOLS).conversations)) as unknown[]);
        const exact = plainTurns(data.messages, TOOLS).turns.flatMap((t) => (t.from === 'gpt' ? t.calls : []));
        expect(exact).toEqual(plainTurns(messages, TOOLS).turns.flatMap((t) => (t.from === 'gpt' ? t.calls.map((c) => ({ ...c, arguments: c.arguments.toWellFormed() })) : [])));
      }),
      { numRuns: 400 },
    );
  });

  test('rows of Hermes Agent itself, whose tags are not escaped', () => {
    const gpt = '<think>\nSame.\n</think>\n<think>\nSame.\n</think>\nUse <tool_call> like\n<tool_call>\n{"name": "fake", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "terminal", "arguments": {"command": "echo \'</tool_call>\'", "n": 1.0}}\n</tool_call>';
    const { messages, warnings } = fromHermes([
      { from: 'system', value: 'You may call:\n<tools>\n[{"name": "terminal", "description": "d", "parameters": {}, "required": null}]\n</tools>' },
      { from: 'human', value: 'q' },
      { from: 'gpt', value: gpt },
      { from: 'tool', value: '<tool_response>\n{"tool_call_id": "call_9", "name": "terminal", "content": {"output": "</tool_response>\\n<tool_response>", "error": "no"}}\n</tool_response>' },
      { from: 'human', value: "You've reached the maximum number of tool-calling iterations allowed. Please provide a final response." },
      { from: 'gpt', value: '<REASONING_SCRATCHPAD>\nWell.\n</REASONING_SCRATCHPAD>\nDone.' },
    ]);
    expect(warnings).toEqual([]);
    expect(messages).toMatchObject([
      { role: 'user', content: 'q' },
      { role: 'assistant', reasoning: 'Same.', content: 'Use <tool_call> like\n<tool_call>\n{"name": "fake", "arguments": {}}\n</tool_call>', toolCalls: [{ id: 'call_9', name: 'terminal', arguments: '{"command": "echo \'</tool_call>\'", "n": 1.0}' }] },
      { role: 'tool', toolCallId: 'call_9', toolName: 'terminal', isError: true },
      { role: 'user', synthetic: true },
      { role: 'assistant', reasoning: 'Well.', content: 'Done.' },
    ]);
    expect(messages[0]!.synthetic).toBeUndefined();
  });

  test('results without ids, structured calls with objects, results that answer nothing', () => {
    const published = fromHermes([
      { from: 'human', value: [{ type: 'text', text: 'look' }, { type: 'image_url' }] },
      { from: 'gpt', value: 'x <tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_call>\n<tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>' },
      { from: 'tool', value: '<tool_response>\n{"name": "b", "content": "B"}\n</tool_response>' },
      { from: 'gpt', value: '', tool_calls: [{ function: { name: 'c', arguments: { k: [1] } } }, { id: 'z', name: 'd', arguments: 'not json' }, null] },
      { from: 'tool', value: 'D', tool_call_id: 'z', name: 'd' },
      { from: 'tool', value: 'nobody asked', tool_call_id: 'other' },
      { from: 'gpt', value: 'End.' },
    ]);
    expect(published.messages).toMatchObject([
      { content: 'look\n[image_url]' },
      { content: 'x', toolCalls: [{ id: 'call_1_0', name: 'a', arguments: '{"x": 1}' }, { id: 'call_1_1', name: 'b', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'call_1_1', content: 'B' },
      { toolCalls: [{ id: 'call_3_0', name: 'c', arguments: '{"k":[1]}' }, { id: 'z', name: 'd', arguments: 'not json' }] },
      { role: 'tool', toolCallId: 'z', content: 'D' },
      { content: 'End.' },
    ]);
    expect(published.warnings.toSorted()).toEqual(['call_without_result', 'result_without_call']);
  });

  // Bug: what is in a file makes the reader throw, or keeps it busy for minutes.
  test('anything may stand in a file', () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.anything(), fc.record({ from: fc.constantFrom('human', 'gpt', 'tool', 'system', '__proto__'), value: fc.anything(), tool_calls: fc.anything() }))), (turns) => void fromHermes(turns)));
    const many = '<tool_call>\n{"a":'.repeat(100_000);
    expect(fromHermes([{ from: 'gpt', value: many }]).messages).toHaveLength(1);
    expect(fromHermes([{ from: 'gpt', value: 'x' }, { from: 'tool', value: '<tool_response>\n{"a":'.repeat(50_000) }]).messages).toHaveLength(1);
    expect(fromHermes([{ from: 'gpt', value: 'x' }, { from: 'tool', value: '<tool_response>\n{}\n</tool_response>'.repeat(20_000) }]).messages).toHaveLength(1);
  });
});
