import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import { getDetail, getMessages } from './query.ts';
import type { TrajectoryRecorder } from './record.ts';
import { assistant, record, testStore, user } from './testing.ts';

let t: ReturnType<typeof testStore>;
beforeEach(() => {
  t = testStore();
});
afterEach(() => t.close());

function watch(r: TrajectoryRecorder, since = -1, signal?: AbortSignal): AsyncGenerator<LiveEvent> {
  const { db } = t.store;
  return t.hub.subscribe(r.id, since, () => getMessages(db, r.n, since, 1e9), () => getDetail(db, r.id)!, signal);
}

async function collect(stream: AsyncIterable<LiveEvent>): Promise<LiveEvent[]> {
  const all: LiveEvent[] = [];
  for await (const e of stream) all.push(e);
  return all;
}

const brief = (e: LiveEvent): string => (e.type === 'message' ? `#${e.message.seq}` : e.type === 'delta' ? e.text : e.type);

test('one who joins in the middle of a streamed answer gets all of it once, in order, whoever else watches', async () => {
  const r = record(t, [user('q')], { kind: 'batch' }, false);
  const first = watch(r);
  await first.next();
  r.delta('content', 'Hel');
  const second = watch(r, 0);
  const joined = second.next();
  r.delta('content', 'lo');
  r.append(assistant('Hello'));
  r.end({ exitReason: 'completed', error: null });
  r.announceEnd();
  expect((await joined).value).toMatchObject({ text: 'Hel', seq: 1 });
  expect((await collect(second)).map(brief)).toEqual(['lo', '#1', 'header']);
  const rest = await collect(first);
  expect(rest.filter((e) => e.type === 'delta').map(brief).join('')).toBe('Hello');
  expect(rest.slice(-2).map(brief)).toEqual(['#1', 'header']);
});

test('the deltas before a stored message come before it, although they wait to be merged', async () => {
  const r = record(t, [user('q')], { kind: 'batch' }, false);
  const stream = watch(r, 0);
  const next = stream.next();
  for (const c of 'abcdef') r.delta('reasoning', c);
  r.append(assistant('x'));
  r.end({ exitReason: 'completed', error: null });
  r.announceEnd();
  expect([brief((await next).value as LiveEvent), ...(await collect(stream)).map(brief)]).toEqual(['abcdef', '#1', 'header']);
});

test('a retried call voids what was streamed', async () => {
  const r = record(t, [user('q')], { kind: 'batch' }, false);
  const stream = watch(r, 0);
  const next = stream.next();
  r.delta('content', 'half');
  r.discardDeltas();
  r.append(assistant('whole'));
  r.end({ exitReason: 'completed', error: null });
  r.announceEnd();
  const events = [brief((await next).value as LiveEvent), ...(await collect(stream)).map(brief)];
  expect(events).not.toContain('half');
  expect(events).toEqual(['reset', '#1', 'header']);
});

test('an ended trajectory is read from the store and the stream ends', async () => {
  const r = record(t, [user('q'), assistant('a')], { kind: 'batch' });
  expect((await collect(watch(r))).map(brief)).toEqual(['#0', '#1', 'header']);
});

test('a slow reader is told to refetch instead of filling the memory', async () => {
  const r = record(t, [user('q')], { kind: 'batch' }, false);
  const stream = watch(r, 0);
  const next = stream.next();
  for (let i = 0; i < 5_000; i++) r.append(assistant(`m${i}`));
  r.end({ exitReason: 'completed', error: null });
  r.announceEnd();
  const events = [(await next).value as LiveEvent, ...(await collect(stream))];
  expect(events.some((e) => e.type === 'reset')).toBe(true);
  expect(events.length).toBeLessThan(5_000);
});

test('an abort ends a waiting stream', async () => {
  const r = record(t, [user('q')], { kind: 'batch' }, false);
  const abort = new AbortController();
  const stream = watch(r, 0, abort.signal);
  const next = stream.next();
  abort.abort();
  expect((await next).done).toBe(true);
  r.end({ exitReason: 'interrupted', error: null });
  r.announceEnd();
});
