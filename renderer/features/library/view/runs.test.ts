import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import { runsAfter, type Runs } from './runs.ts';

const start = (callId: string): LiveEvent => ({ type: 'tool_start', callId, name: 'terminal', summary: 'ls', startedAt: 1 });
const output = (callId: string, text: string): LiveEvent => ({ type: 'tool_output', callId, text });
const result = (toolCallId: string): LiveEvent => ({ type: 'message', message: { seq: 1, role: 'tool', content: '', toolCallId, createdAt: 0 } });
const play = (...events: LiveEvent[]): Runs => events.reduce(runsAfter, new Map() as Runs);

describe('runsAfter', () => {
  it('keeps the output of calls that run side by side apart (catches lines under the wrong card)', () => {
    const runs = play(start('a'), start('b'), output('a', 'one'), output('b', 'two'), output('a', ' more'));
    expect([runs.get('a')?.output, runs.get('b')?.output]).toEqual(['one more', 'two']);
  });

  it('ends a run with its result only (catches a card that says running for ever, or too early)', () => {
    expect([...play(start('a'), start('b'), result('a')).keys()]).toEqual(['b']);
  });

  it('keeps only the end of endless output (catches a page that grows with a log)', () => {
    const runs = play(start('a'), ...Array.from({ length: 50 }, (_, i) => output('a', `${i}`.padEnd(1_000))));
    expect(runs.get('a')?.output.length).toBe(20_000);
    expect(runs.get('a')?.output).toContain('49 ');
    expect(runs.get('a')?.cut).toBe(true);
  });
});
