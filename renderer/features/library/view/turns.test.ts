import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '#shared/trajectory.ts';
import { answerIndex, appendMessages, type Turn } from './turns.ts';

let seq = 0;
const message = (role: StoredMessage['role'], more: Partial<StoredMessage> = {}): StoredMessage => ({
  role, content: `${role} ${seq}`, createdAt: 0, seq: seq++, ...more,
});
const calling = (...ids: string[]): StoredMessage => message('assistant', { toolCalls: ids.map((id) => ({ id, name: `tool_${id}`, arguments: '{}' })) });
const result = (toolCallId: string, content = `result of ${toolCallId}`): StoredMessage => message('tool', { toolCallId, content });
const paired = (turn: Turn | undefined): (string | null)[] => (turn?.kind === 'assistant' ? turn.calls.map((c) => c.result?.content ?? null) : []);

describe('appendMessages', () => {
  it('pairs results by id, not by place (catches parallel results swapped)', () => {
    const turns = appendMessages([], [message('user'), calling('a', 'b'), result('b'), result('a')]);
    expect(paired(turns[1])).toEqual(['result of a', 'result of b']);
  });

  it('keeps equal ids of different turns apart (catches the second answer shown at the first call)', () => {
    const turns = appendMessages([], [calling('call_0'), result('call_0', 'first'), calling('call_0'), result('call_0', 'second')]);
    expect(turns.map(paired)).toEqual([['first'], ['second']]);
  });

  it('pairs equal ids within a turn in order (catches one result shown twice)', () => {
    expect(paired(appendMessages([], [calling('x', 'x'), result('x', '1'), result('x', '2')])[0])).toEqual(['1', '2']);
  });

  it('shows results that answer nothing (catches an orphan that silently disappears)', () => {
    const turns = appendMessages([], [result('z'), calling('a'), result('q')]);
    expect(turns[0]?.kind).toBe('orphan');
    expect(turns[1]?.kind === 'assistant' && turns[1].strays.map((s) => s.toolCallId)).toEqual(['q']);
  });

  it('gives the same turns in one piece or in many (catches a result lost at the border of two pages)', () => {
    const all = [message('system'), message('user'), calling('a', 'b'), result('a'), result('b'), calling('c'), result('c'), message('user', { synthetic: true }), message('assistant')];
    fc.assert(
      fc.property(fc.array(fc.nat(all.length)), (cuts) => {
        const borders = [...new Set([0, ...cuts, all.length])].sort((x, y) => x - y);
        let turns: Turn[] = [];
        for (let i = 1; i < borders.length; i++) turns = appendMessages(turns, all.slice(borders[i - 1], borders[i]));
        expect(turns).toEqual(appendMessages([], all));
      }),
    );
  });

  it('keeps the identity of turns that did not change (catches every row rendered anew for each message)', () => {
    const before = appendMessages([], [message('user'), calling('a'), result('a'), calling('b')]);
    const after = appendMessages(before, [result('b')]);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  it('finds the final answer only at the end and without calls (catches a note before a call shown as the answer)', () => {
    expect(answerIndex(appendMessages([], [message('user'), message('assistant')]))).toBe(1);
    expect(answerIndex(appendMessages([], [message('assistant'), calling('a')]))).toBe(-1);
    expect(answerIndex([])).toBe(-1);
  });
});
