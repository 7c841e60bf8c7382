import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import { joinNeighbours, repairHistory } from './history.ts';

const user: Message = { role: 'user', content: 'hi', createdAt: 1 };
const calling = (...ids: string[]): Message => ({
  role: 'assistant', content: '', createdAt: 2, toolCalls: ids.map((id) => ({ id, name: `tool_${id}`, arguments: '{}' })),
});
const result = (toolCallId: string, content = `result of ${toolCallId}`): Message => ({ role: 'tool', content, toolCallId, createdAt: 3 });

const idArbitrary = fc.constantFrom('a', 'b', 'c', 'd');
const messageArbitrary: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'system' as const, 'assistant' as const), content: fc.string({ unit: 'binary' }), createdAt: fc.nat() }),
  fc.array(idArbitrary, { minLength: 1, maxLength: 4 }).map((ids) => calling(...ids)),
  idArbitrary.map((id) => result(id)),
);

describe('repairHistory', () => {
  // Bug: a provider refuses the whole conversation because a call has no result, two, or one in the wrong place.
  it('gives every call exactly one result, directly after it and in call order', () => {
    fc.assert(
      fc.property(fc.array(messageArbitrary, { maxLength: 14 }), (messages) => {
        const repaired = repairHistory(messages);
        let open: string[] = [];
        for (const message of repaired) {
          if (message.role === 'tool') {
            expect(message.toolCallId).toBe(open.shift());
            continue;
          }
          expect(open).toEqual([]);
          open = message.toolCalls?.map((call) => call.id) ?? [];
          expect(new Set(open).size).toBe(open.length);
          expect(message.content.isWellFormed()).toBe(true);
        }
        expect(open).toEqual([]);
        expect(repaired.filter((message) => message.role !== 'tool').length).toBe(messages.filter((message) => message.role !== 'tool').length);
        expect(repairHistory(repaired)).toEqual(repaired);
      }),
      { numRuns: 500 },
    );
  });

  // Bug: a conversation that was right is changed, so that the provider's prompt cache misses and signatures break.
  it('leaves a sound conversation as it is', () => {
    const sound: Message[] = [
      user,
      { ...calling('a', 'b'), reasoning: 'hm', reasoningDetails: [{ type: 'reasoning.text', text: 'hm', signature: 's' }] },
      result('a'),
      result('b'),
      { role: 'assistant', content: 'done', createdAt: 4 },
    ];
    expect(repairHistory(sound)).toEqual(sound);
  });

  // Bug: results are paired by position instead of by id, orphans are kept, or a later turn's result fills an earlier gap.
  it('orders by id, drops orphans, stubs what is missing', () => {
    const repaired = repairHistory([user, result('x'), calling('a', 'b', 'c'), result('c'), user, result('a'), result('a', 'second'), calling('b'), result('b')]);
    expect(repaired.map((message) => [message.role, message.toolCallId ?? null])).toEqual([
      ['user', null], ['assistant', null], ['tool', 'a'], ['tool', 'b'], ['tool', 'c'], ['user', null], ['assistant', null], ['tool', 'b'],
    ]);
    expect(repaired[2]?.content).toBe('result of a');
    expect(repaired[3]).toMatchObject({ synthetic: true, isError: true, toolName: 'tool_b' });
    expect(repaired[7]?.content).toBe('result of b');
  });

  // Bug: half a surrogate pair, as capped tool output leaves it, makes the request invalid UTF-8.
  it('replaces lone surrogates everywhere', () => {
    const call = { id: 'a', name: 't', arguments: '{"x":"\ud83e"}' };
    const [message, answer] = repairHistory([
      { role: 'assistant', content: '\ud83e', reasoning: '\ude7d', reasoningDetails: [{ a: ['\ud83e'] }], toolCalls: [call], createdAt: 1 },
      result('a', 'cut \ud83e'),
    ]);
    expect(message).toMatchObject({ content: '\ufffd', reasoning: '\ufffd', reasoningDetails: [{ a: ['\ufffd'] }], toolCalls: [{ arguments: '{"x":"\ufffd"}' }] });
    expect(answer?.content).toBe('cut \ufffd');
  });
});

describe('joinNeighbours', () => {
  const picture = (id: string): Message => ({ role: 'user', content: '', attachments: [{ id: id.repeat(64), kind: 'image', name: id, mime: 'image/png', bytes: 1 }], createdAt: 1 });

  // Bug: a note, a summary or what was said meanwhile stands behind another user message: strictly alternating chat templates refuse the request.
  it('leaves no two user or system messages in a row, and loses no word and no picture', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(messageArbitrary, idArbitrary.map(picture)), { maxLength: 14 }), (messages) => {
        const repaired = repairHistory(messages);
        const joined = joinNeighbours(repaired);
        joined.forEach((message, i) => expect(['user', 'system'].includes(message.role) && joined[i + 1]?.role === message.role).toBe(false));
        const words = (all: readonly Message[]): string => all.map((m) => m.content).join('').replaceAll('\n', '');
        const pictures = (all: readonly Message[]): unknown[] => all.flatMap((m) => m.attachments ?? []);
        expect(words(joined)).toBe(words(repaired));
        expect(pictures(joined)).toEqual(pictures(repaired));
        expect(joinNeighbours(joined)).toEqual(joined);
      }),
      { numRuns: 300 },
    );
    expect(joinNeighbours([user, { ...user, content: 'and this' }]).map((m) => m.content)).toEqual(['hi\n\nand this']);
  });
});
