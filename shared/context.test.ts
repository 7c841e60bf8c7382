import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf } from './context.ts';
import type { Message } from './trajectory.ts';

const say = (role: Message['role'], content: string, more: Partial<Message> = {}): Message => ({ role, content, createdAt: 1, ...more });
const summary = (from: number, to: number, content: string): Message =>
  say('user', content, { synthetic: true, note: 'compaction', compaction: { from, to, method: 'model', tokensBefore: 2, tokensAfter: 1 } });
const texts = (messages: readonly Message[]): string[] => contextOf(messages).map((m) => m.content);

describe('contextOf', () => {
  // Bug: covered messages are sent again beside their summary, or the summary comes at the end, where it was stored.
  it('shows a summary where what it covers had been', () => {
    expect(texts([say('system', 's'), say('user', 'q'), say('assistant', 'a'), say('user', 'r'), say('assistant', 'b'), summary(2, 3, 'SUM'), say('user', 'x')])).toEqual(['s', 'q', 'SUM', 'b', 'x']);
  });

  // Bug: the first summary stays beside the second, which had updated it.
  it('shows the latest summary alone, whether the earlier one lies inside or behind its range', () => {
    const start = [say('system', 's'), say('user', 'q'), say('assistant', 'a'), say('user', 'r'), say('assistant', 'b'), summary(2, 2, 'ONE'), say('user', 'x'), say('assistant', 'c')];
    expect(texts([...start, summary(2, 3, 'TWO')])).toEqual(['s', 'q', 'TWO', 'b', 'x', 'c']);
    expect(texts([...start, summary(2, 6, 'TWO')])).toEqual(['s', 'q', 'TWO', 'c']);
  });

  // Bug: budget notes of earlier turns pile up, or the one that counts is lost.
  it('shows budget notes of the turn that runs, and no earlier ones', () => {
    const note = (content: string) => say('user', content, { synthetic: true, note: 'budget' });
    expect(texts([say('user', 'q'), note('old'), say('assistant', 'a'), say('user', 'r'), note('new')])).toEqual(['q', 'a', 'r', 'new']);
  });

  // Bug: a reader of the context changes what is stored, or a message is made up.
  it('is made of the stored messages themselves, in their order but for the summary', () => {
    const message = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: fc.string(), createdAt: fc.constant(1), synthetic: fc.boolean() });
    fc.assert(
      fc.property(fc.array(message, { minLength: 3, maxLength: 20 }), fc.nat(), fc.nat(), (messages, a, b) => {
        const from = a % (messages.length - 1);
        const to = from + (b % (messages.length - from));
        const sum = summary(from, to, 'SUM');
        const stored = [...messages, sum];
        expect(contextOf(stored)).toEqual([...messages.slice(0, from), sum, ...messages.slice(to + 1)]);
        expect(contextOf(messages)).toEqual(messages);
      }),
    );
  });
});
