import { expect, test } from 'vitest';
import { endedNotice, readNotice } from './notice.ts';
import { wordsFor } from './strings.ts';

// Bug: a page that was taken over opens any place of the app by a notification, or fills the screen with text.
test('a notice leads to a chat only, and its texts are cut', () => {
  expect(readNotice({ title: 'a', body: 'b', place: '/chat/1-a' })).toEqual({ title: 'a', body: 'b', place: '/chat/1-a' });
  for (const place of ['/settings', '/chat/../x', 'https://example.org', '/chat/', 7]) expect(readNotice({ title: 'a', body: 'b', place })).toBeNull();
  expect(readNotice({ title: 'x'.repeat(1000), body: 'y'.repeat(1000), place: '/chat/1' })?.title).toHaveLength(100);
  for (const data of [null, 'x', {}, { title: 1, body: 'b', place: '/chat/1' }]) expect(readNotice(data)).toBeNull();
});

// Bug: a task that failed is told as done, or its title of a thousand characters fills the screen.
test('a task that ended is told by its title, with how it ended', () => {
  const task = { id: 'a-1', title: 't'.repeat(1000), state: 'failed', error: 'The key was refused.' } as const;
  expect(endedNotice(task, wordsFor('en'))).toEqual({ title: 't'.repeat(100), body: 'The key was refused.', place: '/chat/a-1' });
  expect(endedNotice({ ...task, title: '', state: 'completed', error: null }, wordsFor('zh-CN'))).toEqual({ title: '后台任务', body: '任务已完成。', place: '/chat/a-1' });
});
