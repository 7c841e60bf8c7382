import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '#shared/trajectory.ts';
import { createAnswerAssembler } from './answer-assembler.ts';

const TOOLS: ToolSpec[] = [{ name: 'write_file', description: '', parameters: { type: 'object', properties: { content: { type: 'string' } } } }];
const PIECES = 100_000;

/** An answer of 800,000 characters in pieces of some characters each. */
function stream(head: string, piece: string, tail: string) {
  const assembler = createAnswerAssembler({ takenIds: new Set(), turn: 0, tools: TOOLS });
  const shown: Record<string, number> = {};
  const take = (content: string): void => {
    for (const delta of assembler.push({ choices: [{ delta: { content } }] })) if (delta.type === 'delta') shown[delta.channel] = (shown[delta.channel] ?? 0) + delta.text.length;
  };
  take(head);
  for (let at = 0; at < PIECES; at += 1) take(piece);
  take(tail);
  return { answer: assembler.finish(0).answer, shown };
}

// each piece looked at all that had come: a long answer took minutes of the engine's only thread, and the test would run out of time
describe('a long answer in small pieces costs no more per piece at its end than at its beginning', () => {
  test('of plain text', () => {
    const { answer } = stream('', 'word ta ', '.');
    expect([answer.content.length, answer.toolCalls]).toEqual([PIECES * 8 + 1, []]);
  });

  test('of white space, before the text and in it', () => {
    expect(stream('', '       \n', 'end').answer.content.length).toBe(PIECES * 8 + 3);
    expect(stream('begin', '       \n', 'end').answer.content.length).toBe(PIECES * 8 + 8);
  });

  test.each([
    ['JSON in a tag', '<tool_call>{"name":"write_file","arguments":{"content":"', '"}}</tool_call>'],
    ['bare JSON', '{"name":"write_file","arguments":{"content":"', '"}}'],
    ['parameter tags', '<function=write_file><parameter=content>', '</parameter></function>'],
    ['an argument list', '<tool_call>write_file\n<arg_key>content</arg_key><arg_value>', '</arg_value></tool_call>'],
  ])('of a call written as %s; it is still shown while it comes', (_, head, tail) => {
    const { answer, shown } = stream(head, 'word ta ', tail);
    expect(answer.toolCalls).toHaveLength(1);
    const { content } = JSON.parse(answer.toolCalls[0]!.arguments) as { content: string };
    expect(content.length).toBe(PIECES * 8);
    expect(shown['tool']).toBeGreaterThan(PIECES * 7);
  });
});
