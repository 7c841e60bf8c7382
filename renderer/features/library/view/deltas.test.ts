import { describe, expect, it } from 'vitest';
import { DeltaBuffer, LIVE_TOOL_MAX, type FrameClock, type LiveText } from './deltas.ts';

function frames(): { clock: FrameClock; next: () => void; waiting: () => number } {
  let queue: (() => void)[] = [];
  return {
    clock: {
      schedule(flush) {
        queue.push(flush);
        return () => (queue = queue.filter((f) => f !== flush));
      },
    },
    next: () => {
      const now = queue;
      queue = [];
      for (const f of now) f();
    },
    waiting: () => queue.length,
  };
}

const delta = (seq: number, channel: 'content' | 'reasoning' | 'tool', text: string) => ({ type: 'delta', seq, channel, text }) as const;

describe('DeltaBuffer', () => {
  it('tells once per frame with all text in order (catches a render per token)', () => {
    const { clock, next } = frames();
    const seen: (LiveText | null)[] = [];
    const buffer = new DeltaBuffer(clock, (live) => seen.push(live));
    for (const text of ['Th', 'ink', 'ing']) buffer.add(delta(2, 'reasoning', text));
    buffer.add(delta(2, 'content', 'Hello'));
    expect(seen).toEqual([]);
    next();
    expect(seen).toEqual([{ seq: 2, reasoning: 'Thinking', content: 'Hello', tool: '' }]);
    next();
    expect(seen.length).toBe(1);
  });

  it('voids what was streamed when the message is stored, without a late frame (catches text shown twice)', () => {
    const { clock, next, waiting } = frames();
    const seen: unknown[] = [];
    const buffer = new DeltaBuffer(clock, (live) => seen.push(live));
    buffer.add(delta(2, 'content', 'Hello'));
    expect(buffer.stored(2)).toBeNull();
    expect(waiting()).toBe(0);
    next();
    expect(seen).toEqual([]);
  });

  it('keeps text of the next message when an earlier one is stored late (catches streaming text that vanishes)', () => {
    const { clock } = frames();
    const buffer = new DeltaBuffer(clock, () => undefined);
    buffer.add(delta(3, 'content', 'Next'));
    expect(buffer.stored(2)?.content).toBe('Next');
    buffer.add(delta(2, 'content', 'stale'));
    expect(buffer.stored(2)?.content).toBe('Next');
  });

  it('keeps only the end of endless tool output (catches memory that grows with a chatty command)', () => {
    const { clock, next } = frames();
    let last: LiveText | null = null;
    const buffer = new DeltaBuffer(clock, (live) => (last = live));
    for (let i = 0; i < 50; i++) buffer.add(delta(1, 'tool', `${i}`.padStart(1000, '.')));
    next();
    expect((last as LiveText | null)?.tool.length).toBe(LIVE_TOOL_MAX);
    expect((last as LiveText | null)?.tool.endsWith('49')).toBe(true);
  });
});
