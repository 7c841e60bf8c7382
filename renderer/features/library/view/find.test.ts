import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '#shared/trajectory.ts';
import { findInTurns } from './find.ts';
import { appendMessages } from './turns.ts';

const m = (seq: number, role: StoredMessage['role'], content: string, more: Partial<StoredMessage> = {}): StoredMessage => ({ seq, role, content, createdAt: 0, ...more });
const turns = appendMessages([], [
  m(0, 'system', 'You are an agent.'),
  m(1, 'user', 'Fix the 日志 bucket'),
  m(2, 'assistant', '', { reasoning: 'Look for the BUCKET first', toolCalls: [{ id: 'a', name: 'terminal', arguments: '{"command":"grep \\"needle\\" ."}' }] }),
  m(3, 'tool', JSON.stringify({ output: `${'x'.repeat(3000)} far "quoted" away`, exit_code: 0 }), { toolCallId: 'a' }),
  m(4, 'assistant', 'Done.'),
]);
const found = (query: string): number[] => findInTurns(turns, query).map((h) => h.turn);

describe('findInTurns', () => {
  it('looks into everything a person can unfold (catches a find that misses folded reasoning and results)', () => {
    expect(found('bucket')).toEqual([1, 2]);
    expect(found('日志')).toEqual([1]);
    expect(found('terminal')).toEqual([2]);
    expect(found('nowhere')).toEqual([]);
    expect(found('  ')).toEqual([]);
  });
  it('finds quotes inside JSON (catches a search for what one sees that finds nothing)', () => {
    expect(found('"needle"')).toEqual([2]);
    expect(found('far "quoted"')).toEqual([2]);
  });
  it('unfolds what hides the place (catches a jump to a turn where nothing is seen)', () => {
    expect(findInTurns(turns, 'bucket first')[0]?.parts).toEqual(['2:reasoning']);
    expect(findInTurns(turns, 'away')[0]?.parts).toContain('2:call:0:text');
    expect(findInTurns(turns, 'you are')[0]?.parts).toEqual(['0:system']);
  });
});
