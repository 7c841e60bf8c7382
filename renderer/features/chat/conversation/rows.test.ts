import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '#shared/trajectory.ts';
import { appendMessages } from '../../library/view/turns.ts';
import { putBefore } from './chat-transcript.ts';
import { LiveBuffer } from './live.ts';
import { liveRows, RowMaker, type Row } from './rows.ts';

const message = (seq: number, role: StoredMessage['role'], more: Partial<StoredMessage> = {}): StoredMessage => ({ seq, role, content: `${role} ${seq}`, createdAt: 0, ...more });
const calling = (seq: number, ...ids: string[]): StoredMessage => message(seq, 'assistant', { content: '', toolCalls: ids.map((id) => ({ id, name: 'terminal', arguments: '{}' })) });
const result = (seq: number, toolCallId: string): StoredMessage => message(seq, 'tool', { toolCallId });
const keys = (rows: readonly Row[]): string[] => rows.map((row) => row.key);
const make = (messages: StoredMessage[], complete = true): Row[] => new RowMaker().rows(appendMessages([], messages), new Map(), complete);

/** Flushes when it is told to. */
function buffer(): { live: LiveBuffer; at: { ms: number } } {
  const at = { ms: 0 };
  return { live: new LiveBuffer({ schedule: () => () => undefined }, () => at.ms, () => undefined), at };
}

describe('rows', () => {
  it('keep their keys from the first streamed word to the stored message (catches a flash when an answer ends)', () => {
    const { live } = buffer();
    const text = 'One.\n\n```js\na\n```\nTwo.\n\nThree';
    live.add({ type: 'delta', seq: 4, channel: 'reasoning', text: 'hm' });
    live.add({ type: 'delta', seq: 4, channel: 'content', text });
    const streamed = keys(liveRows(live.state().answer));
    const stored = keys(make([message(4, 'assistant', { content: text, reasoning: 'hm' })]));
    expect(streamed).toEqual(['4:think', '4:piece:0', '4:piece:1', '4:piece:2']);
    expect(stored.slice(0, streamed.length)).toEqual(streamed);
  });

  it('of turns that did not change are the same objects (catches a list that renders all rows for each message)', () => {
    const maker = new RowMaker();
    const turns = appendMessages([], [message(0, 'user'), message(1, 'assistant')]);
    const before = maker.rows(turns, new Map(), true);
    const after = maker.rows(appendMessages(turns, [message(2, 'user')]), new Map(), true);
    before.forEach((row, i) => expect(after[i]).toBe(row));
  });

  it('of results of sub-agents and of skills are quiet ones, though they are not synthetic (catches what looks typed by the person)', () => {
    expect(make([message(1, 'user'), message(2, 'user', { note: 'delegation' }), message(3, 'user', { note: 'skill' })]).map((row) => row.kind)).toEqual(['user', 'note', 'note']);
  });

  it('mark what was sent while the agent worked, and nothing else (catches every message marked as steering)', () => {
    const rows = make([message(0, 'user'), calling(1, 'a'), result(2, 'a'), message(3, 'user'), message(4, 'assistant'), message(5, 'user')]);
    expect(rows.flatMap((row) => (row.kind === 'user' ? [[row.seq, row.steered]] : []))).toEqual([[0, false], [3, true], [5, false]]);
  });

  it('mark nothing that was said after a turn ended at its tools (catches "sent while the agent worked" behind every failure, limit and kill)', () => {
    const failed = make([message(0, 'user'), calling(1, 'a'), result(2, 'a'), message(3, 'user', { createdAt: 1 })]);
    const cut = make([message(0, 'user'), calling(1, 'a', 'b'), result(2, 'a'), { ...result(3, 'b'), synthetic: true, createdAt: 2 }, message(4, 'user', { createdAt: 1 })]);
    for (const rows of [failed, cut]) expect(rows.some((row) => row.kind === 'user' && row.steered)).toBe(false);
  });

  it('have one head for each message that is shown (catches j and k that stop at every paragraph)', () => {
    const rows = make([message(0, 'system'), message(1, 'user'), message(2, 'assistant', { content: 'a\n\nb\n\nc', reasoning: 'r' }), message(3, 'user', { synthetic: true, note: 'continue' })]);
    expect(rows.filter((row) => row.head).map((row) => row.seq)).toEqual([1, 2, 3]);
  });
});

describe('older messages', () => {
  it('give the same turns as all at once, wherever the pages meet (catches results torn from their call)', () => {
    const all = [message(0, 'user'), calling(1, 'a', 'b'), result(2, 'a'), result(3, 'b'), message(4, 'assistant'), message(5, 'user'), calling(6, 'c'), result(7, 'c')];
    for (let cut = 0; cut <= all.length; cut++) {
      const joined = putBefore(all.slice(0, cut), appendMessages([], all.slice(cut)));
      expect(keys(new RowMaker().rows(joined, new Map(), true))).toEqual(keys(make(all)));
    }
  });

  it('leave out results until their call is here (catches a row that vanishes above what is read)', () => {
    expect(keys(make([result(3, 'b'), message(4, 'user')], false))).toEqual(['4:user']);
  });
});

describe('LiveBuffer', () => {
  it('hands over what was streamed, once, with the time of thinking (catches an answer shown twice, or cut when it is stored)', () => {
    const { live, at } = buffer();
    live.add({ type: 'delta', seq: 1, channel: 'reasoning', text: 'hm' });
    at.ms = 3_000;
    live.add({ type: 'delta', seq: 1, channel: 'content', text: 'yes' });
    at.ms = 9_000;
    expect(live.stored(message(1, 'assistant'))).toEqual({ content: 'yes', thoughtMs: 3_000 });
    expect(live.state().answer).toBeNull();
    expect(live.stored(message(2, 'user'))).toBeNull();
  });
});
