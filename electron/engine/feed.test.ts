import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Feed, throttled } from './feed.ts';

const EVERY_MS = 100;

interface Change {
  of: string;
  n: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Reads on and on. */
function reading<T>(ticks: AsyncGenerator<T>): { told: T[]; state: () => 'reading' | 'ended' | 'failed' } {
  const told: T[] = [];
  let state: 'reading' | 'ended' | 'failed' = 'reading';
  const read = async (): Promise<void> => {
    for await (const tick of ticks) told.push(tick);
  };
  void read().then(
    () => (state = 'ended'),
    () => (state = 'failed'),
  );
  return { told, state: () => state };
}

const numbers = (changes: Change[]): number[] => changes.map(({ n }) => n);

test('what stands is told at once, then changes, merged and once per interval', async () => {
  // Bug: a burst floods the page, the last of a burst is never told, or one that watches gets nothing until something changes.
  const feed = new Feed<string>(EVERY_MS);
  const { told } = reading(feed.watch((ids) => ids));
  await pass(0);
  expect(told).toEqual([[]]);
  feed.changed('a');
  await pass(0);
  expect(told).toEqual([[], ['a']]);
  for (const id of ['b', 'c', 'b']) feed.changed(id);
  await pass(EVERY_MS - 1);
  expect(told).toHaveLength(2);
  feed.changed('d');
  await pass(1);
  expect(told).toEqual([[], ['a'], ['b', 'c', 'd']]);
  feed.changed('e');
  await pass(EVERY_MS);
  expect(told.slice(3)).toEqual([['e']]);
  await pass(10 * EVERY_MS);
  expect(told).toHaveLength(4);
});

test('after a quiet time a change is told at once', async () => {
  // Bug: each change waits a whole interval, also when nothing was told for long.
  const feed = new Feed<string>(EVERY_MS);
  const { told } = reading(feed.watch((ids) => ids));
  await pass(0);
  feed.changed('a');
  await pass(3 * EVERY_MS);
  feed.changed('b');
  await pass(0);
  expect(told).toEqual([[], ['a'], ['b']]);
});

test('of changes with the same key the last is told', async () => {
  // Bug: a slow watcher is told an old state last, or costs an entry for each change.
  const feed = new Feed<Change>(EVERY_MS, ({ of }) => of);
  const ticks = feed.watch((changes) => changes);
  await ticks.next();
  for (let n = 1; n <= 1000; n++) feed.changed({ of: n % 2 === 0 ? 'even' : 'odd', n });
  expect((await ticks.next()).value).toEqual([{ of: 'odd', n: 999 }, { of: 'even', n: 1000 }]);
  await ticks.return();
});

test('an urgent change does not wait, and takes along what waits; also one that comes while the reader is busy', async () => {
  // Bug: the end of what is watched waits out an interval, or urgency is forgotten because nobody was waiting at that moment.
  const feed = new Feed<Change>(EVERY_MS, ({ n }) => n);
  const ticks = feed.watch(numbers, { urgent: ({ of }) => of === 'state' });
  await ticks.next();
  feed.changed({ of: 'progress', n: 0 });
  await ticks.next();
  feed.changed({ of: 'progress', n: 1 });
  const third = ticks.next();
  await pass(0);
  feed.changed({ of: 'state', n: 2 });
  expect((await third).value).toEqual([1, 2]);
  feed.changed({ of: 'state', n: 3 });
  feed.changed({ of: 'progress', n: 4 });
  expect((await ticks.next()).value).toEqual([3, 4]);
  const { told } = reading(ticks);
  feed.changed({ of: 'progress', n: 5 });
  await pass(EVERY_MS - 1);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toEqual([[5]]);
});

test('a watcher hears of what concerns it, and ends with that', async () => {
  // Bug: who watches one chat is told of every other, or loses the stream when another is deleted.
  const feed = new Feed<Change>(EVERY_MS, ({ n }) => n);
  const a = reading(feed.watch(numbers, { concerns: ({ of }) => of === 'a' }));
  const b = reading(feed.watch(numbers, { concerns: ({ of }) => of === 'b' }));
  await pass(0);
  feed.changed({ of: 'a', n: 1 });
  await pass(0);
  expect([a.told, b.told]).toEqual([[[], [1]], [[]]]);
  feed.ended({ of: 'a', n: 0 });
  await pass(0);
  expect([a.state(), b.state()]).toEqual(['ended', 'reading']);
  expect([feed.watched({ of: 'a', n: 0 }), feed.watched({ of: 'b', n: 0 })]).toEqual([false, true]);
});

test.each([
  ['in a quiet time', EVERY_MS],
  ['within the interval', 0],
])('a signal ends it %s, at once and without a trace', async (_, waited) => {
  // Bug: a page that was closed keeps its watcher, a timer or a listener in the engine for ever.
  const feed = new Feed<string>(EVERY_MS);
  const abort = new AbortController();
  const off = vi.spyOn(abort.signal, 'removeEventListener');
  const { told, state } = reading(feed.watch((ids) => ids, { signal: abort.signal }));
  await pass(0);
  feed.changed('a');
  await pass(waited);
  feed.changed('b');
  abort.abort();
  feed.changed('c');
  await pass(0);
  expect(state()).toBe('ended');
  expect(told).toEqual([[], ['a']]);
  expect([feed.watched('a'), vi.getTimerCount()]).toEqual([false, 0]);
  expect(off).toHaveBeenCalledOnce();
});

test('with a signal that was aborted before, nothing is read', async () => {
  // Bug: a listener for an abort that has been waits for ever.
  const feed = new Feed<string>(EVERY_MS);
  const { told, state } = reading(feed.watch((ids) => ids, { signal: AbortSignal.abort() }));
  await pass(0);
  expect([told, state(), feed.watched('a')]).toEqual([[], 'ended', false]);
});

test('a reader that leaves, and a reading that fails, leave nothing behind', async () => {
  // Bug: only an abort cleans up.
  const feed = new Feed<string>(EVERY_MS);
  const left = feed.watch((ids) => ids);
  await left.next();
  expect(feed.watched('a')).toBe(true);
  await left.return();
  expect(feed.watched('a')).toBe(false);
  const { state } = reading(feed.watch(() => Promise.reject(new Error('gone'))));
  await pass(0);
  expect([state(), feed.watched('a'), vi.getTimerCount()]).toEqual(['failed', false, 0]);
});

test('what changes while it is being read is told after it', async () => {
  // Bug: the last change falls between two readings, and the page shows the state before it for ever.
  const feed = new Feed<string>(EVERY_MS);
  const first = Promise.withResolvers<void>();
  let readings = 0;
  const { told } = reading(
    feed.watch(async (ids) => {
      readings++;
      if (readings === 1) await first.promise;
      return ids;
    }),
  );
  feed.changed('a');
  first.resolve();
  await pass(EVERY_MS);
  expect(told).toEqual([[], ['a']]);
});

test('it listens before it reads, and to the end', async () => {
  // Bug: a change between the first reading and the listening is lost, or the source goes on telling nobody.
  const log: string[] = [];
  let change = (): void => undefined;
  const join = (tell: () => void): (() => void) => {
    change = tell;
    log.push('join');
    return () => log.push('leave');
  };
  const read = (): number => {
    log.push('read');
    if (log.length === 2) change();
    return log.length;
  };
  const abort = new AbortController();
  const { told } = reading(throttled(EVERY_MS, join, read, abort.signal));
  await pass(EVERY_MS);
  abort.abort();
  await pass(0);
  expect(log).toEqual(['join', 'read', 'read', 'leave']);
  expect(told).toEqual([2, 3]);
});
