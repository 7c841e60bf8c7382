import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withAttached } from '#shared/attached.ts';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { assistant, toolResult, user } from '../testing.ts';
import { toHermes } from './hermes.ts';
import { jsonLine, pythonSpacing } from './json-text.ts';

const TOOLS: ToolSpec[] = [
  { name: 'terminal', description: 'Runs a command.', parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } },
  { name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: {} } },
];

/** What a trainer-side parser does: blocks by their tags, JSON inside. */
function blocks(tag: string, value: string): unknown[] {
  return [...value.matchAll(new RegExp(`<${tag}>\n([\\s\\S]*?)\n</${tag}>`, 'g'))].map((m) => JSON.parse(m[1]!) as unknown);
}

const call = (id: string, name: string, args: string) => ({ id, name, arguments: args });

describe('toHermes', () => {
  test('the published shape: tools in the system turn, one think block per gpt turn, all results of a turn in one tool turn', () => {
    const { conversations, problems } = toHermes(
      [
        { role: 'system', content: 'LIVE PROMPT', createdAt: 0 },
        user('Do it'),
        assistant('Looking.', { reasoning: 'First look.', toolCalls: [call('a', 'terminal', '{"command":"ls"}'), call('b', 'read_file', '{}')] }),
        toolResult('a', 'terminal', '{"output": "x", "exit_code": 0}'),
        toolResult('b', 'read_file', 'plain'),
        assistant('Done.'),
      ],
      TOOLS,
    );
    expect(problems).toEqual([]);
    expect(conversations.map((c) => c.from)).toEqual(['system', 'human', 'gpt', 'tool', 'gpt']);
    expect(conversations[0]!.value).not.toContain('LIVE PROMPT');
    expect(conversations[0]!.value).toContain('<tools>\n[{"name": "terminal", "description": "Runs a command.", "parameters":');
    expect(conversations[0]!.value).toContain('"required": null}');
    expect(conversations[2]!.value).toBe(
      '<think>\nFirst look.\n</think>\nLooking.\n<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call>\n<tool_call>\n{"name": "read_file", "arguments": {}}\n</tool_call>',
    );
    expect(conversations[3]!.value).toBe(
      '<tool_response>\n{"tool_call_id": "a", "name": "terminal", "content": {"output": "x", "exit_code": 0}}\n</tool_response>\n<tool_response>\n{"tool_call_id": "b", "name": "read_file", "content": "plain"}\n</tool_response>',
    );
    expect(conversations[4]!.value).toBe('<think>\n</think>\nDone.');
  });

  test('results are matched by id, not by position', () => {
    const { conversations } = toHermes(
      [user('q'), assistant('', { toolCalls: [call('a', 'terminal', '{}'), call('b', 'read_file', '{}')] }), toolResult('b', 'read_file', 'B'), toolResult('a', 'terminal', 'A'), assistant('x')],
      TOOLS,
    );
    expect(blocks('tool_response', conversations[3]!.value)).toEqual([
      { tool_call_id: 'a', name: 'terminal', content: 'A' },
      { tool_call_id: 'b', name: 'read_file', content: 'B' },
    ]);
  });

  test('harness notes never reach training data; neighbouring human turns are joined', () => {
    const note: Message = { role: 'user', content: 'HARNESS NOTE', synthetic: true, createdAt: 1 };
    const { conversations } = toHermes([user('one'), note, user('two'), assistant('x'), note, assistant('y')], TOOLS);
    expect(JSON.stringify(conversations)).not.toContain('HARNESS');
    expect(conversations[1]!.value).toBe('one\n\ntwo');
  });

  test.each<[string, Message[], string]>([
    ['broken arguments', [user('q'), assistant('', { toolCalls: [call('a', 'terminal', '{"command":')] }), toolResult('a', 'terminal', 'e'), assistant('x')], 'malformed_call'],
    ['an argument list', [user('q'), assistant('', { toolCalls: [call('a', 'terminal', '[1]')] }), toolResult('a', 'terminal', 'e'), assistant('x')], 'malformed_call'],
    ['a tool that was not offered', [user('q'), assistant('', { toolCalls: [call('a', 'browser', '{}')] }), toolResult('a', 'browser', 'e'), assistant('x')], 'unknown_tool'],
    ['a call without result', [user('q'), assistant('', { toolCalls: [call('a', 'terminal', '{}')] }), assistant('x')], 'call_without_result'],
    ['a result without call', [user('q'), toolResult('z', 'terminal', 'e'), assistant('x')], 'result_without_call'],
    ['a tool turn at the end', [user('q'), assistant('', { toolCalls: [call('a', 'terminal', '{}')] }), toolResult('a', 'terminal', 'e')], 'ends_without_assistant'],
    ['no answer', [user('q')], 'no_answer'],
    ['nothing', [], 'empty'],
  ])('%s is a problem of the row', (_name, messages, problem) => {
    expect(toHermes(messages, TOOLS).problems).toContain(problem);
  });

  test('numbers and key order of arguments stay as the model wrote them', () => {
    const args = '{"b":1.0,"a":1e-07,"big":12345678901234567890,"s":"a:b,c"}';
    const { conversations } = toHermes([user('q'), assistant('', { toolCalls: [call('a', 'terminal', args)] }), toolResult('a', 'terminal', '[1.0,2]'), assistant('x')], TOOLS);
    expect(conversations[2]!.value).toContain('{"b": 1.0, "a": 1e-07, "big": 12345678901234567890, "s": "a:b,c"}');
    expect(conversations[3]!.value).toContain('"content": [1.0, 2]}');
  });

  test('hostile text cannot forge or end a block: a parser recovers exactly the calls and results, for any content', () => {
    const hostile = fc
      .array(fc.oneof(fc.constantFrom('<tool_call>', '</tool_call>', '</tool_response>', '<think>', '</think>', '\n', '{"name": "x"}', '<|im_end|>', '\ud83d', '<'), fc.string()), { maxLength: 8 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, hostile, (prompt, text, reasoning, arg, output) => {
        const { conversations } = toHermes(
          [user(prompt), assistant(text, { reasoning, toolCalls: [call('a', 'terminal', JSON.stringify({ command: arg }))] }), toolResult('a', 'terminal', output), assistant(text)],
          TOOLS,
        );
        const [, , gpt, tool, last] = conversations;
        expect(blocks('tool_call', gpt!.value)).toEqual([{ name: 'terminal', arguments: { command: arg } }].map((c) => JSON.parse(JSON.stringify(c)) as unknown));
        expect(blocks('tool_response', tool!.value)).toHaveLength(1);
        expect(blocks('tool_call', last!.value)).toEqual([]);
        expect(gpt!.value.match(/<\/?think>/g)).toHaveLength(2);
        const line = jsonLine({ conversations });
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/[\n\u2028\u2029\u0085]/);
      }),
      { numRuns: 300 },
    );
  });
});

