import { expect, test } from 'vitest';
import type { Task } from './contract/tasks.ts';
import { TaskNews } from './task-news.ts';

const task = (id: string, state: Task['state'], endedAt: number | null): Task => ({ id, state, endedAt }) as Task;
const ids = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

// Bug: every start of the app tells of tasks of last week, a task that goes on and ends again is told once, or stopping one is news.
test('ends after the first list are told once each, stops are not', () => {
  const news = new TaskNews();
  expect(news.of([task('old', 'completed', 1), task('a', 'running', null)])).toEqual([]);
  expect(ids(news.of([task('old', 'completed', 1), task('a', 'failed', 5), task('quick', 'completed', 6)]))).toEqual(['a', 'quick']);
  expect(news.of([task('a', 'failed', 5), task('b', 'interrupted', 7)])).toEqual([]);
  expect(ids(news.of([task('a', 'completed', 9)]))).toEqual(['a']);
});
