import { expect, it } from 'vitest';
import type { StoredMessage } from '#shared/trajectory.ts';
import { appendMessages } from '../../library/view/turns.ts';
import { conversationAsMarkdown } from './as-markdown.ts';

const WORDS = { person: 'You', agent: 'Agent', cut: '(cut)' };
const of = (...messages: Omit<StoredMessage, 'seq' | 'createdAt'>[]): string => conversationAsMarkdown(appendMessages([], messages.map((m, seq) => ({ ...m, seq, createdAt: 0 }))), (turn) => turn.message.content, WORDS);

it('says who said what, and leaves out the harness and the system prompt (catches prompts in a shared note)', () => {
  expect(of({ role: 'system', content: 'secret prompt' }, { role: 'user', content: 'Hi' }, { role: 'user', content: 'note', synthetic: true }, { role: 'assistant', content: 'Hello', reasoning: 'hm' })).toBe('## You\n\nHi\n\n## Agent\n\nHello\n');
});

it('has what was typed and not the text of a skill that ran by it (catches a skill in the mouth of the person)', () => {
  expect(of({ role: 'user', content: '/tone write' }, { role: 'user', content: 'Be brief.', note: 'skill' }, { role: 'assistant', content: 'ok' })).toBe('## You\n\n/tone write\n\n## Agent\n\nok\n');
});

it('keeps a result inside its fence (catches a tool result that ends it and becomes headings)', () => {
  const text = of({ role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'terminal', arguments: '{"command":"cat `x`"}' }] }, { role: 'tool', toolCallId: 'a', content: JSON.stringify({ output: '```\n# no heading\n````', exit_code: 0 }) });
  expect(text).toContain('**terminal** `` cat `x` ``');
  expect(text).toMatch(/\n`{5}\n```\n# no heading\n````\n`{5}\n/);
});
