import { expect, test } from 'vitest';
import { Place } from './place.ts';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

test('first come, first served, by session; one that leaves the queue does not take a place along', async () => {
  // Bug: a stopped child that was waiting takes a place for ever, or a crowded session holds up another.
  let limit = 1;
  const slots = new Slots(() => limit);
  const order: string[] = [];
  const first = await slots.take('a', never);
  const leaving = new AbortController();
  const left = slots.take('a', leaving.signal).then(() => order.push('left'), () => order.push('gone'));
  const second = slots.take('a', never).then((slot) => (order.push('second'), slot));
  const third = slots.take('a', never).then((slot) => (order.push('third'), slot));
  await slots.take('b', never);
  leaving.abort();
  await left;
  first.release();
  first.release();
  const held = await second;
  expect(order).toEqual(['gone', 'second']);
  // a setting that is changed holds from then on
  limit = 2;
  held.release();
  await third;
  await slots.take('a', never);
  await expect(slots.take('a', AbortSignal.abort())).rejects.toThrow();
});

test('a place is given up while children of its own are waited for, once for several calls, and taken again behind', async () => {
  // Bug: a child that waits for its child holds the only place; or it goes on beside others without one.
  const slots = new Slots(() => 1);
  const place = new Place(slots, 'a', never);
  await place.take();
  const work = async (): Promise<void> => (await slots.take('a', never)).release();
  await Promise.all([place.away(work), place.away(work)]);
  let free = false;
  const next = slots.take('a', never).then(() => (free = true));
  await Promise.resolve();
  expect(free).toBe(false);
  place.release();
  await next;
});
