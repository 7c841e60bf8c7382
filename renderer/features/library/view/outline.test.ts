import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '#shared/trajectory.ts';
import { outlineOf } from './outline.ts';
import { appendMessages } from './turns.ts';

const m = (seq: number, role: StoredMessage['role'], more: Partial<StoredMessage> = {}): StoredMessage => ({ seq, role, content: '', createdAt: 0, ...more });
const call = (id: string, name: string) => ({ id, name, arguments: '{}' });

describe('outlineOf', () => {
  it('names each step by its tool and how it ended (catches an outline of "result, result, result")', () => {
    const entries = outlineOf(
      appendMessages([], [
        m(0, 'system'),
        m(1, 'user', { content: 'do it' }),
        m(2, 'assistant', { toolCalls: [call('a', 'terminal')] }),
        m(3, 'tool', { toolCallId: 'a', content: `{"output": "${'x'.repeat(5000)}", "exit_code": 2}` }),
        m(4, 'assistant', { toolCalls: [call('b', 'patch'), call('c', 'patch')] }),
        m(5, 'tool', { toolCallId: 'b', content: '{}' }),
        m(6, 'user', { synthetic: true }),
        m(7, 'assistant', { content: 'Done.' }),
      ]),
    );
    expect(entries.map((e) => e.label)).toEqual([
      { is: 'system' }, { is: 'task' }, { is: 'tool', name: 'terminal', times: 1 }, { is: 'exit', code: 2 }, { is: 'tool', name: 'patch', times: 2 }, { is: 'waiting' }, { is: 'harness' }, { is: 'answer' },
    ]);
    // catches the text of a skill that is shown as another request of the person
    expect(outlineOf(appendMessages([], [m(0, 'user'), m(1, 'user', { note: 'skill' })])).map((e) => e.role)).toEqual(['human', 'harness']);
    expect(entries.filter((e) => e.failed).map((e) => e.seq)).toEqual([3]);
    expect(entries.map((e) => e.turn)).toEqual([0, 1, 2, 2, 3, 3, 4, 5]);
  });
});
