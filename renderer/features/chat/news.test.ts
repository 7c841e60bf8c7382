import { expect, test } from 'vitest';
import { newsOf } from './news.ts';

const idle = { state: 'idle', exitReason: 'completed', error: null } as const;
const running = { ...idle, state: 'running', exitReason: null } as const;
const asking = { ...running, state: 'asking' } as const;

// Bug: every title, draft or pin of an idle chat says that it has ended.
test('only an end or a question is news', () => {
  expect(newsOf(idle, idle)).toBeNull();
  expect(newsOf(undefined, idle)).toBeNull();
  expect(newsOf(idle, running)).toBeNull();
  expect(newsOf(running, idle)).toBe('ended');
  expect(newsOf(running, { ...idle, exitReason: 'provider_error' })).toBe('failed');
  expect(newsOf(running, asking)).toBe('asks');
  expect(newsOf(undefined, asking)).toBe('asks');
});

// Bug: a question is told again with each change, or the person is told of the own stop.
test('nothing is told twice, and not what the person did', () => {
  expect(newsOf(asking, asking)).toBeNull();
  expect(newsOf(asking, running)).toBeNull();
  expect(newsOf(running, { ...idle, exitReason: 'interrupted' })).toBeNull();
});