test('pythonSpacing changes only the space between tokens', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const spaced = pythonSpacing(json);
      expect(JSON.parse(spaced)).toEqual(JSON.parse(json));
      expect(pythonSpacing(spaced)).toBe(spaced);
    }),
  );
  expect(pythonSpacing('{"a":[1,{"b":"x\\",y:"}]}')).toBe('{"a": [1, {"b": "x\\",y:"}]}');
});

describe('chats', () => {
  const answered = assistant('', { toolCalls: [call('a', 'terminal', '{}')] });

  // Bug: steering between result and answer breaks the pairing, or a second request is lost.
  test('several requests and steering in mid-run stay in their order', () => {
    const { conversations, problems } = toHermes([user('one'), answered, toolResult('a', 'terminal', 'x'), user('steer'), assistant('A'), user('two'), assistant('B')], TOOLS);
    expect(problems).toEqual([]);
    expect(conversations.slice(1).map((c) => c.from)).toEqual(['human', 'gpt', 'tool', 'human', 'gpt', 'human', 'gpt']);
    expect(conversations[4]!.value).toBe('steer');
  });

  // Bug: an empty think block is trained as an answer; a half answer passes without a word.
  test('an answer interrupted before its first word is no turn, a half one is told', () => {
    const empty = toHermes([user('one'), assistant('', { reasoning: 'hm', finishReason: 'interrupted' }), user('two'), assistant('B')], TOOLS);
    expect(empty.conversations.slice(1).map((c) => c.value)).toEqual(['one\n\ntwo', '<think>\n</think>\nB']);
    expect(empty.warnings).toEqual([]);
    const half = toHermes([user('one'), assistant('Half an', { finishReason: 'interrupted' }), user('two'), assistant('B')], TOOLS);
    expect(half.conversations).toHaveLength(5);
    expect(half.warnings).toEqual(['interrupted_answer']);
    expect(toHermes([user('one'), assistant('', { finishReason: 'interrupted' })], TOOLS).problems).toEqual(['no_answer']);
  });

  // Bug: one call lost with the engine makes the whole chat unfit, or the harness's stand-in is trained on.
  test('a call whose result was lost is left out with its stand-in, the others stay', () => {
    const lost = toolResult('b', 'terminal', 'LOST', { synthetic: true, isError: true });
    const both = assistant('Both.', { toolCalls: [call('a', 'terminal', '{}'), call('b', 'terminal', '{"command":"x"}')] });
    const one = toHermes([user('q'), both, toolResult('a', 'terminal', 'x'), lost, user('go on'), assistant('B')], TOOLS);
    expect(one.problems).toEqual([]);
    expect(one.warnings).toEqual(['calls_left_out']);
    expect(blocks('tool_call', one.conversations[2]!.value)).toHaveLength(1);
    expect(JSON.stringify(one)).not.toContain('LOST');
    const only = toHermes([user('q'), assistant('', { toolCalls: [call('b', 'terminal', '{}')] }), lost, user('go on'), assistant('B')], TOOLS);
    expect(only.conversations.slice(1).map((c) => c.from)).toEqual(['human', 'gpt']);
    expect(only.problems).toEqual([]);
  });

  // Bug: what was attached vanishes from the row, is named twice, or its bytes get in.
  test('attachments are the line that the message has of them', () => {
    const attachments: NonNullable<Message['attachments']> = [{ id: 'a'.repeat(64), kind: 'image', name: 'cat.png', mime: 'image/png', bytes: 9 }];
    const { conversations } = toHermes([{ ...user(withAttached('Look', attachments)), attachments }, assistant('A cat.')], TOOLS);
    expect(conversations[1]!.value).toBe('Look\n\n[Attached image: cat.png, 9 bytes]');
  });

  // Bug: the summary is in the full form, or missing or unmarked in the compressed one.
  test('a summary is written only when asked for, and its turn is named', () => {
    const summary: Message = { ...user('SUMMARY'), synthetic: true, note: 'compaction', compaction: { from: 1, to: 2, method: 'model', tokensBefore: 9, tokensAfter: 1 } };
    const shown = [user('one'), summary, assistant('B')];
    expect(toHermes(shown, TOOLS)).toMatchObject({ summaryTurn: -1, conversations: [{}, { value: 'one' }, {}] });
    expect(toHermes(shown, TOOLS, { summaries: true })).toMatchObject({ summaryTurn: 1, conversations: [{}, { value: 'one\n\nSUMMARY' }, {}] });
  });
});
