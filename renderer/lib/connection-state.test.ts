import { expect, test } from 'vitest';
import {
  INITIAL_CONNECTION,
  MAX_ATTEMPTS,
  nextConnection,
  retryDelayMs,
  type ConnectionEvent,
  type ConnectionState,
} from './connection-state.ts';

function run(events: readonly ConnectionEvent[], from: ConnectionState = INITIAL_CONNECTION): ConnectionState {
  return events.reduce((state, event) => nextConnection(state, event, 1_000), from);
}

const closed: ConnectionEvent = { type: 'closed', message: null };
const opened: ConnectionEvent = { type: 'opened' };

// Bug: the page says "engine lost" in the first second of its life.
test('is connecting, not lost, until it was up once', () => {
  expect(run([closed, closed]).phase).toBe('connecting');
  expect(run([opened, closed]).phase).toBe('lost');
});

test('plans each attempt later than the one before, up to a limit', () => {
  expect([1, 2, 3, 4, 5, 6, 40].map(retryDelayMs)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(run([opened, closed])).toMatchObject({ attempt: 1, retryAt: 1_250 });
  expect(run([opened, closed, { type: 'retry' }, closed])).toMatchObject({ attempt: 2, retryAt: 1_500 });
});

// Bug: streams are not opened again because nothing tells that the line is a new one.
test('every opening is a new generation and clears the count', () => {
  expect(run([opened, closed, opened])).toEqual({ phase: 'up', attempt: 0, retryAt: null, message: null, generation: 2 });
});

// Bug: a page left open over night keeps hammering, or a late "closed" undoes the giving up.
test('gives up after the last attempt, and stays so until a person retries', () => {
  const gone = run([opened, ...Array.from({ length: MAX_ATTEMPTS + 1 }, () => closed)]);
  expect(gone).toMatchObject({ phase: 'gave-up', retryAt: null });
  expect(run([closed], gone)).toBe(gone);
  expect(run([{ type: 'retry' }], gone)).toMatchObject({ phase: 'lost', attempt: 0 });
});

test('keeps what the host said until the line is back', () => {
  const lost = run([opened, { type: 'closed', message: 'The engine crashed.' }, closed]);
  expect(lost.message).toBe('The engine crashed.');
  expect(run([opened], lost).message).toBeNull();
});

// Bug: a retry pressed while the line is up tears it down.
test('a retry while up changes nothing', () => {
  const up = run([opened]);
  expect(run([{ type: 'retry' }], up)).toBe(up);
});
